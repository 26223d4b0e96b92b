#pragma once
#include <cstdint>

#include "app/run/analyses/continuations.h"
#include "app/views/option.h"
#include "model/tokens/sampling.h"

// Sampling options, shared by all views about sampling and by the generate command.
namespace headscope::app {

extern const Option<double> kTemperature;
extern const Option<int> kTopK;
extern const Option<double> kTopP;
extern const Option<int> kSeed;

extern const Option<int> kAhead;  ///< number of tokens that the model draws ahead

model::SamplingOptions sampling_of(const Options& options);
std::uint64_t seed_of(const Options& options);

/// The question for texts that the model draws ahead.
ContinuationsOf continuations_of(const Options& options, int texts);

/// The next seed; after the last one the first.
int next_seed(int seed);

}  // namespace headscope::app
