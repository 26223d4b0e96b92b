#include "app/views/parts/weight_colors.h"

#include <algorithm>

namespace headscope::app {

const Option<ValueScale> kValueScale{
    {.name = "value-scale",
     .label = "Colours",
     .help = "how weights become colours: linear, by decades, or each row by its largest",
     .default_value = 0,
     .choices = {{"linear", "Linear", "Colours in proportion to the weight"},
                 {"log", "Log", "Colours by the logarithm of the weight: small weights show"},
                 {"row", "Row", "Each query's largest weight gets the full colour"}},
     .keys = "sS"}};

const Option<double> kValueMax{
    {.name = "value-max",
     .label = "max",
     .help =
         "weight of the full colour (auto: the largest, of chips 1); with row, a part of the row's largest",
     .default_value = 0.0,
     .default_name = "auto",
     .low = 1e-30,  // below, a scale could not be told from one of nothing
     .high = 1e9,
     .steps = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 0},
     .keys = "Mm"}};

const Option<bool> kWithoutKey0{
    {.name = "without-key0",
     .label = "Without key 0",
     .help = "leave key 0, which most heads park their weight on, out of the scale",
     .default_value = false,
     .keys = "kK"}};

viz::ColorScale weight_scale(const viz::ValueRange& range, const Options& options) {
  const bool chosen = options[kValueMax] > 0, per_row = options[kValueScale] == ValueScale::per_row;
  const double largest = per_row ? 1 : static_cast<double>(range.high);
  const double high = chosen ? options[kValueMax] : largest;
  viz::ColorScale scale = options[kValueScale] == ValueScale::logarithmic
                              ? viz::logarithmic_scale(static_cast<double>(range.smallest_positive), high)
                              : viz::linear_scale(high);
  scale.values_above = chosen && largest > high * (1 + 1e-6);
  return scale;
}

PatternScale pattern_scale(const viz::Matrix& pattern, const Options& options, std::string_view quantity,
                           bool causal) {
  PatternScale result;
  result.title = quantity;
  // With one token there is nothing but key 0.
  if (options[kWithoutKey0] && pattern.cols > 1) result.outside_column = 0;
  const viz::ValueRange range = viz::value_range(pattern, {causal, result.outside_column});
  result.scale = weight_scale(range, options);
  if (options[kValueScale] != ValueScale::per_row) return result;
  result.title = "of row's max";
  for (int row = 0; row < pattern.rows; ++row) {
    float largest = 0;
    for (int col = 0; col < (causal ? std::min(row + 1, pattern.cols) : pattern.cols); ++col) {
      if (col != result.outside_column) largest = std::max(largest, pattern.at(row, col));
    }
    result.row_factors.push_back(largest > 0 ? 1 / largest : 1);
  }
  return result;
}

viz::ColorScale change_scale(const viz::ValueRange& range, const Options& options) {
  const bool chosen = options[kValueMax] > 0;
  const auto largest = static_cast<double>(range.magnitude());
  viz::ColorScale scale = viz::diverging_scale(chosen ? options[kValueMax] : largest);
  scale.values_above = chosen && static_cast<double>(range.high) > scale.high * (1 + 1e-6);
  scale.values_below = chosen && static_cast<double>(range.low) < scale.low * (1 + 1e-6);
  return scale;
}

PatternScale change_scale(const viz::Matrix& change, const Options& options, std::string_view quantity,
                          bool causal) {
  PatternScale result;
  result.title = quantity;
  if (options[kWithoutKey0] && change.cols > 1) result.outside_column = 0;
  result.scale = change_scale(viz::value_range(change, {causal, result.outside_column}), options);
  return result;
}

void hatch_masked(viz::HeatmapCells& cells, const MaskedCells& masked) {
  cells.masked_above_diagonal = masked.causal();
  cells.masked = masked.cells;
}

}  // namespace headscope::app
