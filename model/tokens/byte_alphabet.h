#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace headscope::model {

/// GPT-2's files write tokens as text although tokens are bytes: every byte has a printable character of its
/// own
/// (`bytes_to_unicode` of the published `encoder.py`; the space is `Ġ`, the newline `Ċ`).

/// The bytes that a token's name in `vocab.json` stands for; nothing when it has a character outside the
/// alphabet.
std::optional<std::string> bytes_of_name(std::string_view name);

/// The name, in UTF-8, of the token that is this one byte.
std::string name_of_byte(unsigned char byte);

}  // namespace headscope::model
