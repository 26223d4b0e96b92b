#pragma once
#include "app/run/analyses/patterns.h"
#include "app/run/question.h"
#include "viz/scene/matrix.h"

namespace headscope::app {

enum class Stage { scores, scaled, masked, pattern };
inline constexpr int kStages = 4;

/// The four stages of a head's attention.
struct Stages {
  model::AttentionStages values;
  MaskedCells masked;
  std::size_t bytes() const {
    return bytes_of(values.scores, values.scaled, values.masked, values.pattern, masked.cells);
  }
  viz::Matrix matrix(Stage stage) const;
};

struct StagesOf {
  using Answer = Stages;
  static constexpr std::string_view kName = "attention stages";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  bool operator==(const StagesOf&) const = default;
  Stages compute(const PromptRun& run, const Computation<Stages>& computation) const;
  /// Masked like pattern_difference; NaN if a token has no counterpart, ±inf where only one side is
  /// masked.
  Stages difference(const Stages& after, const Stages& before, const PromptRun& run) const;
};

}  // namespace headscope::app
