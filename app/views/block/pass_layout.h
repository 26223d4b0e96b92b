#pragma once
#include <utility>

#include "app/run/analyses/token_pass.h"
#include "app/views/view.h"
#include "viz/charts/number_axis.h"
#include "viz/scene/scale.h"

// Contents and layout of the picture of a token's forward pass: one block in full, the others as two boxes,
// and charts of all of them.
namespace headscope::app::pass_picture {

/// Roles of regions. step: id: a Step. strip: id and row: a Step, col: dimension. chart: id: a Chart, col:
/// see column_of.
enum Role { kStep, kStrip, kChart };
/// In the order of the pass; kBefore and kAfter stand for all blocks before and after the one shown in full.
enum Step {
  kEmbedding,
  kBefore,
  kLn1,
  kAttention,
  kAddAttention,
  kLn2,
  kMlp,
  kAddMlp,
  kAfter,
  kLnF,
  kUnembedding
};
enum Chart { kNorms, kAdded, kCosines };
constexpr int kCharts = 3;

bool is_normalized(int step);

viz::Color attention_color(const ViewContext& context);
viz::Color mlp_color(const ViewContext& context);

/// One line of the drawing.
struct Line {
  Step step = kEmbedding;
  std::string name;    ///< in its box
  std::string vector;  ///< its output: "attn_out"
  std::string shape;
  std::span<const float> values;  ///< values of the chosen token; empty: pending, or none
  bool edited = false;            ///< an edit acts on it at the chosen token
};

struct Numbers {
  std::vector<Line> lines;
  viz::ColorScale stream, normalized;
};

/// The numbers of a pass with at least one block; values point into it.
Numbers numbers_of(const ViewContext& context, const TokenPass& pass);
/// The line of a step; null: none.
const Line* line_of(const Numbers& numbers, int step);
/// The step whose output enters the shown block.
Step input_of(const Numbers& numbers);

/// A column of a chart. Columns are pairs: one for the embedding, of which only the second is used, then the
/// attention and the MLP of each layer.
int column_of(int layer, bool mlp);

/// Upright bars side by side in pairs, on an upright axis.
struct ColumnChart {
  std::vector<float> values;        ///< of each column; NaN: no bar
  std::vector<viz::Color> colors;   ///< of each column
  double low = 0, high = 1;         ///< limits of the axis
  double base = 0;                  ///< where the bars start
  std::vector<std::string> titles;  ///< above the bars: the first that fits, longest first

  viz::NumberAxis axis(float height, const viz::Style& style) const;
};
ColumnChart chart_of(const ViewContext& context, const TokenPass& pass, Chart which);
/// Room above the bars for the title.
float chart_title_height(const viz::Style& style);

struct StepPlace {
  viz::Rect row;    ///< the whole line
  viz::Rect box;    ///< for an addition: around its circle
  viz::Rect strip;  ///< w is 0: no room
};

struct Layout {
  std::vector<StepPlace> places;  ///< places of the lines
  float stream = 0;               ///< x
  float vector = 0, shape = 0;    ///< x of these labels; 0: no room
  float norm = 0;                 ///< right end of the norms; 0: no room
  float heading = 0;              ///< middle of the headings; 0: no room
  float legend = 0;               ///< middle of the line; 0: no room
  viz::Rect drawing;
  std::vector<std::pair<Chart, viz::Rect>> plots;  ///< from above
};

/// The drawing with the charts to its right, or below it if the area is narrow. Nothing if not even the
/// drawing fits.
Layout lay_out(const ViewContext& context, const Numbers& numbers, const TokenPass& pass, viz::Rect area);

/// An edge from one step to the next, as drawn; the last point has an arrow head.
struct Edge {
  Step from, to;
  std::vector<viz::Point> points;
};

std::vector<Edge> edges_of(const Numbers& numbers, const Layout& layout, const viz::Style& style);

}  // namespace headscope::app::pass_picture
