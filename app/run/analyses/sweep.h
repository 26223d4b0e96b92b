#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "app/run/analyses/attribution.h"
#include "app/run/question.h"
#include "model/pass/edits.h"

namespace headscope::app {

/// What is changed in turn: each head, or each layer at each position.
enum class SweepOver { heads, positions };

enum class SweepChange {
  zero,   ///< zero ablation
  mean,   ///< mean ablation: over the positions of the run
  patch,  ///< activation patching: from another prompt
};

/// What of the guesses after a position is looked at.
enum class SweepMetric {
  logit,        ///< of a token
  difference,   ///< of two tokens' logits
  probability,  ///< of a token
  divergence,   ///< KL(run || changed) of all tokens, in nats
};

/// All metrics at once: the logits cost the work.
struct SweepReading {
  double logit = 0;    ///< of the token
  double against = 0;  ///< logit of the other one; 0: there is none
  double probability = 0;
  double divergence = 0;  ///< from the run's probabilities; of the run 0
  double of(SweepMetric metric) const;
};

/// What each of many single changes makes of the guesses after a position.
struct Sweep {
  int position = 0;
  int token = 0;                       ///< id
  int against = -1;                    ///< id of the token whose logit is subtracted; -1: none
  int layers = 0;                      ///< rows
  int columns = 0;                     ///< heads, or positions from the first to the one that is looked at
  SweepReading before;                 ///< in the run
  std::vector<SweepReading> readings;  ///< [layers, columns]; NaN where there is nothing to patch from
  std::vector<bool> known;             ///< which of them are there
  int known_count() const;
  bool knows(int layer, int column) const { return known[index(layer, column)]; }
  const SweepReading& at(int layer, int column) const { return readings[index(layer, column)]; }
  /// What the metric has more with the change than in the run.
  double difference(SweepMetric metric, int layer, int column) const {
    return at(layer, column).of(metric) - before.of(metric);
  }
  std::size_t bytes() const { return bytes_of(readings) + known.size() / 8; }

 private:
  std::ptrdiff_t index(int layer, int column) const { return std::ptrdiff_t{layer} * columns + column; }
};

/// Another prompt, and which of its positions stands for each of the run's.
struct PatchPrompt {
  std::vector<int> tokens;
  std::vector<int> aligned;   ///< [T]; -1: none, it is left as it is; empty: the same, of prompts as long
  bool second_model = false;  ///< it runs in the model of what the run is compared with
  bool own = false;           ///< it is the run's prompt itself, in that model
  bool is_same() const;       ///< whether each position stands for itself
  /// What puts in at a place what stands there: at its positions, or where it has none at all that something
  /// stands for; nothing where nothing does.
  std::optional<model::PatchFrom> at(model::EditedPlace place) const;
  bool operator==(const PatchPrompt&) const = default;
};

/// What a run is compared with, to be patched from; of a run that is compared with nothing, nothing.
PatchPrompt patch_prompt_of(const PromptRun& run);

struct SweepOf {
  using Answer = Sweep;
  static constexpr std::string_view kWork = "sweep";

  SweepOver over = SweepOver::heads;
  model::Site site = model::Site::z;  ///< of heads z; else resid_pre, attn_out or mlp_out
  SweepChange change = SweepChange::zero;
  PatchPrompt from = {};                    ///< of a patch
  TokenChoice token = TokenChoice::best();  ///< ranks are those in the run
  TokenChoice against = TokenChoice::best(1);
  int position = 0;  ///< whose guesses are looked at
  bool operator==(const SweepOf&) const = default;

  /// What is changed for one cell, beside what is changed in the run; empty where there is nothing to patch.
  /// Column -1: for a whole row at once.
  model::Edits edits(int layer, int column) const;

  /// Throws RunError for an id outside the vocabulary, for another prompt that is not as long, and where the
  /// run is compared with no second model to patch from.
  Sweep compute(const PromptRun& run, const Work<Sweep>& work) const;
};

}  // namespace headscope::app
