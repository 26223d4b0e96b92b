#pragma once
#include <functional>
#include <span>
#include <vector>

#include "model/files/weights.h"
#include "model/kernels/workspace.h"
#include "model/pass/plan.h"

/// Path patching (Wang et al. 2022, "Interpretability in the Wild", section 3.1), for PatchFrom::direct.
namespace headscope::model {

/// The activations of a run as its edits left them, [T, columns] row-major.
using RecordedActivations = std::function<std::span<const float>(HookPoint)>;

/// The direct path of senders to a receiver, in a run.
struct DirectPath {
  const Plan* senders = nullptr;  ///< edits of z and mlp_out, all before the receiver
  const Plan* edits = nullptr;    ///< the run's; null: none
  HookPoint receiver;             ///< q, k or v; or resid_post of the last layer, for the logits
};

/// The points of the run that receive() reads.
std::vector<HookPoint> points_on_path(const Edits& senders, HookPoint receiver);

/// The receiver's values, [T, d_model], if the senders are edited while all other heads and MLPs write what
/// they write in the run: only the stream between them is computed, the receiver's layer norm and its product
/// with c_attn. Bit-identical to a pass with patches that hold the others.
std::vector<float> receive(const Weights& weights, const DirectPath& path, const RecordedActivations& run,
                           int length, Workers& workers);

}  // namespace headscope::model
