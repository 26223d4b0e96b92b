#pragma once
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "app/cli/commands/engine.h"
#include "app/text/json_text.h"
#include "app/text/terminal_text.h"
#include "app/views/parts/names.h"
#include "viz/text/text.h"

namespace headscope::app {

// What the commands write with.

using Json = nlohmann::ordered_json;

/// For printf, which writes the sign of a NaN, which means nothing.
double printable(double number);

/// "logit of it", or "logit of it minus that" where there is another token (not id -1).
std::string logit_name(const model::Tokenizer& tokenizer, int token, int against);

struct NamedNumber {
  double number = 0;
  std::string name;
};

/// A line of each, the largest of either sign first. `pattern` is printf's, of the number.
void write_by_size(std::vector<NamedNumber> lines, const char* pattern, std::ostream& out);

/// `"tokens":[{"id":..,"text":..,"bytes":[..],"start":..,"end":..},..]`, written token by token.
void write_tokens_json(const model::Tokenizer& tokenizer, std::span<const model::Token> tokens,
                       std::ostream& out);

/// One line: an object with those, then the keys of `rest`.
void write_json_line(const model::Tokenizer& tokenizer, std::span<const model::Token> tokens,
                     const Json& rest, std::ostream& out);

/// As token_json; null where there is no token (id -1).
Json token_or_null(const model::Tokenizer& tokenizer, int id);

/// `[{"id":..,"text":..,"bytes":[..],"logit":..,"probability":..},..]`; what is not finite is null.
Json guesses_json(const model::Tokenizer& tokenizer, std::span<const model::Guess> guesses);

/// A token by its id in digits, or else by its text, which must be one token; `default_` for no text. Throws
/// model::RunError that begins with the option.
TokenChoice token_of(const model::Tokenizer& tokenizer, const std::string& text, const char* option,
                     TokenChoice default_);

}  // namespace headscope::app
