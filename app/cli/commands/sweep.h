#pragma once
#include <optional>
#include <string>

#include "app/cli/commands/list_means.h"
#include "app/run/analyses/sweep.h"
#include "app/run/measured_metric.h"

namespace headscope::app {

/// Whether the first-order estimates of a sweep's cells are written.
enum class EstimatesWritten {
  none,
  also,  ///< besides the exact differences
  only,  ///< and no cell is computed
};

/// The effect on a guess of editing each head, or other parts of the model, one at a time.
struct SweepCommand : Arguments, MeanArguments {
  MeasuredMetric<SweepMetric> measured{SweepMetric::difference};
  SweepOver over = SweepOver::heads;
  SweepEdit edit = SweepEdit::zero;
  model::Site site = model::Site::z;
  EstimatesWritten estimates = EstimatesWritten::none;
  std::optional<SweepEdit> ablation;      ///< as given; nothing: not given
  std::optional<model::Site> given_site;  ///< as given; nothing: not given
  std::optional<int> top;                 ///< neurons, as given; nothing: not given
  std::optional<std::string> receiver;    ///< as given; nothing: not given
  std::optional<std::string> second;      ///< text of the prompt to patch from
  std::optional<Alignment> alignment;     ///< alignment of prompts of different lengths
  bool restored = false;                  ///< changes as shares of the difference between both prompts
  bool no_recipe = false;                 ///< the picture's file carries no recipe
  bool ablates_with_means() const { return ablation == SweepEdit::mean; }
  Destination out = {};
};

}  // namespace headscope::app
