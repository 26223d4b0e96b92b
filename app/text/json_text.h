#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace headscope::app {

/// Whether bytes are well-formed UTF-8 (no surrogates, no overlong forms; Unicode 15, table 3-7).
bool is_utf8(std::string_view bytes);

/// The text of bytes, with U+FFFD for each maximal invalid part (Unicode 15, section 3.9; like Python's
/// `errors="replace"`).
std::string utf8_or_replacement(std::string_view bytes);

/// Any bytes in JSON: a string if they are UTF-8, else an array of numbers.
nlohmann::json bytes_to_json(std::string_view bytes);
/// The inverse of bytes_to_json; nothing for any other value.
std::optional<std::string> bytes_from_json(const nlohmann::json& value);

/// JSON in one line for standard output. Control characters in strings are escaped, DEL and C1 too, so that a
/// terminal does not obey them.
std::string json_line(const nlohmann::ordered_json& value);

/// {"id": ..., "text": ..., "bytes": [...]}, as every token has them on standard output.
nlohmann::ordered_json token_json(int id, std::string_view bytes);

}  // namespace headscope::app
