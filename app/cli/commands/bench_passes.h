#pragma once
#include <optional>

#include "app/cli/commands/engine.h"

namespace headscope::app {

/// Medians of one length of prompt, in seconds.
struct PassTiming {
  int tokens = 0;
  int repetitions = 0;
  double pass = 0;                 ///< the whole prompt, no logits
  double all_logits = 0;           ///< the whole prompt and what the model made of every position
  double last_logits = 0;          ///< the whole prompt and the logits after it
  double one_more = 0;             ///< one more token and the logits after it, everything before it kept
  std::optional<double> all_maps;  ///< the whole prompt and the pattern of every head
  std::optional<double> maps_and_logits;  ///< the whole prompt, every pattern, and what all_logits has
};

/// Measures for a second and a half. With `materialize` it takes memory for the patterns, [n_layer * n_head,
/// tokens, tokens], before the clock runs.
PassTiming measure_passes(Engine& engine, int tokens, bool materialize);

/// Does once what is measured, all but the patterns.
void rehearse_passes(Engine& engine, int tokens);

}  // namespace headscope::app
