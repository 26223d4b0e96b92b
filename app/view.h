#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/data.h"
#include "viz/picture.h"
#include "viz/region.h"
#include "viz/scene.h"
#include "viz/text.h"
#include "viz/theme.h"

namespace headscope::app {

/// What the user looks at. Always within the run: see `clamped`.
struct Selection {
  int layer = 0;
  int head = 0;
  int query = -1;  ///< position; -1: the last one
  bool operator==(const Selection&) const = default;
};

enum class ValueScale { linear, logarithmic, per_row };

/// A part of a matrix, in cells; rows == 0: all of it.
struct Zoom {
  double row = 0;
  double col = 0;
  double rows = 0;
  double cols = 0;
  bool operator==(const Zoom&) const = default;
};

/// What all views can be told; each takes the options that its row in the table lists.
struct ViewOptions {
  ValueScale scale = ValueScale::linear;
  bool without_key0 = false;  ///< the scale ignores key 0, whose cells are drawn as out of range
  /// The weight that gets the full colour; of per_row, as a part of the row's largest. 0: the largest there
  /// is.
  double value_max = 0;
  Zoom zoom;                     ///< heatmap and scores
  Zoom encoding_zoom;            ///< positions: rows are dimensions, columns positions
  std::vector<int> dimensions;   ///< positions: the curves; empty: readable_dimensions
  int next_count = 10;           ///< next: bars
  double temperature = 1;        ///< next
  int query_first = 0;           ///< query: first row of the table that is shown
  bool strongest_first = false;  ///< query: keys by falling weight, not by position
  double heads_zoom = 1;         ///< heads: size of a small map, times what fits
  double heads_scroll = 0;       ///< heads: in rows of layers
  double heads_scroll_x = 0;     ///< heads: in columns of heads
  int chips_scroll = 0;          ///< tokens: first line that is shown
  bool operator==(const ViewOptions&) const = default;
};

/// What a region's cells mean.
enum class Role : int {
  cell,        ///< row: query, col: key; Region::id: the stage (0 scores .. 3 pattern)
  head,        ///< Region::id: layer * n_head + head; row: query, col: key of its thumbnail's cells
  token,       ///< a chip: Region::id: position
  key,         ///< query view: Region::id: key position
  component,   ///< query view, over its key's region: Region::id: key position; row: a Vector; col: component
  next_token,  ///< a bar: Region::id: token id
  position,    ///< positions view: row: dimension, col: position; Region::id: 0 learned, 1 sinusoidal
  curve,       ///< positions view: col: position; Region::id as above
};

using Picture = viz::Picture;

/// Rows of Role::component.
enum class Vector : int { query, key, value, weighted_value, z };

/// All that a picture is made of. Pointers may be null while the worker is at it: the view then says so in
/// words.
struct ViewContext {
  const PromptRun* run = nullptr;
  const HeadData* head = nullptr;
  const Thumbnails* thumbnails = nullptr;
  const Statistics* statistics = nullptr;
  const NextToken* next = nullptr;
  Selection selection;  ///< already clamped
  ViewOptions options;
  const viz::Theme* theme = nullptr;
  const viz::Fonts* fonts = nullptr;
  float width = 800;  ///< logical pixels
  float height = 600;
  float font_size = 14;
  float device_scale = 1;  ///< device pixels for a logical one: images are pooled to what can be seen
  bool in_pane = false;  ///< a pane of the window says what it is: no title and legend where these cost room
};

/// What the mouse adds to a picture: a small scene over it, and words for a tooltip and the status line.
struct Hover {
  viz::Scene overlay;
  std::vector<std::string> lines;  ///< tooltip; empty: none
  viz::Scene card;                 ///< a picture for the tooltip, under its lines; width 0: none
  std::string status;
};

/// Numbers of a view, for CSV and the clipboard.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};
std::string to_csv(const Table& table);  ///< RFC 4180
std::string to_tsv(const Table& table);  ///< tabs and newlines inside cells as spaces

/// What a view wants of the worker.
struct Needs {
  bool head = false;    ///< the shown head's pattern
  bool stages = false;  ///< and the stages that led to it
  bool thumbnails = false;
  bool statistics = false;
  bool next = false;
};

/// An option as the command line and the menus know it.
struct OptionSpec {
  std::string_view name;    ///< without dashes, e.g. "value-scale"
  std::string_view values;  ///< for help, e.g. "linear|log|row", "N"
  std::string_view help;
  /// Sets it from text; throws std::invalid_argument with one sentence.
  void (*apply)(ViewOptions& options, std::string_view text);
};

/// One row of the table of views.
struct View {
  std::string_view id;     ///< "heatmap"
  std::string_view title;  ///< "Heatmap"
  std::string_view help;   ///< one line
  Needs needs;
  bool pane = true;  ///< whether it has a tab in the middle of the window
  std::vector<OptionSpec> options;
  Picture (*build)(const ViewContext&) = nullptr;
  Hover (*hover)(const ViewContext&, const Picture&, const viz::Hit&) = nullptr;
  Table (*table)(const ViewContext&) = nullptr;
  /// The height at which nothing has to scroll at the context's width; null: the view fits any height.
  float (*whole_height)(const ViewContext&) = nullptr;
  struct {
    bool prompt = true;
    bool head = false;
    bool query = false;
  } caption;  ///< what its caption names beside the model
};

/// heatmap, scores, query, positions (panes), heads, tokens, next.
std::span<const View> views();
const View* find_view(std::string_view id);

/// The selection moved inside the run: layer, head and query within their ranges, query -1 resolved to the
/// last position.
Selection clamped(Selection selection, const PromptRun& run);

/// The dimensions that the positions view draws as curves: the chosen ones that the model has.
std::vector<int> shown_dimensions(const ViewOptions& options, const LoadedModel& model);

/// The size of a figure of all heads in which each small map can be read.
viz::Point heads_figure_size(const model::Config& config, float font_size);

/// How the tokens view lays out its chips at the context's width: for scrolling to the query.
struct ChipLines {
  int count = 0;     ///< lines there are
  int shown = 0;     ///< lines that the context's height has room for
  int of_query = 0;  ///< the line of the chosen query's chip
};
ChipLines chip_lines(const ViewContext& context);

/// "tales · “A robot must …” · L5 H1 · query 8 “ it”": the line under an exported picture.
std::string caption(const View& view, const ViewContext& context);
/// The picture with its caption under it, as files show it: at least as wide as the caption needs, or
/// wrapped.
viz::Scene with_caption(const Picture& picture, const std::string& caption, const ViewContext& context);

}  // namespace headscope::app
