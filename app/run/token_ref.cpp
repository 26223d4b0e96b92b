#include "app/run/token_ref.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <tuple>

#include "app/counted.h"
#include "app/run/prompt_run.h"
#include "model/files/error.h"
#include "model/pass/statistics.h"

namespace headscope::app {
namespace {

int number_of(std::string_view prefix, std::string_view text, int low) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= low) return value;
  throw std::invalid_argument(" " + std::string(prefix) + " takes a whole number from " +
                              std::to_string(low) + " up, not " + model::quote(text));
}

void check_id(int id, int vocabulary, const std::string& mend = "") {
  if (id < 0 || id >= vocabulary)
    throw model::RunError("there is no token " + std::to_string(id) + ": the vocabulary has ids 0 to " +
                          std::to_string(vocabulary - 1) + mend);
}

}  // namespace

TokenRef parse_token(std::string_view text) {
  using By = TokenRef::By;
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

std::string text_of(const TokenRef& token) {
  using By = TokenRef::By;
  if (token.empty()) return "";
  if (token.by == By::text) return "text:" + token.text;
  return (token.by == By::id ? "id:" : "rank:") + std::to_string(token.number);
}

TokenRef without_text(const LoadedModel& model, const TokenRef& token, const std::string& option) {
  const int vocabulary = model.config().vocab_size;
  if (token.by == TokenRef::By::id) check_id(token.number, vocabulary, "; see " + option);
  if (token.by == TokenRef::By::rank && token.number > vocabulary)
    throw model::RunError("there is no rank " + std::to_string(token.number) + ": the vocabulary has " +
                          grouped(vocabulary) + " tokens; see " + option);
  if (token.by != TokenRef::By::text) return token;
  const std::vector<model::Token> tokens = model.tokenizer->encode(token.text);
  if (tokens.size() == 1) return TokenRef::of(tokens[0].id);
  std::string parts;
  for (const model::Token& one : tokens)
    parts += (parts.empty() ? "" : ", ") + model::quote(model.tokenizer->text(one.id));
  throw model::RunError(option + " takes one token; " + model::quote(token.text) + " has " +
                        std::to_string(tokens.size()) + ": " + parts);
}

TokenRef by_id(const TokenRef& ref, std::span<const float> logits, const TokenRef& token) {
  const auto vocabulary = static_cast<int>(logits.size());
  if (ref.by == TokenRef::By::rank)
    return TokenRef::of(model::largest_logits(logits, std::clamp(ref.number, 1, vocabulary)).back().id);
  if (ref.by == TokenRef::By::other) {
    const auto best = model::largest_logits(logits, std::min(2, vocabulary));
    return TokenRef::of(best.front().id == token.id() ? best.back().id : best.front().id);
  }
  if (ref.by == TokenRef::By::id) check_id(ref.number, vocabulary);
  return ref;
}

}  // namespace headscope::app
