#include "app/run/given_token.h"

#include <charconv>
#include <stdexcept>
#include <tuple>

#include "app/counted.h"
#include "app/run/analyses/attribution.h"
#include "model/files/error.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

int number_of(std::string_view prefix, std::string_view text, int low) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= low) return value;
  throw std::invalid_argument(" " + std::string(prefix) + " takes a whole number from " +
                              std::to_string(low) + " up, not " + model::quote(text));
}

}  // namespace

GivenToken parse_given_token(std::string_view text) {
  using By = GivenToken::By;
  for (const auto& [prefix, by, low] : {std::tuple("id:", By::id, 0), std::tuple("rank:", By::rank, 1)})
    if (text.starts_with(prefix))
      return {by, "", number_of(prefix, text.substr(std::string_view(prefix).size()), low)};
  constexpr std::string_view kText = "text:";
  const bool escaped = text.starts_with(kText);
  const std::string_view token = escaped ? text.substr(kText.size()) : text;
  if (token.empty()) throw std::invalid_argument(" is empty: give a token's text, or id:N or rank:N");
  if (!escaped && token.find_first_not_of("0123456789") == token.npos) {
    const std::string digits(token.substr(0, 64));
    throw std::invalid_argument(" " + digits + " could be a text, an id or a rank: give text:" + digits +
                                ", id:" + digits + " or rank:" + digits);
  }
  return {By::text, std::string(token), 0};
}

std::string text_of(const GivenToken& token) {
  using By = GivenToken::By;
  if (token.empty()) return "";
  if (token.by == By::text) return "text:" + token.text;
  return (token.by == By::id ? "id:" : "rank:") + std::to_string(token.number);
}

TokenChoice token_of(const LoadedModel& model, const GivenToken& token, const std::string& option,
                     TokenChoice default_) {
  using By = GivenToken::By;
  if (token.by == By::none) return default_;
  const int vocabulary = model.config().vocab_size;
  if (token.by == By::id && token.number >= vocabulary)
    throw model::RunError("there is no token " + std::to_string(token.number) +
                          ": the vocabulary has ids 0 to " + std::to_string(vocabulary - 1) + "; see " +
                          option);
  if (token.by == By::rank && token.number > vocabulary)
    throw model::RunError("there is no rank " + std::to_string(token.number) + ": the vocabulary has " +
                          grouped(vocabulary) + " tokens; see " + option);
  if (token.by == By::id) return TokenChoice::of(token.number);
  if (token.by == By::rank) return TokenChoice::best(token.number - 1);
  const std::vector<model::Token> tokens = model.tokenizer->encode(token.text);
  if (tokens.size() == 1) return TokenChoice::of(tokens[0].id);
  std::string parts;
  for (const model::Token& one : tokens)
    parts += (parts.empty() ? "" : ", ") + model::quote(model.tokenizer->text(one.id));
  throw model::RunError(option + " takes one token; " + model::quote(token.text) + " has " +
                        std::to_string(tokens.size()) + ": " + parts);
}

}  // namespace headscope::app
