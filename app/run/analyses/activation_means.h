#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/run/prompt_list.h"
#include "app/run/question.h"
#include "model/pass/edits.h"

// Mean activations over a list of prompts: a part at its mean loses what tells a prompt from others like it,
// and keeps what all of them have (Wang et al. 2022, "Interpretability in the Wild").
namespace headscope::app {

/// The means at one point of the pass, over all positions of all prompts.
struct PointMeans {
  model::HookPoint point;
  int heads = 1;              ///< 1 for a site without heads
  std::vector<float> values;  ///< [heads, units]
};

struct ActivationMeans {
  std::vector<PointMeans> points;  ///< as asked for; empty as long as `whole` is false
  std::string list;                ///< the list's name
  std::int64_t tokens = 0;         ///< positions, each of which counts once
  ListProgress progress;
  bool whole = false;                     ///< false: some prompts are still missing
  std::vector<std::vector<double>> sums;  ///< of a part: [points][heads * units]; else empty

  /// [heads, units]; the point must be among those asked for.
  const PointMeans& at(model::HookPoint point) const;
  /// Sets a place to its means, and says over which list. Its point is among those asked for.
  model::SetValues edit(const model::EditSite& at) const;
  std::size_t bytes() const;
};

/// The means of an unedited model's activations over a list.
struct MeansOverList {
  static constexpr std::string_view kName = "means over a list of prompts";
  OverPrompts over;
  std::vector<model::HookPoint> points;  ///< of sites without cells
  bool operator==(const MeansOverList&) const = default;
  /// Prompts that cannot be run, those beyond the context, and those with activations that are not finite are
  /// skipped and counted. Throws RunError if none is left, or for points that the model does not have.
  ActivationMeans compute(const PromptRun& run, const Computation<ActivationMeans>& computation) const;
};

/// The list whose means other questions set, and these means.
struct MeanSource {
  OverPrompts over;
  std::shared_ptr<const ActivationMeans> means;  ///< whole; null: not known yet
  /// They follow from the list and the run's model.
  bool operator==(const MeanSource& other) const { return over == other.over; }
};

/// The points at which edits, and those of the runs that they patch from, set means. Throws RunError for one
/// of a run in the second model, whose means would be others.
std::vector<model::HookPoint> points_of_means(const model::Edits& edits);

/// The edits with `means` in place of means over the positions of the run.
model::Edits with_means(model::Edits edits, const ActivationMeans& means);

}  // namespace headscope::app
