#pragma once
// Edits in the float64 reference, and path patches: by a pass in which all other heads and MLPs are held.
#include <span>

#include "tests/support/edits_by_hand.h"
#include "tests/support/reference_gpt2.h"

namespace headscope::model {

/// What a run of the reference with edits takes; `others`: the runs that patches are from. Both must outlive
/// it.
inline testing::ReferenceGpt2::Edits by_hand(const Edits& edits, const RecordedValues& others) {
  return {.edit = ByHand<double>(edits, others),
          .sees = [&](int layer, int head, std::size_t query,
                      std::size_t key) { return sees_by_hand(edits, layer, head, query, key); },
          .row_of_wpe = [&](std::size_t pos) { return position_by_hand(edits, pos); }};
}

/// The values of each activation of a run with edits.
inline RecordedValues record_by_hand(const testing::ReferenceGpt2& reference, std::span<const int> ids,
                                     const Edits& edits = {}, const RecordedValues& others = {}) {
  RecordedValues all;
  testing::ReferenceGpt2::Edits watch = by_hand(edits, others);
  watch.edit = [&, edit = watch.edit](const std::string& hook, int head, testing::ReferenceGpt2::Rows& rows) {
    edit(hook, head, rows);
    all[hook][head] = rows;
  };
  reference.run(ids, watch);
  return all;
}

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
