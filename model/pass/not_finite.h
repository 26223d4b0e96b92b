#pragma once
#include <optional>
#include <string>

#include "model/pass/hooks.h"
#include "model/pass/run.h"

namespace headscope::model {

/// Where a run has NaN or an infinity.
struct NotFinite {
  HookPoint point;
  int position = 0;
  std::optional<int> head;  ///< for a point with heads
};

/// The first such place among the values that a run keeps (resid_pre, q, k, v, the last resid_post), in the
/// order of the pass, then by position, then by head. Searches only if the last layer's residual stream is
/// not finite: NaN and infinities propagate there unless edits or masks hide them.
std::optional<NotFinite> first_not_finite(const Run& run);

/// "blocks.0.attn.hook_q, head 2, position 7"
std::string name_of(const NotFinite& place);

}  // namespace headscope::model
