#include "app/cli/commands/token_output.h"

#include <charconv>
#include <cmath>
#include <ostream>
#include <utility>

#include "app/text/json_text.h"
#include "model/files/error.h"
#include "model/files/quote.h"

namespace headscope::app {

void write_tokens_json(const model::Tokenizer& tokenizer, std::span<const model::Token> tokens,
                       std::ostream& out) {
  out << "\"tokens\":[";
  const char* separator = "";
  for (const model::Token& token : tokens) {
    nlohmann::ordered_json object = token_json(token.id, tokenizer.bytes(token.id));
    object["start"] = token.start;
    object["end"] = token.end;
    out << std::exchange(separator, ",") << json_line(object);
  }
  out << ']';
}

nlohmann::ordered_json guesses_json(const model::Tokenizer& tokenizer,
                                    std::span<const model::Guess> guesses) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const model::Guess& guess : guesses) {
    nlohmann::ordered_json object = token_json(guess.id, tokenizer.bytes(guess.id));
    object["logit"] = guess.logit;
    object["probability"] = guess.probability;
    array.push_back(std::move(object));
  }
  return array;
}

TokenChoice token_of(const model::Tokenizer& tokenizer, const std::string& text, const char* option) {
  int id = 0;
  const char* const end = text.data() + text.size();
  if (const auto [rest, error] = std::from_chars(text.data(), end, id); error == std::errc() && rest == end)
    return TokenChoice::of(id);
  const std::vector<model::Token> tokens = tokenizer.encode(text);
  if (tokens.size() == 1) return TokenChoice::of(tokens[0].id);
  std::string parts;
  for (const model::Token& token : tokens)
    parts += (parts.empty() ? "" : ", ") + model::quote(std::string(tokenizer.bytes(token.id)));
  throw model::RunError(std::string(option) + " takes one token; " + model::quote(text) + " is " +
                        std::to_string(tokens.size()) + ": " + parts);
}

double printable(double number) {
  return std::isnan(number) ? std::abs(number) : number;
}

}  // namespace headscope::app
