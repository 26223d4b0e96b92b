#pragma once
#include <algorithm>

#include "app/run/question.h"
#include "app/views/parts/comparison_words.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/selected.h"
#include "app/views/view.h"
#include "viz/scene/scale.h"

// Wording for differences in views about one position: see Question::difference.
namespace headscope::app {

/// The picture to show while the answer to a question about one position is missing; nothing if it is
/// `known`.
inline std::optional<Picture> waiting_for(const ViewContext& c, const Question& question, bool known) {
  if (c.side == Side::difference && c.run && compared_query(c) < 0) return no_counterpart(c);
  return waiting(c, question, known);
}

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

/// The end of a subtitle if nothing differs.
inline constexpr const char* kNoDifference = ": no difference";

/// The subtitle on the difference side.
inline std::string difference_subtitle(const ViewContext& c,
                                       const std::vector<std::span<const float>>& vectors) {
  const bool none = std::ranges::all_of(vectors, [](std::span<const float> vector) {
    return !vector.empty() && std::ranges::all_of(vector, [](float v) { return v == 0; });
  });
  return query_difference_words(c) + (none ? kNoDifference : "");
}

/// A short difference_prefix: "Δ ".
inline const char* delta(const ViewContext& c) {
  return c.side == Side::difference ? "Δ " : "";
}

}  // namespace headscope::app
