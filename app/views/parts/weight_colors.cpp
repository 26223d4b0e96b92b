#include "app/views/parts/weight_colors.h"

#include "app/views/parts/parts.h"

namespace headscope::app {

const Option<ValueScale> kValueScale = choice_option<ValueScale>(
    "value-scale", "Colours", "sS",
    "how weights map to colours: linear, logarithmic, or relative to each row's maximum",
    {{"linear", "Linear", "Colours in proportion to the weight"},
     {"log", "Log", "Colours by the logarithm of the weight, so that small weights show"},
     {"row", "Row", "Colours relative to each query's largest weight"}},
    {.advanced = true});

// Below the lower limit the scale would be indistinguishable from 0.
const Option<double> kValueMax = number_option(
    "value-max", "max", "Mm", "weight at full colour (auto: 1); with row, a fraction of the row's maximum",
    0., 1e-30, 1e9,
    {.default_name = "auto",
     .steps = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 0},
     .advanced = true});

const Option<bool> kWithoutKey0 =
    switch_option("without-key0", "Without key 0", "kK",
                  "exclude key 0, where many heads put most of their weight, from the colour scale", false,
                  {.advanced = true});

viz::ColorScale weight_scale(const viz::ValueRange& range, const Options& options) {
  const double largest = options[kValueScale] == ValueScale::per_row ? 1 : static_cast<double>(range.high);
  const double high = options[kValueMax] > 0 ? options[kValueMax] : largest;
  viz::ColorScale scale = options[kValueScale] == ValueScale::logarithmic
                              ? viz::logarithmic_scale(static_cast<double>(range.smallest_positive), high)
                              : viz::linear_scale(high);
  scale.values_above = largest > scale.high * (1 + 1e-6);
  return scale;
}

viz::ColorScale difference_scale(const viz::ValueRange& range, const Options& options) {
  const bool chosen = options[kValueMax] > 0;
  const auto largest = static_cast<double>(range.magnitude());
  viz::ColorScale scale = chosen ? viz::diverging_scale(options[kValueMax]) : scale_of_differences(largest);
  scale.values_above = chosen && static_cast<double>(range.high) > scale.high * (1 + 1e-6);
  scale.values_below = chosen && static_cast<double>(range.low) < scale.low * (1 + 1e-6);
  return scale;
}

viz::ValueRange range_of_heads(const Thumbnails& thumbnails, const Options& options) {
  viz::ValueRange all;
  for (int i = 0; i < thumbnails.done; ++i) {
    const Thumbnail& head = *thumbnails.of_head[i];
    all = viz::united(all, options[kWithoutKey0] ? head.range_without_key0 : head.range);
  }
  return all;
}

viz::ValueRange common_range(const ViewContext& c) {
  if (!c.differs()) return {0, c.options[kWithoutKey0] ? 0.F : 1.F, 0};
  const auto thumbnails = c.options[kValueMax] > 0 ? nullptr : c.ask(ThumbnailsOfHeads{});
  return thumbnails ? range_of_heads(*thumbnails, c.options) : viz::ValueRange{};
}

PatternScale pattern_scale(const ViewContext& c, const viz::Matrix& weights, std::string_view quantity,
                           bool causal, const viz::ValueRange& others) {
  const Options& options = c.options;
  PatternScale result;
  result.title = difference_prefix(c) + std::string(quantity);
  // With one token there is only key 0.
  if (options[kWithoutKey0] && weights.cols > 1) result.outside_column = 0;
  const viz::ValueRange range =
      viz::united(viz::value_range(weights, {causal, result.outside_column}), others);
  result.scale = c.differs() ? difference_scale(range, options) : weight_scale(range, options);
  if (c.differs() || options[kValueScale] != ValueScale::per_row) return result;
  result.title = "row max = 1";
  for (int row = 0; row < weights.rows; ++row) {
    float largest = 0;
    for (int col = 0; col < (causal ? std::min(row + 1, weights.cols) : weights.cols); ++col)
      if (col != result.outside_column) largest = std::max(largest, weights.at(row, col));
    result.row_factors.push_back(largest > 0 ? 1 / largest : 1);
  }
  return result;
}

viz::HeatmapCells colored_cells(const viz::Matrix& weights, const PatternScale& scale,
                                const MaskedCells& masked) {
  viz::HeatmapCells cells;
  cells.matrix = weights;
  cells.scale = scale.scale;
  cells.outside_column = scale.outside_column;
  cells.row_factors = scale.row_factors;
  cells.masked_above_diagonal = masked.causal();
  cells.masked = masked.cells;
  return cells;
}

}  // namespace headscope::app
