#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/run/analyses/patterns.h"
#include "app/views/option.h"
#include "app/views/view.h"
#include "viz/charts/heatmap.h"
#include "viz/scene/matrix.h"
#include "viz/scene/scale.h"

// How attention weights become colours, in all views that colour them: options that they share, and what
// follows from them.
namespace headscope::app {

enum class ValueScale { linear, logarithmic, per_row };

extern const Option<ValueScale> kValueScale;
/// The weight that gets the full colour; of per_row, as a part of the row's largest. 0: the largest there is.
extern const Option<double> kValueMax;
/// The scale ignores key 0, whose cells are drawn as out of range.
extern const Option<bool> kWithoutKey0;

/// The scale of weights that lie in `range`, as the options say; of parts of a row's largest where they say
/// per_row.
viz::ColorScale weight_scale(const viz::ValueRange& range, const Options& options);

/// The scale of signed differences, by magnitude, up to kValueMax where it is chosen.
viz::ColorScale difference_scale(const viz::ValueRange& range, const Options& options);

/// How a pattern is coloured, as the options say. `row_factors` keeps what the cells refer to.
struct PatternScale {
  viz::ColorScale scale;
  std::vector<float> row_factors;
  int outside_column = -1;
  std::string title;
};
/// The colours of weights or, on the difference side, of differences. `quantity`: what a cell is. `causal`:
/// whether cells above the diagonal are masked; other masked cells are 0.
PatternScale pattern_scale(const ViewContext& context, const viz::Matrix& weights, std::string_view quantity,
                           bool causal);
/// Colours a map's cells; the scale has to live as long as the map.
void color_weights(viz::Heatmap& map, const PatternScale& scale);

/// Hatches what is masked; `masked` has to live as long as the cells.
void hatch_masked(viz::HeatmapCells& cells, const MaskedCells& masked);

}  // namespace headscope::app
