#pragma once
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

#include "app/run/analyses/measured.h"

namespace headscope::app {

/// How a token's share in a metric is measured, by the metric's derivatives with respect to the tokens'
/// embeddings, before positions are added.
enum class SaliencyMethod {
  gradient_input,  ///< gradient . embedding
  gradient_norm,   ///< the gradient's Euclidean norm
  /// Integrated gradients (Sundararajan et al. 2017): the mean gradient between a baseline and the embedding,
  /// . (embedding - baseline); the tokens' shares add up to the metric's difference from the baseline.
  integrated,
};

/// Where integrated gradients begin: what all tokens' embeddings are replaced by. Positions are kept.
enum class SaliencyBaseline {
  zero,         ///< zeros
  mean,         ///< the mean of all embeddings of the vocabulary
  end_of_text,  ///< the embedding of `<|endoftext|>`
};

/// The tokens' shares in a metric, in the unit of answers: see is_in_bits.
struct Saliency {
  Measured measured = {};
  SaliencyMethod method = SaliencyMethod::gradient_input;
  double value = 0;           ///< the metric in the run
  double start = 0;           ///< the metric at the baseline of integrated gradients; else 0
  int gradients = 1;          ///< number of gradients that were computed
  std::vector<double> parts;  ///< [T]
  /// On the difference side: minus the shares of baseline positions without a counterpart here.
  double unmatched = 0;

  double sum() const { return std::accumulate(parts.begin(), parts.end(), unmatched); }
  /// By how much the parts of integrated gradients miss the metric's difference from the baseline.
  double error() const { return sum() - (value - start); }
  /// Number of tokens that may have a share: up to the position, or with edits that let it see later tokens,
  /// up to the last one that has one.
  int reach() const;
  /// Token by token; one without a counterpart had no share there.
  Saliency minus(const Saliency& before, const PromptRun& run) const;
  std::size_t bytes() const { return bytes_of(parts); }
};

struct SaliencyOf {
  static constexpr std::string_view kName = "saliency";

  Measured measured = {};  ///< not the divergence
  SaliencyMethod method = SaliencyMethod::gradient_input;
  SaliencyBaseline baseline = SaliencyBaseline::zero;  ///< of integrated gradients
  bool operator==(const SaliencyOf&) const = default;
  bool reads_baseline() const { return true; }  // by the divergence, and for the unedited run's ranks

  /// Throws RunError for a position, a token or a baseline that does not exist, and for the loss of a single
  /// token.
  Saliency compute(const PromptRun& run, const Computation<Saliency>& computation) const;
};

}  // namespace headscope::app
