#pragma once
#include "app/run/analyses/heads.h"
#include "app/run/analyses/patterns.h"
#include "app/views/option.h"
#include "app/views/view.h"
#include "viz/charts/heatmap.h"
#include "viz/scene/matrix.h"
#include "viz/scene/scale.h"

// The colours of attention weights, shared by all views that show them: common options and the scales they
// select.
namespace headscope::app {

enum class ValueScale { linear, logarithmic, per_row };

extern const Option<ValueScale> kValueScale;
/// The weight that gets the full colour; for per_row, as a fraction of the row's largest. 0: the largest
/// weight.
extern const Option<double> kValueMax;
/// The scale ignores key 0, whose cells are drawn as out of range.
extern const Option<bool> kWithoutKey0;

/// The scale for weights in `range` with these options, up to `automatic` if no maximum is set; for per_row,
/// of fractions of the row's largest. Marks its upper end if there are larger weights.
viz::ColorScale weight_scale(const viz::ValueRange& range, float automatic, const Options& options);

/// The range of the weights of all heads, or of their differences, as far as these are known.
viz::ValueRange range_of_heads(const Thumbnails& thumbnails, const Options& options);
/// The same on the difference side, where all views have one scale for all heads: the same difference has the
/// same colour everywhere. Empty on other sides, and on paper, where a head has a scale of its own: nobody
/// sees it beside the others, and all of a weak head's would be white.
viz::ValueRange range_of_differences(const ViewContext& context);

/// The scale for signed differences, by magnitude, up to kValueMax if it is set.
viz::ColorScale difference_scale(const viz::ValueRange& range, const Options& options);

/// The colours of a pattern with these options. `row_factors` owns what the cells refer to.
struct PatternScale {
  viz::ColorScale scale;
  std::vector<float> row_factors;
  int outside_column = -1;
  std::string title;
};
/// The colours of weights or, on the difference side, of differences. `quantity`: what a cell shows.
/// `causal`: whether cells above the diagonal are masked; other masked cells are 0. The first queries of a
/// causal pattern see so few keys that their weights must be large (query 0's is 1): they do not set the
/// maximum. `others`: values that the scale of differences includes, too.
PatternScale pattern_scale(const ViewContext& context, const viz::Matrix& weights, std::string_view quantity,
                           bool causal, const viz::ValueRange& others = {});
/// Colours a map's cells; the scale must live as long as the map.
void color_weights(viz::Heatmap& map, const PatternScale& scale);

/// Hatches masked cells; `masked` must live as long as the cells.
void hatch_masked(viz::HeatmapCells& cells, const MaskedCells& masked);

}  // namespace headscope::app
