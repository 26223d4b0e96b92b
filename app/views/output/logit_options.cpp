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

std::string refuse_tokens(const View& view, const ViewContext& c, bool in_window) {
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

TokenRef given_token(const ViewContext& c, const Option<TokenRef>& option) {
  const TokenRef given = c.options[option];
  if (!c.run) return given.by == TokenRef::By::text ? TokenRef() : given;
  try {
    return without_text(*c.run->model, given, "");
  } catch (const model::RunError&) {
    return {};
  }
}

/// A guess after the selected query; `token`: what another one than that is asked for. In comparisons by its
/// id, the same on all sides: a guess of the baseline, or of the first of two prompts. None: not known yet.
static std::optional<TokenRef> resolved(const ViewContext& c, const TokenRef& guess,
                                        const TokenRef& token = {}) {
  const PromptRun* run = c.asked ? c.asked.get() : c.run.get();
  if (run == nullptr || run->baseline == nullptr) return guess;
  const bool two = compares_different_inputs(*run);
  if (two && c.side == Side::run) return guess;
  int position = c.selection.query;
  if (two && c.side == Side::baseline) {
    position = own_position(*run, position);
    if (position < 0) return guess;
  }
  const auto next = c.ask_on(two ? Side::run : Side::baseline, NextAfter{position});
  if (!next) return std::nullopt;
  return by_id(guess, next->logits, token);
}

std::optional<Measured> measured_by(const ViewContext& c, Metric metric, const Option<TokenRef>& other) {
  Measured of{metric, {}, {}, std::max(0, c.selection.query)};
  const auto named = [&](const Option<TokenRef>& option) -> std::optional<TokenRef> {
    const TokenRef token = given_token(c, option);
    if (token.by == TokenRef::By::rank) return resolved(c, token);
    return token.empty() ? std::nullopt : std::optional(token);
  };
  const int tokens = token_count(metric);
  if (tokens == 0) of.position = model::kLastPosition;
  const auto token = tokens > 0 ? named(kMeasuredToken) : of.token;
  if (!token) return std::nullopt;
  of.token = *token;
  const auto against = tokens < 2                 ? of.other
                       : c.options[other].empty() ? resolved(c, TokenRef::other(), of.token)
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
