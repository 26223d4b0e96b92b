#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/kernels/page_memory.h"
#include "model/pass/run.h"
#include "model/pass/transformer.h"

namespace headscope::model {

/// The length of the common prefix.
int common_tokens(std::span<const int> a, std::span<const int> b);

/// What a pass has to compute after reusing other runs.
struct PassStart {
  int position = 0;  ///< the first computed position
  /// Blocks before this one are shared with the unedited run; n_layer: only the steps after the blocks are
  /// computed.
  int layer = 0;
  /// q, k and v of that layer are shared, too: the pass begins with its scores.
  bool at_scores = false;

  int order() const { return 2 * layer + (at_scores ? 1 : 0); }  ///< position in the pass
};

/// The first point where a plan differs from the unedited run: layer and at_scores.
PassStart pass_start(const Plan& plan, const Config& config);

/// Begins a run of the tokens: fills in its pages and, in `claimed`, the rows of each page that the pass may
/// write, nothing for a page that is reused entirely. `reusable`: maximum number of positions taken from
/// other runs.
PassStart begin_run(Run& run, const ForwardOptions& options, int reusable,
                    const std::shared_ptr<PageMemory>& memory,
                    std::vector<std::optional<Page::ClaimedRows>>& claimed);

/// The same run, truncated to `length` positions.
std::shared_ptr<const Run> shortened(const Run& run, int length);

}  // namespace headscope::model
