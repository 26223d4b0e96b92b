#pragma once
#include <string>
#include <string_view>

namespace headscope::app {

/// Makes an untrusted text (a name from a file, a server's message) safe for a terminal: invalid UTF-8 and
/// characters that control a terminal (C0, DEL, C1, text direction) are escaped byte by byte as `\x1b`,
/// everything else is unchanged. `but`: control characters to keep, such as "\n".
std::string terminal_safe(std::string_view text, std::string_view but = "");

/// The columns that a text takes in a terminal, as far as that can be known: two of a wide character, none of
/// a combining one.
std::size_t terminal_width(std::string_view text);

/// The number of bytes at the end of a text that may be the start of an incomplete character.
std::size_t incomplete_tail(std::string_view text);

}  // namespace headscope::app
