#pragma once
#include <string>
#include <string_view>

namespace headscope::app {

/// An untrusted text (a name from a file, a server's message), safe for a terminal: bytes that are not UTF-8
/// and characters that a terminal obeys (C0, DEL, C1, text direction) as `\x1b`, byte by byte, everything
/// else unchanged. `but`: control characters to keep, like "\n".
std::string terminal_safe(std::string_view text, std::string_view but = "");

/// How many bytes at the end of a text may be the start of an incomplete character.
std::size_t incomplete_tail(std::string_view text);

}  // namespace headscope::app
