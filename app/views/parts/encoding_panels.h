#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/views/parts/matrix_zoom.h"
#include "viz/charts/heatmap.h"

// Two encodings of positions beside each other, the same in all views that compare them.
namespace headscope::app {

/// The regions of a panel: of the map the cells are (row, position), of the curves (0, position).
enum EncodingRole { kEncodingMap, kEncodingCurves };

/// The two that are compared: `id` of panels, Region::id.
enum Encoding { kLearned, kSinusoidal };
inline constexpr const char* kLearnedTitle = "Learned by this model";
inline constexpr const char* kSinusoidalTitle = "Sinusoidal encoding (Vaswani et al. 2017)";
inline constexpr const char* kSinusoidalNote = "for comparison: not GPT-2's";

/// One encoding: curves of some rows over a map of all.
struct EncodingPanel {
  int id = 0;  ///< of its regions
  std::string title;
  std::string note;
  viz::Matrix values;  ///< a column for each position
  viz::ColorScale scale;
  std::string formula;  ///< under the note, where it fits into a line
};

/// What is the same in all panels of a picture.
struct EncodingLook {
  std::string row_title;     ///< "dimension"
  std::string curves_title;  ///< over the curves' names, "dim."
  std::vector<int> curves;   ///< rows that are drawn as curves
  double low = 0, high = 0;  ///< of the curves; equal: as far as the curves of a panel go to either side of 0
  Zoom zoom;                 ///< of the maps; the empty one: all
};

/// "PE(p, 2i) = sin(p / 10000^(2i/768)), PE(p, 2i+1) = cos(…)", of a model's dimensions.
std::string sinusoid_formula(int d_model);

/// Panels side by side, or where the area is high one above the other, with their plots in line. False: there
/// is no room for them.
[[nodiscard]] bool paint_encodings(Picture& picture, const ViewContext& context,
                                   const std::vector<EncodingPanel>& panels, const EncodingLook& look,
                                   viz::Rect area);

/// Marks the position under the mouse in all regions, and its row in the maps.
viz::Scene encoding_cross(const ViewContext& context, const Picture& picture, const viz::Hit& hit);

/// Adds a map cell's values in both encodings.
void add_both(Facts& facts, float learned, float sinusoidal);
/// "position 3 “·was”", without a token beyond the prompt.
std::string position_words(const ViewContext& context, int position);

/// For View::refuse: why a list of dimensions or positions (`what`), of which there are `count`, cannot be
/// shown; empty where it can.
std::string refuse_numbers(const ViewContext& context, const Option<std::vector<int>>& option,
                           const std::string& what, int count);

/// A view of encodings, a column for each position the model has: what its gestures and commands are about.
struct EncodingView {
  const Option<std::vector<int>>& curves;  ///< rows that are drawn as curves
  const Option<Zoom>& zoom;                ///< of the maps
  const char* row;                         ///< what a row is: "dimension"
  const char* whole;                       ///< the menu's line that shows all of the maps
  int (*rows)(const ViewContext&);
  /// The rows that are drawn as curves: the chosen ones that there are, or else some.
  std::vector<int> (*shown)(const ViewContext&);
  /// Other curves: the next ones, or with -1 those before.
  ViewActions (*step)(const ViewContext&, int by);
};
/// What of the maps shows.
Zoom shown_part(const EncodingView& view, const ViewContext& context);
/// The menu's lines at a row of a map: its curve, which is drawn or no longer, unless that is the last one,
/// and the whole maps; row -1: these alone.
std::vector<MenuLine> encoding_menu(const EncodingView& view, const ViewContext& context, int row);
ViewActions zoom_encodings(const EncodingView& view, const ViewContext& context, int which);
ViewActions on_encodings(const EncodingView& view, const ViewContext& context, const Picture& picture,
                         const viz::Hit* hit, const Gesture& gesture);

/// Gives a view of encodings its options, gestures, menu, and after `commands` those of the zoom;
/// `help_whole` is of the last of them.
template <const EncodingView& kEncodings>
void add_encodings(View& view, std::vector<KeyCommand> commands, std::string_view help_whole) {
  view.options = {&kEncodings.curves, &kEncodings.zoom};
  view.commands = std::move(commands);
  view.commands.push_back({"+=-", "", "Zoom the maps", [](const ViewContext& c, int which) {
                             return c.run ? zoom_encodings(kEncodings, c, which) : ViewActions{};
                           }});
  view.commands.push_back({"0", "Whole", help_whole,
                           [](const ViewContext& c, int) { return show_whole(kEncodings.zoom, c.options); }});
  view.on = [](const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
    return c.run ? on_encodings(kEncodings, c, picture, hit, gesture) : ViewActions{};
  };
  view.menu = [](const ViewContext& c) { return encoding_menu(kEncodings, c, -1); };
  view.scrolls = [](const ViewContext& c, const Picture& picture) {
    return zoom_scrolls(kEncodings.zoom, c, picture, kEncodingMap);
  };
  view.refuse = [](const ViewContext& c) {
    return refuse_numbers(c, kEncodings.curves, kEncodings.row, kEncodings.rows(c));
  };
  view.needs = Capability::weights | Capability::positions_table;
  view.caption = {.prompt = false};
}

}  // namespace headscope::app
