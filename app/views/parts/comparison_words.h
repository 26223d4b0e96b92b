#pragma once
#include <algorithm>

#include "app/run/question.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/selected.h"
#include "app/views/view.h"
#include "viz/scene/scale.h"

// Comparisons of two runs: words, and scales of differences.
namespace headscope::app {

/// What the run is compared with, by the first thing that differs: "second prompt", "second model".
std::string second_name(const PromptRun& run);
/// The same, if both prompt and model differ: "second prompt in the second model".
std::string second_words(const PromptRun& run);
/// "no counterpart in the second prompt".
std::string no_counterpart_words(const ViewContext& context);
/// "edited − unedited", "first − second prompt".
std::string subtraction_words(const ViewContext& context);
/// The same for a view, with the counterpart of its query and what other tokens are compared with: "first −
/// second prompt; matched with 11 “·old”; 2 tokens differ; 4 without counterpart".
std::string difference_words(const ViewContext& context, const View& view);
/// Whether some positions are compared with others than the same ones.
bool matches_other_positions(const PromptRun& run);
/// "in the second prompt 8 “·boy”", "no counterpart in the first prompt": of two inputs, what a token of the
/// shown one is compared with if that is not the same token. Nothing if it is.
std::optional<std::string> other_token_words(const ViewContext& context, int position);
/// Whose numbers are shown: " in the second prompt", " in the edited run"; empty without a comparison.
std::string shown_run_words(const ViewContext& context);
/// "matched with 11 “·old”", or empty.
std::string counterpart_words(const ViewContext& context, int position);
/// Prefix of names of numbers on the difference side: "difference in "; else empty.
const char* difference_prefix(const ViewContext& context);
/// Prefix of CSV columns on the difference side: "difference of "; else empty.
std::string difference_column_prefix(const ViewContext& context);

/// What rounding in float32 may leave of weights, probabilities and logits that are equal: scales of
/// differences reach at least so far, lest it be drawn as if it were a difference.
inline constexpr double kRounding = 1e-5;

/// A scale of differences that reaches beyond rounding.
inline viz::ColorScale beyond_rounding(const viz::ColorScale& scale) {
  return scale.high < kRounding ? viz::diverging_scale(kRounding) : scale;
}
/// The scale of differences up to a magnitude.
inline viz::ColorScale scale_of_differences(double magnitude) {
  return viz::diverging_scale(magnitude > 0 ? std::max(magnitude, kRounding) : 0);
}

/// Whether all differences are 0.
inline bool are_zero(const std::vector<std::span<const float>>& vectors) {
  return std::ranges::all_of(vectors, [](std::span<const float> vector) {
    return !vector.empty() && std::ranges::all_of(vector, [](float v) { return v == 0; });
  });
}

/// A short difference_prefix: "Δ ".
inline const char* delta(const ViewContext& c) {
  return c.side == Side::difference ? "Δ " : "";
}

}  // namespace headscope::app
