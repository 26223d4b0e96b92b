#pragma once
#include <iterator>
#include <vector>

#include "app/run/edits/masked_cells.h"
#include "app/run/question.h"
#include "viz/scene/matrix.h"

namespace headscope::app {

/// A head's pattern, [T, K] row-major (row: query, column: key).
struct Pattern {
  int length = 0;  ///< T: queries
  std::vector<float> values;
  MaskedCells masked;
  /// K: as many as queries, but for patterns of a file whose keys are other tokens.
  int keys() const { return length > 0 ? static_cast<int>(std::ssize(values) / length) : 0; }
  std::size_t bytes() const { return values.size() * sizeof(float) + masked.cells.size(); }
  viz::Matrix matrix() const { return viz::Matrix::row_major(values, length, keys()); }
};

struct PatternOf {
  using Answer = Pattern;
  static constexpr std::string_view kWork = "attention pattern";
  static constexpr bool kQuick = true;
  static constexpr Capabilities kNeeds = Capability::patterns;
  int layer = 0;
  int head = 0;
  bool operator==(const PatternOf&) const = default;
  Pattern compute(const PromptRun& run, const Work<Pattern>& work) const;
  Pattern difference(const Pattern& after, const Pattern& before, const PromptRun& run) const;
};

enum class Stage { scores, scaled, masked, pattern };
inline constexpr int kStages = 4;

/// The four stages of a head's attention.
struct Stages {
  model::AttentionStages values;
  MaskedCells masked;
  std::size_t bytes() const;
  viz::Matrix matrix(Stage stage) const;
};

struct StagesOf {
  using Answer = Stages;
  static constexpr std::string_view kWork = "stages of attention";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  bool operator==(const StagesOf&) const = default;
  Stages compute(const PromptRun& run, const Work<Stages>& work) const;
  Stages difference(const Stages& after, const Stages& before, const PromptRun& run) const;
};

}  // namespace headscope::app
