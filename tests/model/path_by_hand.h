#pragma once
// Path patches in the float64 reference: by a pass in which all other heads and MLPs are held.
#include <map>
#include <span>
#include <string>

#include "tests/model/edits_by_hand.h"
#include "tests/support/reference_gpt2.h"

namespace headscope::model {

/// The values of a run by hook and head.
using RecordedValues = std::map<std::string, SourceValues>;

/// Applies an edit at its own hook; `others`: the run that patches are from.
inline void apply_by_hand(const Edit& edit, const RecordedValues& others, const std::string& hook, int head,
                          testing::ReferenceGpt2::Rows& rows) {
  if (hook != hook_name(point_of(edit))) return;
  const auto source = others.find(hook);
  ByHand(edit, source != others.end() ? source->second : SourceValues{})(head, rows);
}

/// The values of each activation of a run with edits.
inline RecordedValues record_by_hand(const testing::ReferenceGpt2& reference, std::span<const int> ids,
                                     const Edits& edits = {}, const RecordedValues& others = {}) {
  RecordedValues all;
  testing::ReferenceGpt2::Edits watch;
  watch.edit = [&](const std::string& hook, int head, testing::ReferenceGpt2::Rows& rows) {
    for (const Edit& edit : edits) apply_by_hand(edit, others, hook, head, rows);
    all[hook][head] = rows;
  };
  reference.run(ids, watch);
  return all;
}

/// The values of a path's receiver, by head, on top of `edits`.
inline SourceValues receive_by_hand(const testing::ReferenceGpt2& reference, std::span<const int> ids,
                                    const PatchFrom& path, const RecordedValues& others, const Edits& edits) {
  const RecordedValues base = record_by_hand(reference, ids, edits, others);
  const Edit& sender = path.edits.front();
  const bool is_head = point_of(sender).site == Site::z;
  const std::string own = hook_name({Site::attn_out, point_of(sender).layer});
  SourceValues received;
  testing::ReferenceGpt2::Edits freeze;
  freeze.edit = [&](const std::string& hook, int head, testing::ReferenceGpt2::Rows& rows) {
    if (hook.ends_with("hook_mlp_out") || (hook.ends_with("hook_attn_out") && !(is_head && hook == own))) {
      rows = base.at(hook).at(head);
    } else {
      for (const Edit& edit : edits) apply_by_hand(edit, others, hook, head, rows);
    }
    apply_by_hand(sender, others, hook, head, rows);
    if (hook == hook_name(path.at.point)) received[head] = rows;
  };
  reference.run(ids, freeze);
  return received;
}

/// The logits of a run with edits and then paths into one receiver each, [pos][vocabulary].
inline testing::ReferenceGpt2::Rows logits_by_hand(const testing::ReferenceGpt2& reference,
                                                   std::span<const int> ids,
                                                   const std::vector<PatchFrom>& paths,
                                                   const RecordedValues& others, const Edits& edits) {
  std::vector<SourceValues> received;
  for (const PatchFrom& path : paths)
    received.push_back(receive_by_hand(reference, ids, path, others, edits));
  testing::ReferenceGpt2::Edits all;
  all.edit = [&](const std::string& hook, int head, testing::ReferenceGpt2::Rows& rows) {
    for (const Edit& edit : edits) apply_by_hand(edit, others, hook, head, rows);
    for (std::size_t i = 0; i < paths.size(); ++i)
      if (hook == hook_name(paths[i].at.point)) ByHand(paths[i], received[i])(head, rows);
  };
  return reference.run(ids, all).logits;
}

}  // namespace headscope::model
