#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/views/parts/matrix_zoom.h"
#include "viz/charts/heatmap.h"

// Two positional encodings side by side, shared by the views that compare them.
namespace headscope::app {

/// Roles of a panel's regions: the map, with cells (row, position), and the curves, with cells (0, position).
enum EncodingRole { kEncodingMap, kEncodingCurves };

/// The two encodings compared: `id` of panels, Region::id.
enum Encoding { kLearned, kSinusoidal };
inline constexpr const char* kLearnedTitle = "Learned by this model";
/// "wpe.weight"; of the bundled model also what its training began with, since its waves are not all learned.
std::string learned_note(const ViewContext& context);
inline constexpr const char* kSinusoidalTitle = "Sinusoidal encoding (Vaswani et al. 2017)";
inline constexpr const char* kSinusoidalNote = "for comparison: not GPT-2's";

/// One encoding: curves of some rows over a map of all.
struct EncodingPanel {
  int id = 0;  ///< id of the regions
  std::string title;
  std::string note;
  viz::Matrix values;  ///< a column for each position
  viz::ColorScale scale;
  std::string formula;  ///< under the note, if it fits on one line
};

/// Properties shared by all panels of a picture.
struct EncodingLook {
  std::string row_title;     ///< "dimension"
  std::string curves_title;  ///< heading of the curves' names, "dim."
  std::vector<int> curves;   ///< rows that are drawn as curves
  double low = 0,
         high = 0;  ///< limits of the curves; equal: symmetric about 0, as far as the panel's curves go
  Zoom zoom;        ///< zoom of the maps; empty: everything
  /// How cells of the maps are combined below a pixel. Neighbours have different signs.
  viz::Pooling pooling = viz::Pooling::mean;
  bool square = false;                ///< whether the maps are square: rows and columns are the same things
  std::string value_title = "value";  ///< what curves and colours show
};

/// "PE(p, 2i) = sin(p / 10000^(2i/768)), PE(p, 2i+1) = cos(…)", for a model's dimensions.
std::string sinusoid_formula(int d_model);

/// Draws panels side by side, or in a tall area one above the other, with their plots aligned. False: there
/// is no room.
[[nodiscard]] bool paint_encodings(Picture& picture, const ViewContext& context,
                                   const std::vector<EncodingPanel>& panels, const EncodingLook& look,
                                   viz::Rect area);

/// Marks the position under the mouse in all regions, and its row in the maps.
viz::Scene encoding_cross(const ViewContext& context, const Picture& picture, const viz::Hit& hit);

/// Adds a map cell's values in both encodings.
void add_both(Facts& facts, float learned, float sinusoidal);
/// "position 3 “·was”"; beyond the prompt without a token.
std::string position_words(const ViewContext& context, int position);

/// For View::refuse: why a list of dimensions or positions (`what`) cannot be shown by a model with `count`
/// of them; empty: it can.
std::string refuse_numbers(const ViewContext& context, const Option<std::vector<int>>& option,
                           const std::string& what, int count);

/// A view of encodings with a column for each position of the model: what its gestures and commands need.
struct EncodingView {
  const Option<std::vector<int>>& curves;  ///< rows that are drawn as curves
  const Option<Zoom>& zoom;                ///< zoom of the maps
  const char* row;                         ///< what a row is: "dimension"
  const char* whole;                       ///< the menu line that shows all of the maps
  int (*rows)(const ViewContext&);
  /// The rows drawn as curves: the chosen ones that exist, or some by default.
  std::vector<int> (*shown)(const ViewContext&);
  /// Selects other curves: the next ones, or with -1 the previous ones.
  ViewActions (*step)(const ViewContext&, int by);
};
/// The shown part of the maps.
Zoom shown_part(const EncodingView& view, const ViewContext& context);
/// The menu lines at a row of a map: toggling its curve, unless it is the last one, and showing the whole
/// maps; row -1: the latter only.
std::vector<MenuLine> encoding_menu(const EncodingView& view, const ViewContext& context, int row);

/// Gives a view of encodings its options, gestures and menu, and after `commands` those of the zoom;
/// `help_whole` is the help of the last one. `note`: what is drawn, for its caption.
void add_encodings(View& view, const EncodingView& encodings, std::vector<KeyCommand> commands,
                   std::string_view help_whole, std::string note);

}  // namespace headscope::app
