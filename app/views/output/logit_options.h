#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "app/run/analyses/attribution.h"
#include "app/views/view.h"

// Options of views that take a logit, or the difference of two logits, apart.
namespace headscope::app {

extern const Option<int> kLogitRank;    ///< rank of the token, from 1
extern const Option<int> kAgainstRank;  ///< rank of the token whose logit is subtracted; 0: none

/// The options with which a view chooses its token and the other one, by rank.
struct TokenOptions {
  const OptionSpec* token;
  const OptionSpec* other;
};
/// Those of all views that have them; a view with such options of its own has a row there.
std::vector<TokenOptions> token_options();

/// "“·it”", "“·it” − “·the”", "“·it” − mean"; `against`: -1: none; kVocabularyMean: the mean.
std::string logit_words(const ViewContext& context, int token, int against);

/// An option for a token's id, set by the command line alone: -1: none, the token is given by its rank.
OptionSpec token_id_option();

/// The token by its id or, without one, by its rank from 1. Nothing until it is known: see guess_of_rank.
std::optional<TokenChoice> token_choice(const ViewContext& context, const Option<int>& id,
                                        const Option<int>& rank);

/// That the vocabulary does not have one of the ids, for View::refuse; empty if it has them.
std::string refuse_token_id(const ViewContext& context, std::initializer_list<const Option<int>*> ids);

}  // namespace headscope::app
