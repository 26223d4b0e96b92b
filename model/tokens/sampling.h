#pragma once
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace headscope::model {

/// How a token is drawn. Every value has a meaning, so that drawing cannot fail; code that reads them from a
/// user should reject senseless ones.
struct SamplingOptions {
  double temperature = 1.0;  ///< 0, negative or NaN: always the most probable (the smaller id of equals)
  int top_k = 0;             ///< keep the k most probable (the smaller ids of equals); 0 or negative: all
  /// Of these keep the fewest, from the most probable down, that together reach the fraction p of the
  /// probability left by top-k, but at least one (nucleus sampling, Holtzman et al. 2020; after top-k as in
  /// Hugging Face's `generate`); 1 or NaN: all.
  double top_p = 1.0;
};

/// Probabilities of all tokens: softmax of logits / temperature over the whole vocabulary, summed in double.
/// Both have [V], V >= 1. All are NaN if a logit is NaN, and equal if all logits are -inf. For the
/// temperature see SamplingOptions.
std::vector<double> softmax(std::span<const float> logits, double temperature);

/// The tokens that may be drawn after a position. Top-k applies after the temperature, and top-p after top-k.
class Candidates {
 public:
  /// logits: [V], V >= 1. Throws RunError if one of them is NaN.
  Candidates(std::span<const float> logits, const SamplingOptions& options);

  std::span<const double> probabilities() const { return probabilities_; }  ///< [V], after the temperature
  int best(int rank);                         ///< id; 0: the most probable (ties: the smaller id)
  int after_top_k() const { return top_k_; }  ///< number of tokens left by top-k: the first ranks
  int kept() const { return kept_; }          ///< number of those left by top-p, at least one
  double mass() const { return mass_; }       ///< total probability of the kept tokens; 1 if none is removed

  /// The rank drawn by a number in [0, 1): the kept tokens, in order, divide that interval in proportion to
  /// their probabilities.
  int draw(double number);

 private:
  double of_rank(int rank) { return probabilities_[best(rank)]; }

  std::vector<double> probabilities_;
  std::vector<int> order_;  // ids, of which the first ones are sorted, the most probable first
  int sorted_ = 0;
  int top_k_, kept_;
  double mass_ = 1;
};

/// Random numbers in [0, 1) from a seed, the same on every platform: those of `std::mt19937_64`, mapped
/// without the standard library's distributions.
class RandomNumbers {
 public:
  /// Starts with the number at `index`.
  explicit RandomNumbers(std::uint64_t seed, std::uint64_t index = 0) : generator_(seed) {
    generator_.discard(index);
  }
  double next() { return static_cast<double>(generator_() >> 11) * 0x1p-53; }  ///< as a double has 53 bits

 private:
  std::mt19937_64 generator_;
};

/// The token drawn at a position with a seed. Each position has its own random number, so that a text is the
/// same whether it is generated at once or step by step. Throws like Candidates.
int draw_token(std::span<const float> logits, const SamplingOptions& options, std::uint64_t seed,
               int position);

}  // namespace headscope::model
