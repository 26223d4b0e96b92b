#pragma once
// Path patches in the float64 reference: by a pass in which all other heads and MLPs are held.
#include <span>

#include "tests/support/edits_by_hand.h"

namespace headscope::model {

/// The values of a path's receiver, by head, on top of `edits`.
inline SourceValues receive_by_hand(const testing::ReferenceGpt2& reference, std::span<const int> ids,
                                    const PatchFrom& path, const RecordedValues& others, const Edits& edits) {
  const RecordedValues base = record_by_hand(reference, ids, edits, others);
  const HookPoint sender = point_of(path.edits.front());
  const std::string own = hook_name({Site::attn_out, sender.layer});
  SourceValues received;
  testing::ReferenceGpt2::Edits freeze = by_hand(edits, others);
  freeze.edit = [&, edit = freeze.edit](const std::string& hook, int head,
                                        testing::ReferenceGpt2::Rows& rows) {
    if (hook.ends_with("hook_mlp_out") ||
        (hook.ends_with("hook_attn_out") && !(sender.site == Site::z && hook == own))) {
      rows = base.at(hook).at(head);
    } else {
      edit(hook, head, rows);
    }
    ByHand<double>(path.edits, others)(hook, head, rows);
    if (hook == hook_name(path.at.point)) received[head] = rows;
  };
  reference.run(ids, freeze);
  return received;
}

/// The logits of a run with edits and then paths, each into a receiver at another hook, [pos][vocabulary].
inline testing::ReferenceGpt2::Rows logits_by_hand(const testing::ReferenceGpt2& reference,
                                                   std::span<const int> ids,
                                                   const std::vector<PatchFrom>& paths,
                                                   const RecordedValues& others, const Edits& edits) {
  const Edits last(paths.begin(), paths.end());
  RecordedValues received;
  for (const PatchFrom& path : paths)
    received[hook_name(path.at.point)] = receive_by_hand(reference, ids, path, others, edits);
  testing::ReferenceGpt2::Edits all = by_hand(edits, others);
  all.edit = [&, edit = all.edit](const std::string& hook, int head, testing::ReferenceGpt2::Rows& rows) {
    edit(hook, head, rows);
    ByHand<double>(last, received)(hook, head, rows);
  };
  return reference.run(ids, all).logits;
}

}  // namespace headscope::model
