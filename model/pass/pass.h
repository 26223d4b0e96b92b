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

/// The consecutive positions of one run that a pass computes. A prompt of 200 tokens is one lane in two
/// passes: positions 0 to 127, then 128 to 199. In a sweep that switches off 16 heads, one at a time, each of
/// the 16 runs is a lane of the same pass; its rows are stacked on the others', so that a product reads its
/// weights once for all, and each lane attends to the keys of its own run.
struct Lane {
  std::shared_ptr<Run> run;
  PassStart start = {};
  int first = 0;  ///< position of its first row; earlier ones are in the run's pages
  int rows = 0;
  std::vector<std::optional<Page::ClaimedRows>> claimed =
      {};                 ///< [pages of the run]: what the pass may write
  std::size_t index = 0;  ///< index of a variant among all variants
  int row = 0;            ///< index of its first row among the rows of all lanes: set by the pass

  const Plan* plan() const { return run->plan.get(); }
};

/// The positions of variants whose logits are requested. A pass for these keeps nothing.
struct PositionRange {
  int first = 0;
  int count = 0;
  std::shared_ptr<PageMemory> memory;  ///< for the pages that hold one layer's keys and values
};

/// Takes lanes through the layers together. Their rows are stacked, those of lanes that begin earlier first,
/// so that each step works on the top rows: those of the active lanes. Without `asked` there is one lane,
/// whose q, k, v and resid are stored in the pages it claimed, and hooks are called. With `asked` the lanes
/// are variants of options.clean: each has its own pages for the current layer only, and the last layer
/// computes only the requested rows. lanes: at least one, sorted by PassStart::order. Returns the end of the
/// residual stream, [rows of all lanes, d_model], in the workspace's activations. Throws Stopped.
FloatRows run_pass(const Weights& weights, std::span<Lane> lanes, const ForwardOptions& options,
                   const PositionRange* asked, Workspace::Impl& workspace);

/// What a run does not keep of a block, in the workspace's activations.
struct RecomputedBlock {
  FloatRows resid_mid;  ///< [rows of the lane, d_model]
  FloatRows mlp_pre;    ///< [rows of the lane, n_inner]
};

/// Takes a lane once more from the queries and the stream that its run, options.clean, keeps through the same
/// steps, with its edits and hooks, until resid_mid or mlp_pre.
RecomputedBlock recompute_block(const Weights& weights, Lane& lane, int layer, bool with_mlp,
                                const ForwardOptions& options, Workspace::Impl& workspace);

}  // namespace headscope::model
