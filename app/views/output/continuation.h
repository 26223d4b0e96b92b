#pragma once
#include <string>
#include <vector>

#include "app/run/analyses/next_token.h"
#include "app/views/view.h"
#include "model/pass/statistics.h"

// What the views that show guesses at the next token share: going on with one of them.
namespace headscope::app {

/// The position that a guess continues from, -1 where it is the last one.
int continued_position(const ViewContext& context);

/// Goes on with a token; nothing where the context is full.
ViewActions continue_with(const ViewContext& context, const NextToken& next, int id);

/// "“·the” 38.1 %"
std::string guess_words(const ViewContext& context, const model::Guess& guess);

/// Says its text, id and bytes, probability at a temperature and logit; offers to go on with it.
void add_guess(Facts& facts, const ViewContext& context, const NextToken& next, int id, double probability);

}  // namespace headscope::app
