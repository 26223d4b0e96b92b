#pragma once
#include <string>
#include <vector>

#include "app/run/analyses/next_token.h"
#include "app/views/view.h"
#include "model/pass/statistics.h"

// Shared by the views that show guesses for the next token: continuing with one of them.
namespace headscope::app {

/// The position that a guess continues from, -1 if it is the last one.
int continued_position(const ViewContext& context);

/// Continues with a token; nothing if the context is full.
ViewActions continue_with(const ViewContext& context, const NextToken& next, int id);

/// "“·the” 38.1 %"
std::string guess_words(const ViewContext& context, const model::Guess& guess);

/// Adds a guess's text, id and bytes, its probability at the temperature and its logit, and the command to
/// continue with it.
void add_guess(Facts& facts, const ViewContext& context, const NextToken& next, int id, double probability);

}  // namespace headscope::app
