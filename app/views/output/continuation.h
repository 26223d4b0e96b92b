#pragma once
#include <cstdint>

#include "app/run/analyses/predictions.h"
#include "app/views/option.h"
#include "app/views/parts/list.h"
#include "model/pass/statistics.h"
#include "model/tokens/sampling.h"

// Continuing a prompt: the options of sampling, and guesses for the next token.
namespace headscope::app {

/// Continues with a token; nothing if the context is full.
ViewActions continue_with(const ViewContext& context, const NextToken& next, int id);

/// Adds the columns of a list of tokens: id, text and bytes. `id`: of a row's token. Returns the text's.
ListColumn& add_token_columns(List& list, const ViewContext& context, const std::function<int(int row)>& id,
                              ListLook look = {});

/// "“·the” 38.1 %"
std::string guess_words(const ViewContext& context, const model::Guess& guess);

/// Adds a guess's id, bytes, probability at the temperature and logit, and the command to continue with it.
void add_guess(Facts& facts, const ViewContext& context, const NextToken& next, int id, double probability);

extern const Option<double> kTemperature;
extern const Option<int> kTopK;
extern const Option<double> kTopP;
extern const Option<int> kSeed;

extern const Option<int> kAhead;  ///< number of tokens that the model draws ahead

model::SamplingOptions sampling_of(const Options& options);
std::uint64_t seed_of(const Options& options);

/// The next seed; after the last one the first.
int next_seed(int seed);

}  // namespace headscope::app
