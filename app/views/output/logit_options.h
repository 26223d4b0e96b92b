#pragma once
#include <initializer_list>
#include <optional>
#include <string>

#include "app/run/analyses/attribution.h"
#include "app/views/view.h"

// Options of views that take a logit, or the difference of two logits, apart.
namespace headscope::app {

extern const Option<int> kLogitRank;     ///< rank of the token, from 1
extern const Option<int> kAgainstRank;   ///< rank of the token whose logit is subtracted; 0: none
extern const Option<int> kLogitId;       ///< id of the token, in place of its rank; -1: none
extern const Option<int> kLogitOtherId;  ///< likewise of the token whose logit is subtracted

/// The tokens of these options.
struct LogitTokens {
  TokenChoice token, against;
  bool subtracts() const { return against.by != TokenChoice::By::none; }
};
/// Nothing until they are known: see guess_of_rank.
std::optional<LogitTokens> logit_tokens(const ViewContext& context);
/// Whether there is a token whose logit is subtracted.
bool subtracts_token(const Options& options);
/// These options as those of a view.
TokenOptions logit_token_options();

/// "“·it”", "“·it” − “·the”", "“·it” − mean"; `against`: -1: none; kVocabularyMean: the mean.
std::string logit_words(const ViewContext& context, int token, int against);

/// An option for a token's id, set by the command line alone: -1: none, the token is given by its rank.
OptionSpec token_id_option();

/// The token by its id or, without one, by its rank from 1. Nothing until it is known: see guess_of_rank.
std::optional<TokenChoice> token_choice(const ViewContext& context, const Option<int>& id,
                                        const Option<int>& rank);

/// The token that another one is compared with, by its id or by its rank from 1; at rank 0 the most probable
/// one that is not `token`. Nothing until both are known.
std::optional<TokenChoice> other_token_choice(const ViewContext& context,
                                              const std::optional<TokenChoice>& token, const Option<int>& id,
                                              const Option<int>& rank);
/// An option for the rank of that token.
OptionSpec other_rank_option();
/// Whether two tokens are one, as far as the prediction is known.
bool is_one_twice(const ViewContext& context, const TokenChoice& token, const TokenChoice& against);

/// That the vocabulary does not have one of the ids, of the token and of the other one, for View::refuse;
/// empty if it has them.
std::string refuse_token_id(const ViewContext& context, std::initializer_list<const Option<int>*> ids);

}  // namespace headscope::app
