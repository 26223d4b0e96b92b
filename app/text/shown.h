#pragma once
#include <string>
#include <string_view>

namespace headscope::app {

/// A text that nobody vouches for (a name out of a file, a server's words), fit for a terminal: bytes that
/// are no UTF-8 and characters that a terminal obeys (C0, DEL, C1, changes of direction) as `\x1b`, byte for
/// byte, all else as it is. `but`: control characters that stay, like "\n".
std::string shown(std::string_view text, std::string_view but = "");

/// How many bytes at the end of a text may be the beginning of a character whose rest is still to come.
std::size_t unfinished(std::string_view text);

}  // namespace headscope::app
