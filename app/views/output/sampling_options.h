#pragma once
#include <cstdint>

#include "app/run/analyses/continuations.h"
#include "app/views/option.h"
#include "model/tokens/sampling.h"

// How the next token is drawn: of all views that are about it, and of generating.
namespace headscope::app {

extern const Option<double> kTemperature;
extern const Option<int> kTopK;
extern const Option<double> kTopP;
extern const Option<int> kSeed;

extern const Option<int> kAhead;  ///< tokens that the model draws ahead

model::SamplingOptions sampling_of(const Options& options);
std::uint64_t seed_of(const Options& options);

/// Texts that the model draws ahead.
ContinuationsOf continuations_of(const Options& options, int texts);

/// Another seed: the next one, after the last the first.
int next_seed(int seed);

}  // namespace headscope::app
