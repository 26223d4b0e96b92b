#pragma once
#include <iterator>
#include <vector>

#include "app/run/analyses/patterns.h"
#include "app/run/question.h"
#include "viz/scene/matrix.h"

namespace headscope::app {

/// A head's pattern, [T, K] row-major (row: query, column: key).
struct Pattern {
  int length = 0;  ///< T: queries
  std::vector<float> values;
  MaskedCells masked;
  /// K: the number of keys. Equals `length` except for pattern files whose keys are other tokens.
  int keys() const { return length > 0 ? static_cast<int>(std::ssize(values) / length) : 0; }
  std::size_t bytes() const { return bytes_of(values, masked.cells); }
  viz::Matrix matrix() const { return viz::Matrix::row_major(values, length, keys()); }
};

struct PatternOf {
  using Answer = Pattern;
  static constexpr std::string_view kName = "attention pattern";
  static constexpr bool kQuick = true;
  static constexpr Capabilities kNeeds = Capability::patterns;
  int layer = 0;
  int head = 0;
  bool operator==(const PatternOf&) const = default;
  Pattern compute(const PromptRun& run, const Computation<Pattern>& computation) const;
  Pattern difference(const Pattern& after, const Pattern& before, const PromptRun& run) const;
};

/// After minus before: signed differences between a cell and its counterpart. Masked if both are masked, or
/// if a token has no counterpart.
Pattern pattern_difference(const Pattern& after, const Pattern& before, const PromptRun& run);

}  // namespace headscope::app
