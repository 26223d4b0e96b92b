#pragma once
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "app/run/analyses/attribution.h"
#include "model/pass/transformer.h"
#include "model/tokens/tokenizer.h"

namespace headscope::app {

/// `"tokens":[{"id":..,"text":..,"bytes":[..],"start":..,"end":..},..]`, written token by token.
void write_tokens_json(const model::Tokenizer& tokenizer, std::span<const model::Token> tokens,
                       std::ostream& out);

/// `[{"id":..,"text":..,"bytes":[..],"logit":..,"probability":..},..]`; what is not finite is null.
nlohmann::ordered_json guesses_json(const model::Tokenizer& tokenizer, std::span<const model::Guess> guesses);

/// A token by its id in digits, or else by its text, which must be one token. Throws model::RunError that
/// begins with the option.
TokenChoice token_of(const model::Tokenizer& tokenizer, const std::string& text, const char* option);

/// For printf, which writes the sign of a NaN, which means nothing.
double printable(double number);

}  // namespace headscope::app
