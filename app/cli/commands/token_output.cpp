#include "app/cli/commands/token_output.h"

#include <ostream>

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

}  // namespace headscope::app
