#pragma once
#include <iosfwd>
#include <span>

#include "model/tokenizer.h"

namespace headscope::app {

/// `"tokens":[{"id":..,"text":..,"bytes":[..],"start":..,"end":..},..]`, written token by token.
void write_tokens_json(const model::Tokenizer& tokenizer, std::span<const model::Token> tokens,
                       std::ostream& out);

}  // namespace headscope::app
