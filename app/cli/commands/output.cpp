#include "app/cli/commands/output.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "model/files/quote.h"

namespace headscope::app {

double printable(double number) {
  return std::isnan(number) ? std::abs(number) : number;
}

std::string logit_name(const model::Tokenizer& tokenizer, int token, int against) {
  const std::string name = "logit of " + viz::visible(tokenizer.bytes(token));
  return against < 0 ? name : name + " minus " + viz::visible(tokenizer.bytes(against));
}

void write_by_size(std::vector<NamedNumber> lines, const char* pattern, std::ostream& out) {
  std::ranges::stable_sort(lines, {}, [](const NamedNumber& line) { return -std::abs(line.number); });
  for (const auto& [number, name] : lines) out << format(pattern, printable(number)) << name << '\n';
}

void write_tokens_json(const model::Tokenizer& tokenizer, std::span<const model::Token> tokens,
                       std::ostream& out) {
  out << "\"tokens\":[";
  const char* separator = "";
  for (const model::Token& token : tokens) {
    Json object = token_json(token.id, tokenizer.bytes(token.id));
    object["start"] = token.start;
    object["end"] = token.end;
    out << std::exchange(separator, ",") << json_line(object);
  }
  out << ']';
}

void write_json_line(const model::Tokenizer& tokenizer, std::span<const model::Token> tokens,
                     const Json& rest, std::ostream& out) {
  out << '{';
  write_tokens_json(tokenizer, tokens, out);
  out << (rest.empty() ? "" : ",") << json_line(rest).substr(1) << '\n';
}

Json token_or_null(const model::Tokenizer& tokenizer, int id) {
  return id < 0 ? Json(nullptr) : token_json(id, tokenizer.bytes(id));
}

Json guesses_json(const model::Tokenizer& tokenizer, std::span<const model::Guess> guesses) {
  Json array = Json::array();
  for (const model::Guess& guess : guesses) {
    Json object = token_json(guess.id, tokenizer.bytes(guess.id));
    object["logit"] = guess.logit;
    object["probability"] = guess.probability;
    array.push_back(std::move(object));
  }
  return array;
}

TokenChoice token_of(const model::Tokenizer& tokenizer, const std::string& text, const char* option,
                     TokenChoice default_) {
  if (text.empty()) return default_;
  int id = 0;
  const char* const end = text.data() + text.size();
  if (const auto [rest, error] = std::from_chars(text.data(), end, id); error == std::errc() && rest == end)
    return TokenChoice::of(id);
  const std::vector<model::Token> tokens = tokenizer.encode(text);
  if (tokens.size() == 1) return TokenChoice::of(tokens[0].id);
  std::string parts;
  for (const model::Token& token : tokens)
    parts += (parts.empty() ? "" : ", ") + model::quote(std::string(tokenizer.bytes(token.id)));
  throw model::RunError(std::string(option) + " takes one token; " + model::quote(text) + " has " +
                        std::to_string(tokens.size()) + ": " + parts);
}

}  // namespace headscope::app
