#pragma once
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace headscope::model {

/// How a token is drawn. temperature 0: always the most probable (the smaller id of equals).
struct SamplingOptions {
  double temperature = 1.0;
  int top_k = 0;       ///< keep the k most probable; 0: all
  double top_p = 1.0;  ///< then keep the fewest whose probability reaches p (Holtzman et al. 2020)
};

/// Probabilities of all tokens: softmax of logits / temperature over the whole vocabulary, summed in double.
/// logits: [V], out: [V].
void softmax(std::span<const float> logits, double temperature, std::span<double> out);

/// Draws an id from logits [V]. Deterministic for a given generator state on every platform (the generator is
/// `std::mt19937_64`, the mapping to [0, 1) is our own).
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
