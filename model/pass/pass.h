#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/files/weights.h"
#include "model/kernels/workspace.h"
#include "model/pass/run.h"
#include "model/pass/run_pages.h"
#include "model/pass/transformer.h"

namespace headscope::model {

/// The positions of one run that a pass computes.
struct Lane {
  std::shared_ptr<Run> run;
  PassStart start;
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

}  // namespace headscope::model
