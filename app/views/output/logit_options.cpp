#include "app/views/output/logit_options.h"

#include "app/views/parts/parts.h"
#include "model/files/error.h"

namespace headscope::app {

const Option<TokenRef> kMeasuredToken =
    make_option<TokenRef>("token", "Token",
                          "the token that is measured: its text, id:N, or rank:N among the predictions (of "
                          "the unedited run, while edits are on)",
                          {.default_value = TokenRef::best(), .keys = "lL"});
const Option<TokenRef> kOtherToken = make_option<TokenRef>(
    "other-token", "Against",
    "the other token, whose logit is subtracted, likewise (auto: the most probable other one)",
    {.default_value = TokenRef{}, .default_name = "auto", .keys = "uU"});
const Option<TokenRef> kSubtractedToken = make_option<TokenRef>(
    "against", "Against", "the token whose logit is subtracted, likewise",
    {.flag = "other-token", .default_value = TokenRef{}, .default_name = "none", .keys = "uU"});

/// Why one of the view's tokens cannot be measured, with the option's flag or its label; empty: all can.
static std::string refuse_tokens(const View& view, const ViewContext& c, bool in_window) {
  if (!c.run || !c.run->model || !c.run->model->tokenizer) return "";
  for (const OptionSpec* option : view.options) {
    const auto* token = std::get_if<TokenRef>(&c.options.value(*option));
    if (token == nullptr || !has_effect(view, *option, c.options) ||
        token_comes_from_list(view, *option, c.options, c.prompts.get()))
      continue;
    try {
      without_text(*c.run->model, *token,
                   in_window ? std::string(option->label) : "--" + std::string(option->flag_name()));
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

TokenRef given_token(const ViewContext& c, const Option<TokenRef>& option) {
  const TokenRef given = c.options[option];
  if (!c.run) return given.by == TokenRef::By::text ? TokenRef() : given;
  try {
    return without_text(*c.run->model, given, "");
  } catch (const model::RunError&) {
    return {};
  }
}

std::optional<Measured> measured_by(const ViewContext& c, Metric metric, const Option<TokenRef>& other) {
  Measured of{metric, {}, {}, std::max(0, c.selection.query)};
  const auto named = [&](const Option<TokenRef>& option) -> std::optional<TokenRef> {
    const TokenRef token = given_token(c, option);
    if (token.by == TokenRef::By::rank) return guess_of_rank(c, token.number);
    return token.empty() ? std::nullopt : std::optional(token);
  };
  const int tokens = token_count(metric);
  if (tokens == 0) of.position = model::kLastPosition;
  const auto token = tokens > 0 ? named(kMeasuredToken) : of.token;
  if (!token) return std::nullopt;
  of.token = *token;
  const auto against = tokens < 2                 ? of.other
                       : c.options[other].empty() ? guess_other_than(c, of.token)
                                                  : named(other);
  if (!against) return std::nullopt;
  of.other = *against;
  return of;
}

std::optional<Measured> measured_logit(const ViewContext& c) {
  const bool subtracts = !c.options[kSubtractedToken].empty();
  return measured_by(c, subtracts ? Metric::difference : Metric::logit, kSubtractedToken);
}

std::string after_words(const ViewContext& c, const Measured& of) {
  return of.position < 0 ? "" : "after " + token_name(c.run->tokens, of.position);
}

std::string metric_words(const ViewContext& c, const Measured& of) {
  if (of.metric == Metric::divergence) return "KL(run ‖ edited), bits";
  if (of.metric == Metric::loss) return "mean loss of the prompt, bits";
  const auto quoted = [&](const TokenRef& token) { return "“" + label_of(c, token.id()) + "”"; };
  const std::string token = quoted(of.token);
  if (of.metric == Metric::probability) return "probability of " + token;
  if (of.metric == Metric::log_probability) return "log₂ probability of " + token;
  if (of.metric == Metric::logit) return "logit of " + token;
  return "logit of " + token + " − " + (of.other == TokenRef::mean() ? "mean" : quoted(of.other));
}

}  // namespace headscope::app
