#include "app/cli/commands/token_output.h"

#include <cmath>
#include <ostream>
#include <utility>

#include "app/text/json_text.h"

namespace headscope::app {

void write_tokens_json(const model::Tokenizer& tokenizer, std::span<const model::Token> tokens,
                       std::ostream& out) {
  out << "\"tokens\":[";
  const char* separator = "";
  for (const model::Token& token : tokens) {
    nlohmann::ordered_json object = token_json(token.id, tokenizer.bytes(token.id));
    object["start"] = token.start;
    object["end"] = token.end;
    out << std::exchange(separator, ",") << object.dump();
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

double printable(double number) {
  return std::isnan(number) ? std::abs(number) : number;
}

}  // namespace headscope::app
