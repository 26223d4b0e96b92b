#include "app/views/output/logit_options.h"

#include "app/run/analyses/stream_parts.h"
#include "app/views/parts/parts.h"
#include "model/files/error.h"

namespace headscope::app {

const Option<GivenToken> kMeasuredToken =
    make_option<GivenToken>("token", "Token",
                            "the token that is measured: its text, id:N, or rank:N among the predictions (of "
                            "the unedited run, while edits are on)",
                            {.default_value = GivenToken{GivenToken::By::rank, "", 1}, .keys = "lL"});
const Option<GivenToken> kOtherToken = make_option<GivenToken>(
    "other-token", "Against",
    "the other token, whose logit is subtracted, likewise (auto: the most probable other one)",
    {.default_value = GivenToken{}, .default_name = "auto", .keys = "uU"});
const Option<GivenToken> kSubtractedToken = make_option<GivenToken>(
    "against", "Against", "the token whose logit is subtracted, likewise",
    {.flag = "other-token", .default_value = GivenToken{}, .default_name = "none", .keys = "uU"});

/// Why one of the view's tokens cannot be measured, with the option's flag or its label; empty: all can.
static std::string refuse_tokens(const View& view, const ViewContext& c, bool in_window) {
  if (!c.run || !c.run->model || !c.run->model->tokenizer) return "";
  for (const OptionSpec* option : view.options) {
    const auto* token = std::get_if<GivenToken>(&c.options.value(*option));
    if (token == nullptr || !has_effect(view, *option, c.options) ||
        is_named_by_lines(view, *option, c.options, c.prompts.get()))
      continue;
    try {
      token_of(*c.run->model, *token,
               in_window ? std::string(option->label) : "--" + std::string(option->flag_name()), {});
    } catch (const model::RunError& error) {
      return error.what();
    }
  }
  return "";
}

View with_tokens(View view) {
  const auto why = [id = view.id](const ViewContext& c, bool in_window) {
    return refuse_tokens(*find_view(id), c, in_window);
  };
  view.refuse = [why, refuse = std::move(view.refuse)](const ViewContext& c) {
    std::string words = why(c, false);
    return words.empty() && refuse ? refuse(c) : words;
  };
  view.declare = [why, declare = std::move(view.declare)](Content& it) {
    it.message = why(it.c, true);
    if (it.message.empty()) declare(it);
  };
  return view;
}

TokenChoice given_choice(const ViewContext& c, const Option<GivenToken>& option, TokenChoice without) {
  using By = GivenToken::By;
  const GivenToken given = c.options[option];
  if (given.by == By::rank) return TokenChoice::best(given.number - 1);
  if (given.by == By::id && !c.run) return TokenChoice::of(given.number);
  if (given.empty() || !c.run) return without;
  try {
    return token_of(*c.run->model, given, "", {});
  } catch (const model::RunError&) {
    return without;
  }
}

std::optional<TokenChoice> token_choice(const ViewContext& c, const Option<GivenToken>& option) {
  const TokenChoice choice = given_choice(c, option, {});
  if (choice.by == TokenChoice::By::rank) return guess_of_rank(c, choice.number);
  return choice.by == TokenChoice::By::none ? std::nullopt : std::optional(choice);
}

std::optional<TokenChoice> other_token_choice(const ViewContext& c, const std::optional<TokenChoice>& token) {
  if (!c.options[kOtherToken].empty()) return token_choice(c, kOtherToken);
  return token ? guess_other_than(c, *token) : std::nullopt;
}

std::optional<LogitTokens> logit_tokens(const ViewContext& c) {
  const auto token = token_choice(c, kMeasuredToken);
  const auto against =
      c.options[kSubtractedToken].empty() ? TokenChoice{} : token_choice(c, kSubtractedToken);
  if (!token || !against) return std::nullopt;
  return LogitTokens{*token, *against};
}

std::string logit_words(const ViewContext& c, int token, int against) {
  const std::string words = "“" + label_of(c, token) + "”";
  if (against == kVocabularyMean) return words + " − mean";
  return against < 0 ? words : words + " − “" + label_of(c, against) + "”";
}

}  // namespace headscope::app
