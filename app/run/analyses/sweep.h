#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "app/run/analyses/activation_means.h"
#include "app/run/analyses/measured.h"
#include "app/run/named.h"
#include "app/run/question.h"
#include "model/pass/edits.h"

namespace headscope::app {

/// What is edited in turn.
enum class SweepOver {
  heads,           ///< each head
  positions,       ///< each layer at each position
  senders,         ///< each sender of a path to one receiver
  head_positions,  ///< each head at each position
  mlps,            ///< each MLP
  neurons,         ///< the neurons with the largest estimates
};

/// What a cell of a sweep edits.
struct SweepPlace {
  int layer = 0;
  std::optional<int> head = {}, position = {}, neuron = {};  ///< nothing: all of the layer's
  bool is_mlp = false;                                       ///< the layer's MLP
};

/// "L4 H3", "L4 MLP", "L4 neuron 17", "L4": a place without its position.
std::string part_name(const SweepPlace& place);

/// The sites that it can edit, the default one first. Senders are z of heads and mlp_out.
std::span<const model::Site> sites_of(SweepOver over);

enum class SweepEdit {
  zero,       ///< zero ablation
  mean,       ///< mean ablation: over the positions of the run
  patch,      ///< activation patching: from another prompt
  list_mean,  ///< mean ablation: over the positions of a list of prompts
};

/// All metrics of a sweep at once; the logits are the expensive part.
struct SweepReading {
  double logit = 0;    ///< logit of the token
  double against = 0;  ///< logit of the other token; 0: there is none
  double probability = 0;
  double divergence = 0;  ///< KL(run || edited run) in bits; 0 for the run itself
  double of(Metric metric) const {
    if (metric == Metric::difference) return logit - against;
    if (metric == Metric::divergence) return divergence;
    return metric == Metric::logit ? logit : probability;
  }
};
/// Not a number in any metric.
inline constexpr SweepReading kNoReading{NAN, NAN, NAN, NAN};

/// How each of many single edits affects the prediction after a position.
struct Sweep {
  Measured measured = {};  ///< of all metrics
  int layers = 0;          ///< rows; 1 of neurons, which are of any layers
  /// Places of a layer: heads; positions; heads and the MLP; heads at positions, head by head; or the MLP
  /// alone. Of neurons: all that were chosen.
  int columns = 0;
  std::vector<NeuronIndex> neurons = {};  ///< [columns], those with the largest estimates first; else empty
  SweepReading before;                    ///< in the run
  std::vector<SweepReading> readings;     ///< [layers, columns]; NaN if there is nothing to patch from
  std::vector<bool> known;                ///< which readings are computed
  /// [layers, columns], of what the edits add to the metrics, NaN for the divergence: see estimate_cells.
  /// Empty: none.
  std::vector<SweepReading> estimates = {};
  int known_count() const { return static_cast<int>(std::ranges::count(known, true)); }
  const SweepReading& at(int layer, int column) const { return readings[index(layer, column)]; }
  /// The metric with the edit minus the metric in the run.
  double difference(Metric metric, int layer, int column) const {
    return at(layer, column).of(metric) - before.of(metric);
  }
  /// Whether there are estimates of a metric.
  bool estimates_metric(Metric metric) const { return !estimates.empty() && metric != Metric::divergence; }
  /// The estimate of the difference.
  double estimate(Metric metric, int layer, int column) const {
    return estimates[index(layer, column)].of(metric);
  }
  /// The rank correlation (Spearman) of estimates and known differences; NaN with fewer than two cells.
  double estimate_correlation(Metric metric) const;
  std::size_t bytes() const { return bytes_of(neurons, readings, estimates) + known.size() / 8; }

 private:
  std::ptrdiff_t index(int layer, int column) const { return std::ptrdiff_t{layer} * columns + column; }
};

/// The prompt to patch from, and for each position of the run its counterpart in it.
struct PatchPrompt {
  std::vector<int> tokens;
  std::vector<int> aligned;   ///< [T]; -1: none, not patched
  bool second_model = false;  ///< run it in the baseline's model
  bool own = false;           ///< it is the run's own prompt, in that model
  /// The patch of a place: at its positions, or if it has none, at all positions with a counterpart; nothing
  /// if there is none.
  std::optional<model::PatchFrom> at(model::EditSite place) const;
  /// Whether there is one at a position, or at any.
  bool reaches(std::optional<int> position) const;
  bool operator==(const PatchPrompt&) const = default;
};

/// The baseline of a run as a source of patches; empty without a baseline.
PatchPrompt patch_prompt_of(const PromptRun& run);

/// The receiver of a sweep over senders.
struct SweepReceiver {
  model::EditSite at = {};          ///< see model::PatchFrom::direct
  int heads = 0;                    ///< of a layer; the column after theirs is its MLP
  bool is_after(int layer) const {  ///< the senders of a layer
    return at.point.site == model::Site::resid_post || layer < at.point.layer;
  }
  bool operator==(const SweepReceiver&) const = default;
};

struct SweepOf {
  static constexpr std::string_view kName = "sweep";

  SweepOver over = SweepOver::heads;
  model::Site site = model::Site::z;  ///< one of sites_of(over)
  SweepReceiver receiver = {};        ///< of senders
  SweepEdit edit = SweepEdit::zero;
  PatchPrompt from = {};      ///< source of a patch
  MeanSource mean_over = {};  ///< source of list means
  /// Ranks refer to the run. All metrics are read; the estimates of this one say what is computed first, and
  /// which neurons are chosen. The divergence has none.
  Measured measured = difference_at(0);
  int positions = 0;  ///< how many are edited, see acting_positions; 0: up to the measured one
  int neurons = 64;   ///< of neurons: their number

  int edited_positions() const { return positions > 0 ? positions : measured.position + 1; }

  /// The means that its edits set, of any model of this shape.
  MeansOverList means_over(const OverPrompts& list, const model::Config& config) const;

  /// Without the metric but for neurons: no reading depends on it.
  bool operator==(const SweepOf& other) const {
    const auto asked = [](const SweepOf& of) {
      return std::tie(of.over, of.site, of.receiver, of.edit, of.from, of.mean_over, of.measured.token,
                      of.measured.other, of.measured.position, of.neurons);
    };
    return asked(*this) == asked(other) && edited_positions() == other.edited_positions() &&
           (over != SweepOver::neurons || measured.metric == other.measured.metric);
  }
  bool reads_baseline() const { return from.second_model; }

  /// The place of a cell, given by its layer and its column, of neurons their number. Column -1: all of a
  /// layer at once, of senders all heads.
  SweepPlace place_of(int layer, int column) const;
  /// The same for a cell by its index.
  SweepPlace place_of(const Sweep& sweep, std::size_t cell) const;
  /// The edits of a place, in addition to those of the run; empty if there is nothing to patch, if the means
  /// of the list are not known, or if the receiver is not after the sender.
  model::Edits edits(const SweepPlace& place) const;
  model::Edits edits(int layer, int column) const { return edits(place_of(layer, column)); }
  /// Whether there are any.
  bool has_edits(const SweepPlace& place) const;

  /// Throws RunError for edits that no run can have, and without a source of what is patched.
  void check() const;
  /// The same, and for an id outside the vocabulary. All cells but senders are estimated first, and then
  /// computed in the order of their estimates.
  Sweep compute(const PromptRun& run, const Computation<Sweep>& computation) const;
};

/// First-order estimates of all cells of a sweep at once (attribution patching: Nanda 2023): for each cell
/// the sum, over the values that its edit replaces, of the metric's derivative with respect to the value
/// times the amount by which the edit changes it. One pass for the values and one for the derivatives of each
/// metric, instead of a pass for each cell. NaN for cells without an edit, and for the divergence, which is
/// smallest at the run itself. `sweep` has its position and its tokens; of neurons, no cells yet: there are
/// estimates of all neurons, [n_layer, n_inner].
std::vector<SweepReading> estimate_cells(const SweepOf& question, const Sweep& sweep, const PromptRun& run,
                                         const Resources& with);

/// A sweep's metrics in the run that is patched from, by the logits after the counterpart of the measured
/// position. The divergence is NaN.
SweepReading source_reading(const Sweep& sweep, std::span<const float> logits);

/// (patched - corrupted) / (clean - corrupted), where the run is the corrupted prompt and its baseline the
/// clean one (Zhang and Nanda 2024, "Towards best practices of activation patching"). NaN if both are equal.
double restored(const Sweep& sweep, const SweepReading& source, Metric metric, double change);

/// Spearman's rank correlation of two lists of equal length. Equal values share the mean of their ranks;
/// pairs with a value that is not finite are left out. NaN with fewer than two pairs, or if all of a list are
/// equal.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace headscope::app
