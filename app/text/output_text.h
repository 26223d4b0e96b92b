#pragma once
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

// Texts of any bytes for a terminal and in JSON.
namespace headscope::app {

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

/// Makes an untrusted text (a name from a file, a server's message) safe for a terminal: invalid UTF-8 and
/// characters that control a terminal (C0, DEL, C1, text direction) are escaped byte by byte as `\x1b`,
/// everything else is unchanged. `but`: control characters to keep, such as "\n".
std::string terminal_safe(std::string_view text, std::string_view but = "");

/// The columns that a text takes in a terminal, as far as that can be known: two of a wide character, none of
/// a combining one.
std::size_t terminal_width(std::string_view text);

}  // namespace headscope::app
