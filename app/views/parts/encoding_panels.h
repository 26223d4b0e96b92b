#pragma once
#include <array>
#include <string>
#include <vector>

#include "app/views/content.h"
#include "viz/charts/heatmap.h"

// The model's position embeddings next to sinusoids.
namespace headscope::app {

/// The two encodings compared: Region::id.
enum Encoding { kLearned, kSinusoidal };
inline constexpr const char* kSinusoidalNote = "Vaswani et al. 2017; not GPT-2's";
/// "PE(p, 2i) = sin(p / 10000^(2i/768)), PE(p, 2i+1) = cos(…)", for a model's dimensions.
std::string sinusoid_formula(int d_model);
/// "position 3 “·was”"; beyond the prompt without a token.
std::string position_words(const ViewContext& context, int position);
/// For View::refuse: why a list has a number beyond the `count` of what ("dimension"); empty: it has none.
std::string refuse_numbers(const ViewContext& context, const Option<std::vector<int>>& option,
                           const std::string& what, int count);
/// The name of an encoding over its pictures, with what is said of it.
BoxPtr encoding_heading(Encoding encoding, std::string note);

/// Roles of regions: the map, with cells (row, position), and the curves, with cells (0, position).
enum EncodingRole { kEncodingMap, kEncodingCurves };

/// Both encodings, with a column for each position.
struct EncodingMaps {
  std::array<std::string, 2> notes;
  std::array<viz::HeatmapCells, 2> cells;
  std::string row_title;     ///< "dimension"
  std::string value_title;   ///< what curves and colours show
  std::string curves_title;  ///< "value of dim."
  std::vector<int> curves;   ///< rows that are drawn as curves
  double low = 0, high = 0;  ///< limits of the curves; equal: symmetric about 0, as far as they go
  Zoom zoom;                 ///< of the maps
  int length = 0;            ///< positions of the prompt, whose end is marked; 0: no prompt
};
/// One of them: curves of some rows over a map of all. The maps have to live as long.
BoxPtr encoding_panel(Encoding encoding, const EncodingMaps& maps);

}  // namespace headscope::app
