#include "app/views/output/sampling_options.h"

#include "app/views/parts/declare.h"

namespace headscope::app {

const Option<double> kTemperature = make_option<double>(
    "temperature", "Temperature", "divides the logits before the softmax",
    {.phrase = "temperature {}", .default_value = 1.0, .low = 0.05, .high = 2, .step = 0.05, .keys = ".,"});
const Option<int> kTopK =
    make_option<int>("top-k", "Top-k", "sample only from this many most probable tokens",
                     {.phrase = "top-k {}",
                      .default_value = 0,
                      .default_name = "all",
                      .low = 1,
                      .high = 1000,
                      .steps = {1, 2, 3, 5, 10, 20, 40, 50, 100, 200, 500, 1000, 0},
                      .keys = "iI"});
const Option<double> kTopP = make_option<double>(
    "top-p", "Top-p",
    "sample only from the most probable tokens that together reach this probability, after top-k (nucleus)",
    {.phrase = "top-p {}", .default_value = 1.0, .low = 0.05, .high = 1, .step = 0.05, .keys = "cC"});
const Option<int> kSeed =
    make_option<int>("seed", "Seed", "seed of the random numbers: the same seed gives the same tokens",
                     {.phrase = "seed {}", .default_value = 0, .low = 0, .high = 2147483647.0, .keys = "jJ"});
const Option<int> kAhead =
    make_option<int>("ahead", "Tokens", "number of tokens sampled per continuation",
                     {.phrase = "{token} ahead", .default_value = 4, .low = 1, .high = 32, .keys = "bB"});

model::SamplingOptions sampling_of(const Options& options) {
  return {options[kTemperature], options[kTopK], options[kTopP]};
}

std::uint64_t seed_of(const Options& options) {
  return static_cast<std::uint64_t>(options[kSeed]);
}

ContinuationsOf continuations_of(const Options& options, int texts) {
  return {texts, options[kAhead], options[kTemperature], options[kTopK], options[kTopP], seed_of(options)};
}

int next_seed(int seed) {
  return seed < static_cast<int>(kSeed.high) ? seed + 1 : static_cast<int>(kSeed.low);
}

}  // namespace headscope::app
