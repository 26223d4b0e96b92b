#include "app/views/output/logit_options.h"

#include <algorithm>
#include <utility>

#include "app/run/analyses/logit_direction.h"
#include "app/views/option_names.h"
#include "app/views/parts/declare.h"
#include "app/views/parts/names.h"
#include "app/views/parts/selected.h"

namespace headscope::app {

const Option<int> kLogitRank =
    make_option<int>("logit-rank", "Token",
                     "the token whose logit is decomposed, by rank (of the unedited run, while edits are on)",
                     {.default_value = 1, .low = 1, .high = 100, .keys = "hH"});
const Option<int> kAgainstRank =
    make_option<int>("against-rank", "Against", "the token whose logit is subtracted, by rank (0: none)",
                     {.default_value = 0, .default_name = "none", .low = 0, .high = 100, .keys = "wW"});

const Option<int> kLogitId =
    make_option<int>("logit-id", "Token id", "the token by its id, instead of its rank", token_id_option());
const Option<int> kLogitOtherId =
    make_option<int>("against-id", "Against id",
                     "the token whose logit is subtracted by its id, instead of its rank", token_id_option());

bool subtracts_token(const Options& options) {
  return options[kAgainstRank] > 0 || options[kLogitOtherId] >= 0;
}

std::optional<LogitTokens> logit_tokens(const ViewContext& c) {
  const auto token = token_choice(c, kLogitId, kLogitRank);
  const auto other =
      subtracts_token(c.options) ? token_choice(c, kLogitOtherId, kAgainstRank) : TokenChoice{};
  if (!token || !other) return std::nullopt;
  return LogitTokens{*token, *other};
}

TokenOptions logit_token_options() {
  return {&kLogitRank, &kLogitId, &kAgainstRank, &kLogitOtherId};
}

std::string logit_words(const ViewContext& c, int token, int against) {
  const std::string words = "“" + label_of(c, token) + "”";
  if (against == kVocabularyMean) return words + " − mean";
  return against < 0 ? words : words + " − “" + label_of(c, against) + "”";
}

constexpr int kMaxIds = 1 << 24;

OptionSpec token_id_option() {
  return {.default_value = -1,
          .default_name = "none",
          .low = -1,
          .high = kMaxIds,
          .kept = false,
          .control = Control::none};
}

std::optional<TokenChoice> token_choice(const ViewContext& c, const Option<int>& id,
                                        const Option<int>& rank) {
  if (c.options[id] < 0) return guess_of_rank(c, c.options[rank] - 1);
  const int last = c.run ? c.run->run->config.vocab_size - 1 : kMaxIds;
  return TokenChoice::of(std::min(c.options[id], last));
}

std::optional<TokenChoice> other_token_choice(const ViewContext& c, const std::optional<TokenChoice>& token,
                                              const Option<int>& id, const Option<int>& rank) {
  if (!token || c.options[id] >= 0 || c.options[rank] > 0) return token_choice(c, id, rank);
  return guess_other_than(c, *token);
}

OptionSpec other_rank_option() {
  return {.default_value = 0, .default_name = "auto", .low = 0, .high = 100, .keys = "uU"};
}

bool is_one_twice(const ViewContext& c, const TokenChoice& token, const TokenChoice& against) {
  using By = TokenChoice::By;
  const auto is_known = [](const TokenChoice& choice) {
    return choice.by == By::id || choice.by == By::rank;
  };
  if (!is_known(token) || !is_known(against)) return false;
  if (token.by == against.by) return token == against;
  const auto next = c.run ? current_next(c) : nullptr;  // ranks are of this run: others were resolved
  return next && id_of(token, next->logits) == id_of(against, next->logits);
}

std::string refuse_token_id(const ViewContext& c, std::initializer_list<const Option<int>*> ids) {
  for (const Option<int>* id : ids)
    if (c.run && c.options[*id] >= c.run->run->config.vocab_size)
      return "there is no token " + std::to_string(c.options[*id]) + ": the vocabulary has ids 0 to " +
             std::to_string(c.run->run->config.vocab_size - 1) + "; see --" +
             std::string(id == *ids.begin() ? kTokenFlag : kOtherTokenFlag);
  return "";
}

}  // namespace headscope::app
