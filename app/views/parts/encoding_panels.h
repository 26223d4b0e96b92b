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
inline constexpr const char* kSinusoidalNote = "for comparison: not GPT-2's";
/// "PE(p, 2i) = sin(p / 10000^(2i/768)), PE(p, 2i+1) = cos(…)", for a model's dimensions.
std::string sinusoid_formula(int d_model);
/// "position 3 “·was”"; beyond the prompt without a token.
std::string position_words(const ViewContext& context, int position);
/// For View::refuse: why a list of dimensions or positions (`what`) cannot be shown by a model with `count`
/// of them; empty: it can.
std::string refuse_numbers(const ViewContext& context, const Option<std::vector<int>>& option,
                           const std::string& what, int count);
/// Draws the name of an encoding, a note, and a formula if it fits on one line. Returns their height.
float paint_encoding_head(viz::Picture& picture, int encoding, const std::string& note,
                          const std::string& formula, viz::Rect area, const viz::Style& style);

/// Roles of regions: the map, with cells (row, position), and the curves, with cells (0, position).
enum EncodingRole { kEncodingMap, kEncodingCurves };

/// Both encodings: each as curves of some rows over a map of all, with a column for each position.
class EncodingPanels final : public Box {
 public:
  struct Panel {
    std::string note, formula;
    viz::HeatmapCells cells;
  };
  std::array<Panel, 2> panels;
  std::string row_title;     ///< "dimension"
  std::string value_title;   ///< what curves and colours show
  std::string curves_title;  ///< "value of dim."
  std::vector<int> curves;   ///< rows that are drawn as curves
  double low = 0, high = 0;  ///< limits of the curves; equal: symmetric about 0, as far as they go
  viz::ShownCells zoom;      ///< of the maps
  int length = 0;            ///< positions of the prompt, whose end is marked; 0: no prompt
  bool square = false;       ///< the maps are: rows and columns are the same things

  Wish width(const ViewContext& context) const override;
  Wish height(const ViewContext& context, float width) const override;
  bool place(const ViewContext& context, viz::Rect area) override;
  void paint(Picture& picture, const ViewContext& context) const override;
  std::string note() const override { return note_; }
  /// Marks the position in all regions, and its row in the maps.
  void add_facts(Facts& facts, const ViewContext& context, const Picture& picture,
                 const viz::Hit& hit) const override;

 private:
  /// How a panel is divided, from top to bottom.
  struct Layout {
    viz::Rect area;
    float head = 0;   ///< height of the words about it
    float names = 0;  ///< height of the curves' names and the prompt's mark; 0: there are no curves
    viz::Rect curves;
    viz::Region map;
  };
  Layout layout(const ViewContext& context, viz::Rect area, int encoding) const;
  std::array<Layout, 2> arranged(const ViewContext& context, viz::Rect area, bool beside) const;

  std::array<Layout, 2> layouts_;
  std::string note_;
};

}  // namespace headscope::app
