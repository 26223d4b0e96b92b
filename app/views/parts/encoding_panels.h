#pragma once
#include <string>
#include <vector>

#include "app/views/view.h"
#include "viz/charts/heatmap.h"

// Two encodings of positions beside each other, the same in all views that compare them.
namespace headscope::app {

/// The regions of a panel: of the map the cells are (row, position), of the curves (0, position).
enum EncodingRole { kEncodingMap, kEncodingCurves };

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

/// Adds a map cell's values in both encodings, and the menu line that adds or removes its row's curve
/// (`toggled`), unless it is the last one.
void add_both(Facts& facts, float learned, float sinusoidal);
void add_curve_of(Facts& facts, const std::vector<int>& curves, int row, const std::string& name,
                  ViewActions toggled);
/// "position 3 “·was”", without a token beyond the prompt.
std::string position_words(const ViewContext& context, int position);

/// For View::refuse: why a list of dimensions or positions (`what`), of which there are `count`, cannot be
/// shown; empty where it can.
std::string refuse_numbers(const ViewContext& context, const Option<std::vector<int>>& option,
                           const std::string& what, int count);

/// Zooms maps of rows x cols about their middle: the first two keys closer, the others further.
ViewActions zoom_about_middle(const ViewContext& context, const Option<Zoom>& option, int rows, int cols,
                              int which);

/// The rows that are drawn as curves after a click on one: added, or removed unless it is the last. Not more
/// than can be told apart.
std::vector<int> with_curve_toggled(std::vector<int> curves, int row);

}  // namespace headscope::app
