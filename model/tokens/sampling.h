#pragma once
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace headscope::model {

/// How a token is drawn. Every value has a meaning, so that none can fail; who reads them from a user refuses
/// the senseless ones.
struct SamplingOptions {
  double temperature = 1.0;  ///< 0, negative or NaN: always the most probable (the smaller id of equals)
  int top_k = 0;             ///< keep the k most probable (the smaller ids of equals); 0 or negative: all
  /// Of these keep the fewest, from the most probable down, that together reach p of the probability that
  /// top-k left, at least one (nucleus sampling, Holtzman et al. 2020; after top-k as in Hugging Face's
  /// `generate`); 1 or NaN: all.
  double top_p = 1.0;
};

/// Probabilities of all tokens: softmax of logits / temperature over the whole vocabulary, summed in double.
/// logits: [V], out: [V], V >= 1. With a NaN among the logits all are NaN; temperature as in SamplingOptions.
/// Where all are -inf, all are equally probable.
void softmax(std::span<const float> logits, double temperature, std::span<double> out);

/// What may be drawn after one position. Temperature, top-k and top-p each take from what the one before
/// left.
class Candidates {
 public:
  /// logits: [V], V >= 1. Throws RunError when one of them is NaN.
  Candidates(std::span<const float> logits, const SamplingOptions& options);

  std::span<const double> probabilities() const { return probabilities_; }  ///< [V], after the temperature
  int best(int rank);                         ///< id; 0: the most probable (the smaller id of equals)
  int after_top_k() const { return top_k_; }  ///< how many top-k leaves: the first ranks
  int kept() const { return kept_; }          ///< how many top-p leaves of those, at least one
  double mass() const { return mass_; }  ///< probability of the kept ones together; 1 where none is removed

  /// The rank that a number in [0, 1) stands for, where each of the kept ones, in their order, has as much of
  /// the line as its share of their mass.
  int draw(double number);

 private:
  double of_rank(int rank) { return probabilities_[best(rank)]; }
  auto less_likely() const {
    return [this](int a, int b) {
      const double pa = probabilities_[a], pb = probabilities_[b];
      return pa != pb ? pa < pb : a > b;
    };
  }

  std::vector<double> probabilities_;
  std::vector<int> order_;  // a heap, and behind it what was taken from it, the most probable last
  int taken_ = 0;
  int top_k_, kept_;
  double mass_ = 1;
};

/// Numbers in [0, 1) by a seed, the same on every platform: those of `std::mt19937_64`, mapped by our own
/// code.
class RandomNumbers {
 public:
  /// From the number at `index` on.
  explicit RandomNumbers(std::uint64_t seed, int index = 0);
  double next();

 private:
  std::mt19937_64 generator_;
};

/// The token that is drawn at a position with a seed: each position has a number of its own, so that a text
/// is the same whether it is generated at once or step by step. Throws as Candidates.
int draw_token(std::span<const float> logits, const SamplingOptions& options, std::uint64_t seed,
               int position);

}  // namespace headscope::model
