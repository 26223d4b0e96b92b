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

/// Positions of one run on their way through the layers.
struct Lane {
  std::shared_ptr<Run> run;
  Beginning beginning;
  int first = 0;  ///< position of its first row; those before are in the run's pages
  int rows = 0;
  std::vector<std::optional<Page::ClaimedRows>> claimed =
      {};                 ///< [pages of the run]: what the pass may write
  std::size_t index = 0;  ///< of a variant's plan
  int row = 0;            ///< where its rows begin among those of all lanes: filled in by the pass

  const Plan* plan() const { return run->plan.get(); }
  bool takes_final_means() const;  ///< means of what is behind the blocks are of all positions
};

/// What is asked of a pass over variants of a run, of which nothing is kept.
struct AskedPositions {
  int first = 0;
  int count = 0;
  std::shared_ptr<PageMemory> memory;  ///< of the pages that hold the keys and values of one layer
};

/// Takes lanes through the layers together: their rows stand one below the other, those of lanes that begin
/// earlier first, so that each step takes those from the top on that have begun. Of one lane q, k, v and
/// resid go to the pages that it claimed, and the hooks are called; where positions are `asked`, lanes are
/// variants of options.clean, get pages of their own for the layer at hand, and leave out in the last layer
/// what nobody looks at. lanes: at least one, by Beginning::order. Returns the end of the residual stream,
/// [rows of all lanes, d_model], in the workspace's activations. Throws Stopped.
FloatRows run_pass(const Weights& weights, std::span<Lane> lanes, const ForwardOptions& options,
                   const AskedPositions* asked, Workspace::Impl& workspace);

}  // namespace headscope::model
