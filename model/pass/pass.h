#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/files/weights.h"
#include "model/kernels/workspace.h"
#include "model/pass/pages_of_run.h"
#include "model/pass/run.h"
#include "model/pass/transformer.h"

namespace headscope::model {

/// Positions of one run that a pass computes.
struct Lane {
  std::shared_ptr<Run> run;
  Beginning beginning;
  int first = 0;  ///< position of its first row; those before are in the run's pages
  int rows = 0;
  std::vector<std::optional<Page::ClaimedRows>> claimed =
      {};                 ///< [pages of the run]: what the pass may write
  std::size_t index = 0;  ///< of a variant among all
  int row = 0;            ///< where its rows begin among those of all lanes: filled in by the pass

  const Plan* plan() const { return run->plan.get(); }
  bool takes_final_means() const;  ///< whether edits of the final layer norm need means over all positions
};

/// The positions whose logits are wanted of variants, whose passes keep nothing.
struct AskedPositions {
  int first = 0;
  int count = 0;
  std::shared_ptr<PageMemory> memory;  ///< of the pages that hold the keys and values of one layer
};

/// Takes lanes through the layers together. Their rows are stacked, lanes that begin earlier first, so that a
/// step works on the topmost rows: those of the lanes that have begun. Without `asked` there is one lane,
/// whose q, k, v and resid go to the pages it claimed, and hooks are called. With `asked` the lanes are
/// variants of options.clean: each has its own pages for the current layer only, and the last layer computes
/// only the rows that are asked for. lanes: at least one, by Beginning::order. Returns the end of the
/// residual stream, [rows of all lanes, d_model], in the workspace's activations. Throws Stopped.
FloatRows run_pass(const Weights& weights, std::span<Lane> lanes, const ForwardOptions& options,
                   const AskedPositions* asked, Workspace::Impl& workspace);

}  // namespace headscope::model
