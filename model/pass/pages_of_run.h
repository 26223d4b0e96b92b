#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/kernels/page_memory.h"
#include "model/pass/run.h"
#include "model/pass/transformer.h"

namespace headscope::model {

/// What a pass has to compute, after all that other runs have is taken from them.
struct Beginning {
  int position = 0;  ///< the first that is computed
  /// Blocks before this one are those of the run without edits, as its pages say; n_layer: only what
  /// comes behind the blocks is computed.
  int layer = 0;
  /// So are q, k and v of that layer: the pass begins with its scores.
  bool at_scores = false;

  int order() const { return 2 * layer + (at_scores ? 1 : 0); }  ///< in the pass
};

/// Where the layers begin that a plan makes different from the clean run's: layer and at_scores.
Beginning beginning_of(const Plan& plan, const Config& config);

/// Begins a run of the tokens: fills in its pages, and `claimed` with the rows that the pass may write of
/// each, nothing where all of it is reused. `reusable`: positions of it at most are taken from other runs.
Beginning begin_run(Run& run, const ForwardOptions& options, int reusable,
                    const std::shared_ptr<PageMemory>& memory,
                    std::vector<std::optional<Page::ClaimedRows>>& claimed);

/// The same run, cut after `length` positions.
std::shared_ptr<const Run> shortened(const Run& run, int length);

}  // namespace headscope::model
