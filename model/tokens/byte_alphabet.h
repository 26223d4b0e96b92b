#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace headscope::model {

/// GPT-2's files write tokens as text although tokens are bytes: every byte is represented by a printable
/// character (`bytes_to_unicode` in the published `encoder.py`; the space is `Ġ`, the newline `Ċ`).

/// The bytes of a token, from its name in `vocab.json`; nothing if a character is outside the alphabet.
std::optional<std::string> bytes_of_name(std::string_view name);

/// The name, in UTF-8, of the token for a single byte.
std::string name_of_byte(unsigned char byte);

}  // namespace headscope::model
