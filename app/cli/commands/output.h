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

// Output functions shared by the commands.

using Json = nlohmann::ordered_json;

/// Drops the sign of a NaN, which printf would write.
double printable(double number);

/// "logit of it", or "logit of it minus that" if there is a second token (`against` is not -1).
std::string logit_name(const model::Tokenizer& tokenizer, int token, int against);

struct NamedNumber {
  double number = 0;
  std::string name;
};

/// Writes a line for each number, largest magnitude first. `pattern` is a printf format for the number.
void write_by_size(std::vector<NamedNumber> lines, const char* pattern, std::ostream& out);

/// `"tokens":[{"id":..,"text":..,"bytes":[..],"start":..,"end":..},..]`, written token by token.
void write_tokens_json(const model::Tokenizer& tokenizer, std::span<const model::Token> tokens,
                       std::ostream& out);

/// Writes one line: an object with the tokens, then the keys of `rest`.
void write_json_line(const model::Tokenizer& tokenizer, std::span<const model::Token> tokens,
                     const Json& rest, std::ostream& out);

/// As token_json; null if there is no token (id -1).
Json token_or_null(const model::Tokenizer& tokenizer, int id);

/// `[{"id":..,"text":..,"bytes":[..],"logit":..,"probability":..},..]`; numbers that are not finite are null.
Json guesses_json(const model::Tokenizer& tokenizer, std::span<const model::Guess> guesses);

/// A token by its id in digits, else by its text, which must be a single token; `default_` if the text is
/// empty. Throws model::RunError that begins with the option.
TokenChoice token_of(const model::Tokenizer& tokenizer, const std::string& text, const char* option,
                     TokenChoice default_);

}  // namespace headscope::app
