#pragma once
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/saliency.h"
#include "app/views/view.h"

// The options of views for what they measure: tokens and metrics.
namespace headscope::app {

extern const Option<GivenToken> kMeasuredToken;    ///< never empty: the first guess by default
extern const Option<GivenToken> kOtherToken;       ///< of a difference; empty: the most probable other one
extern const Option<GivenToken> kSubtractedToken;  ///< the token whose logit is subtracted; empty: none

/// A view whose picture says so, and whose `refuse` does, if one of its tokens that have an effect is none of
/// the model's.
View with_tokens(View view);

/// The token that an option names, by its id or by its rank, which is each prompt's own. `without`: if it is
/// empty or no token, see with_tokens.
TokenChoice given_choice(const ViewContext& context, const Option<GivenToken>& option, TokenChoice without);
/// The same for the prediction after the selected query. Nothing until it is known: see guess_of_rank.
std::optional<TokenChoice> token_choice(const ViewContext& context, const Option<GivenToken>& option);
/// The token that another one is compared with: `kOtherToken`. Nothing until both are known.
std::optional<TokenChoice> other_token_choice(const ViewContext& context,
                                              const std::optional<TokenChoice>& token);

/// The tokens of a view that takes a logit, or the difference of two logits, apart.
struct LogitTokens {
  TokenChoice token, against;
  bool subtracts() const { return against.by != TokenChoice::By::none; }
};
/// Nothing until they are known: see guess_of_rank.
std::optional<LogitTokens> logit_tokens(const ViewContext& context);

/// "“·it”", "“·it” − “·the”", "“·it” − mean"; `against`: -1: none; kVocabularyMean: the mean.
std::string logit_words(const ViewContext& context, int token, int against);

/// The metrics that have gradients, with their names on the command line and in views.
inline constexpr ChoiceOf<GradientMetric> kSaliencyMetrics[] = {
    {GradientMetric::logit, "logit", "Logit", "The logit of the token"},
    {GradientMetric::difference, "difference", "Logit difference",
     "The logit of the token minus that of the other token"},
    {GradientMetric::log_probability, "logprob", "Log probability",
     "The logarithm of the token's probability, in bits"},
    {GradientMetric::loss, "loss", "Loss", "The mean loss of the prompt's tokens, in bits"}};
static_assert(in_order(kSaliencyMetrics));

}  // namespace headscope::app
