#pragma once
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "app/run/analyses/attribution.h"
#include "app/run/analyses/metric_choice.h"
#include "app/run/analyses/sweep.h"
#include "app/run/cell_means.h"
#include "app/run/measured_metric.h"
#include "app/run/prompt_list.h"
#include "app/run/question.h"

// Means of an analysis over a list of prompts, independent of the shown prompt and its edits. They are those
// of the commands with --mean: each line may name a second prompt, tokens and a position, else those of the
// question are measured, after the prompt's last position.
namespace headscope::app {

/// The means, of parts those of the first prompts.
struct MeansOnList {
  CellMeans means;
  ListProgress progress;
  std::optional<Sweep> begun = {};      ///< the sweep of the next prompt, as far as it is computed
  std::vector<SampleMean> layers = {};  ///< of attributions: of the sum of each layer's parts
  std::optional<bool> subtracts = {};   ///< of attributions: whether of differences of two logits
  std::size_t prompts() const { return progress.done - progress.skipped; }
  std::size_t bytes() const;
};

/// Means of the differences that each edit of a sweep makes: see cells_of.
struct SweepOnList {
  using Answer = MeansOnList;
  static constexpr bool kModelOnly = true;
  static constexpr std::string_view kName = "mean sweep over many prompts";
  OverPrompts over;
  SweepOf asked;  ///< its position and what it patches from are of each prompt
  SweepMetric metric = SweepMetric::difference;
  bool operator==(const SweepOnList&) const = default;
  /// Prompts that cannot be measured are skipped: those beyond the context, and of patches those without a
  /// second prompt of the same length. Throws RunError if none is left, for places that prompts do not share,
  /// and std::runtime_error, one sentence, for prompts of different lengths if places are positions.
  MeansOnList compute(const PromptRun& run, const Computation<MeansOnList>& computation) const;
};

inline constexpr const char* kNoMeanOfNeurons =
    "each prompt has other strongest neurons, so that there is no mean of them; choose other places to edit";

/// Means of the lens at each place in the residual stream: see cells_of.
struct LensOnList {
  using Answer = MeansOnList;
  static constexpr bool kModelOnly = true;
  static constexpr std::string_view kName = "mean logit lens over many prompts";
  OverPrompts over;
  TokenChoice token = TokenChoice::best();
  bool operator==(const LensOnList&) const = default;
  /// Throws like SweepOnList.
  MeansOnList compute(const PromptRun& run, const Computation<MeansOnList>& computation) const;
};

/// Means of what each part of the model adds to a logit or to the difference of two: see cells_of.
struct AttributionOnList {
  using Answer = MeansOnList;
  static constexpr bool kModelOnly = true;
  static constexpr std::string_view kName = "mean logit attribution over many prompts";
  OverPrompts over;
  TokenChoice token = TokenChoice::best();
  TokenChoice against = {};  ///< none: the logit, unless a prompt's line names another token
  bool operator==(const AttributionOnList&) const = default;
  /// Throws like SweepOnList, and std::runtime_error if some prompts name another token and some do not.
  MeansOnList compute(const PromptRun& run, const Computation<MeansOnList>& computation) const;
};

}  // namespace headscope::app
