#pragma once
#include "app/run/analyses/heads.h"
#include "app/run/analyses/patterns.h"
#include "app/views/option.h"
#include "app/views/view.h"
#include "viz/charts/heatmap.h"
#include "viz/scene/matrix.h"
#include "viz/scene/scale.h"

// The colours of attention weights in all views that show them: options, and the scales they select.
namespace headscope::app {

enum class ValueScale { linear, logarithmic, per_row };

extern const Option<ValueScale> kValueScale;
/// The weight at full colour; for per_row, a fraction of the row's largest. 0: the largest weight.
extern const Option<double> kValueMax;
/// The scale ignores key 0, whose cells are drawn as out of range.
extern const Option<bool> kWithoutKey0;

/// The scale for weights in `range` with these options; for per_row, of fractions of the row's largest. Marks
/// its upper end if there are larger weights.
viz::ColorScale weight_scale(const viz::ValueRange& range, const Options& options);

/// The range of the weights of all heads, or of their differences, as far as these are known.
viz::ValueRange range_of_heads(const Thumbnails& thumbnails, const Options& options);
/// What the scales of all heads include, so that a weight has the same colour wherever its head is drawn: 0
/// to 1; on the difference side the range of all heads. Empty with a chosen maximum, and of weights without
/// key 0.
viz::ValueRange common_range(const ViewContext& context);

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
/// `causal`: whether cells above the diagonal are masked; other masked cells are 0. `others`: values that the
/// scale includes, too.
PatternScale pattern_scale(const ViewContext& context, const viz::Matrix& weights, std::string_view quantity,
                           bool causal, const viz::ValueRange& others = {});
/// Weights in these colours, hatched where they are masked; all of it must live as long as the cells.
viz::HeatmapCells colored_cells(const viz::Matrix& weights, const PatternScale& scale,
                                const MaskedCells& masked);

}  // namespace headscope::app
