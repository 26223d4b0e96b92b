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
  double top_p =
      1.0;  ///< of these keep the fewest, from the most probable down, that together reach p of the
            ///< whole vocabulary's probability, at least one (Holtzman et al. 2020); 1 or NaN: all
};

/// Probabilities of all tokens: softmax of logits / temperature over the whole vocabulary, summed in double.
/// logits: [V], out: [V], V >= 1. With a NaN among the logits all are NaN; temperature as in SamplingOptions.
/// Where all are -inf, all are equally probable.
void softmax(std::span<const float> logits, double temperature, std::span<double> out);

/// Draws an id from logits [V], V >= 1; throws RunError when one of them is NaN. Each draw takes one number
/// of the generator, whatever the options. Deterministic for a given generator state on every platform (the
/// generator is `std::mt19937_64`, the mapping to [0, 1) is our own).
class Sampler {
 public:
  Sampler(SamplingOptions options, std::uint64_t seed);
  int draw(std::span<const float> logits);

 private:
  SamplingOptions options_;
  std::mt19937_64 generator_;
  std::vector<int> order_;
  std::vector<double> probabilities_;
};

}  // namespace headscope::model
