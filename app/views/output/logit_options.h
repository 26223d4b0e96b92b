#pragma once
#include "app/run/analyses/measured.h"
#include "app/views/view.h"

// The options of views for what they measure: tokens and metrics.
namespace headscope::app {

extern const Option<TokenRef> kMeasuredToken;    ///< never empty: the first guess by default
extern const Option<TokenRef> kOtherToken;       ///< of a difference; empty: the most probable other one
extern const Option<TokenRef> kSubtractedToken;  ///< the token whose logit is subtracted; empty: none

/// Why a token that has an effect is none of the model's, with its option's label or flag; empty: all are.
std::string refuse_tokens(const View& view, const ViewContext& context, bool in_window);

/// The token that an option names, with its id in place of its text; ranks are each prompt's own. None: it is
/// empty or no token, see refuse_tokens.
TokenRef given_token(const ViewContext& context, const Option<TokenRef>& option);
/// What the options `kMeasuredToken` and `other` name, as far as the metric names tokens, of the prediction
/// after the selected query. In comparisons a guess is the same token on all sides. None: not known yet.
std::optional<Measured> measured_by(const ViewContext& context, Metric metric,
                                    const Option<TokenRef>& other = kOtherToken);
/// The same for a logit, or with `kSubtractedToken` the difference of two.
std::optional<Measured> measured_logit(const ViewContext& context);

/// "after 8 “·it”", the prediction that is measured; empty for the loss of the whole prompt.
std::string after_words(const ViewContext& context, const Measured& measured);
/// "logit of “·it” − “·the”", "logit of “·it” − mean", "mean loss of the prompt, bits".
std::string metric_words(const ViewContext& context, const Measured& measured);

}  // namespace headscope::app
