#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/files/weights.h"
#include "model/kernels/workers.h"
#include "model/pass/run.h"
#include "model/pass/transformer.h"

namespace headscope::model {

/// The consecutive positions of one run that a pass computes. A prompt of 200 tokens is one lane in two
/// passes: positions 0 to 127, then 128 to 199. In a sweep that switches off 16 heads, one at a time, each of
/// the 16 runs is a lane of the same pass; its rows are stacked on the others', so that a product reads its
/// weights once for all, and each lane attends to the keys of its own run.
struct Lane {
  std::shared_ptr<Run> run;
  int first = 0;  ///< position of its first row; earlier ones are in the run's pages
  int rows = 0;
  HookPoint start = {};  ///< see pass_start; what comes before is the unedited run's
  /// [pages of the run]: what the pass may write, nothing for a page that is reused entirely.
  std::vector<std::optional<Page::ClaimedRows>> claimed = {};
  std::size_t index = 0;  ///< index of a variant among all variants
  int row = 0;            ///< index of its first row among the rows of all lanes: set by the pass

  const Plan* plan() const { return run->plan.get(); }
};

/// Where the pass of a plan can begin with the activations of the unedited run: embed, resid_pre or
/// attn_scores of a layer, or ln_final_scale.
HookPoint pass_start(const Plan& plan);

/// Begins a lane's run of the tokens: fills in its pages, what the pass may write of them, and where it
/// starts. `reusable`: maximum number of positions taken from other runs.
void begin_run(Lane& lane, const ForwardOptions& options, int reusable,
               const std::shared_ptr<PageMemory>& memory);

/// Takes lanes through the layers together. Their rows are stacked, those of lanes that begin earlier first,
/// so that each step works on the top rows: those of the active lanes. Without `asked` there is one lane,
/// whose q, k, v and resid are stored in the pages it claimed, and hooks are called. With `asked` the lanes
/// are variants of options.clean whose logits at these positions are requested: each has its own pages for
/// the current layer only, and the last layer computes only the requested rows. lanes: at least one, sorted
/// by their starts. Returns the end of the residual stream, [rows of all lanes, d_model], in the workspace's
/// activations. Throws Stopped.
FloatRows run_pass(const Weights& weights, std::span<Lane> lanes, const ForwardOptions& options,
                   const Positions* asked, Workspace::Impl& workspace);

/// What a run does not keep of a block, in the workspace's activations.
struct RecomputedBlock {
  FloatRows resid_mid;  ///< [rows of the lane, d_model]
  FloatRows mlp_pre;    ///< [rows of the lane, n_inner]
};

/// Takes a lane once more from the queries and the stream that its run keeps through the same steps, with its
/// edits and hooks, until resid_mid or mlp_pre.
RecomputedBlock recompute_block(const Weights& weights, Lane& lane, int layer, bool with_mlp,
                                const ForwardOptions& options, Workspace::Impl& workspace);

}  // namespace headscope::model
