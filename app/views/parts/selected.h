#pragma once
#include <span>

#include "app/run/analyses/measured.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/predictions.h"
#include "app/views/content.h"
#include "app/views/table.h"

// The selection: answers and facts about it, and moving it along the prompt and through the layers.
namespace headscope::app {

/// The pattern of the selected head; null while pending.
std::shared_ptr<const Pattern> current_pattern(const ViewContext& context);
std::shared_ptr<const NextToken> current_next(const ViewContext& context);
/// The baseline's prediction at the same place; null: there is no baseline, or no answer yet.
std::shared_ptr<const NextToken> compared_next(const ViewContext& context);
/// The counterpart of the selected query in the baseline; -1: none.
int compared_query(const ViewContext& context);
/// The positions of a selection in the run's baseline; -1: without a counterpart, or not selected.
Selection in_baseline(Selection selection, const PromptRun& run);
/// The run's position whose counterpart in its baseline is `position`; -1: none.
int own_position(const PromptRun& run, int position);
/// The selected query's weights in a pattern, up to itself or the last key that it sees; empty for null.
std::span<const float> weights_of_query(const ViewContext& context, const Pattern* pattern);

/// The attention of the selected query, step by step.
struct QueryRows {
  std::shared_ptr<const SoftmaxRow> now;
  /// On the difference side the counterpart's row; both then have the keys visible on either side. Else null.
  std::shared_ptr<const SoftmaxRow> before;
  std::vector<int> counterparts;  ///< on the difference side: for each key of `now` its counterpart in
                                  ///< `before`, -1: none; else empty
};

/// None while an answer is missing, and if the query has no counterpart; the content says why.
std::optional<QueryRows> rows_of_query(Content& content);

/// The selected query, for landmarks.
inline int selected_query(const ViewContext& c) {
  return c.selection.query;
}
/// The key with the selected query's largest weight; -1 while that is not known.
int strongest_key(const ViewContext& context);
/// The selected key, else the strongest one; -1 while that is not known.
int attended_key(const ViewContext& context);

/// The action of a key in a picture where the prompt runs from left to right: Left and Right, Home and End
/// select the query, Left and Right with Shift the key. Nothing for other gestures.
ViewActions keys_along_prompt(const ViewContext& context, const Gesture& gesture);
/// Arrows select another layer or head: down moves so far, and if that is given, right does.
OnGesture arrows(MoveHead down, std::optional<MoveHead> right = {});
/// Selects the key `by` positions further that the query sees; without a selected key, the first or last.
ViewActions move_key(const ViewContext& context, int by);
/// Whether the query may have weight on the key in the selected head.
bool may_see(const ViewContext& context, int query, int key);
/// "this key comes after the query", or that edits mask it.
std::string why_masked(int query, int key);
/// A click on a key: selects it, or clears the selection.
SelectKey clicked_key(const ViewContext& context, int position);

/// Facts about what a table is about: the selected layer and head; a position and its token; the query.
void add_head_facts(Table& table, const ViewContext& context);
void add_token_facts(Table& table, const PromptTokens& tokens, const std::string& name, int position);
void add_query_facts(Table& table, const ViewContext& context);

/// The names of metrics on the command line, in tables and in views.
inline constexpr ChoiceOf<Metric> kMetrics[] = {
    {Metric::logit, "logit", "Logit", "The logit of the token"},
    {Metric::difference, "difference", "Logit difference",
     "The logit of the token minus that of the other token"},
    {Metric::log_probability, "logprob", "Log probability",
     "The logarithm of the token's probability, in bits"},
    {Metric::loss, "loss", "Loss", "The mean loss of the prompt's tokens, in bits"},
    {Metric::divergence, "kl", "KL", "KL divergence of the edited distribution from the run's, in bits"},
    {Metric::probability, "probability", "Probability", "The probability of the token"}};
static_assert(in_order(kMetrics));
/// Those of a single run that have gradients.
inline constexpr std::span kGradientMetrics = std::span(kMetrics).first<4>();

/// Adds the metric, the position and the tokens as facts; `measured` is resolved.
void add_measured(Table& table, const ViewContext& context, const Measured& measured);
/// Adds a token as two facts: "token" and "token id".
void add_token(Table& table, const ViewContext& context, const std::string& name, int id);

}  // namespace headscope::app
