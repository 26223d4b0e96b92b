#pragma once
#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/arguments/words.h"

namespace headscope::app {

/// What a line asks the program for.
struct Request {
  std::string id = "null";           ///< JSON that the answer has, too: a text, a whole number or null
  std::vector<std::string> words;    ///< the command and what follows it, as on the command line
  std::vector<NamedOption> options;  ///< come after the words
  std::optional<std::string> input;  ///< what the command reads from standard input, any bytes
};

/// Reads a line of JSON: an object with `command` (a text, or a list of texts: the command and the words
/// after it) and perhaps `id`, `options` (an object: each option's value by its name) and `input` (a text) or
/// `input_base64`. Throws UsageError; the id is then that of the request, unless the line is no JSON object.
void read_request(std::string_view line, Request& request);

/// A line without its end.
struct RequestLine {
  std::string text;
  bool too_long = false;  ///< it was longer than the limit, and the text is its beginning
};

/// Longer lines are cut: parsing JSON takes many times its size, and a sender without line breaks must
/// not take all memory.
inline constexpr std::size_t kMaxRequestBytes = std::size_t{8} << 20;

/// Reads the next line; nothing at the end. A last line without its end counts. Throws like the stream's
/// buffer.
std::optional<RequestLine> next_request_line(std::istream& in, std::size_t limit = kMaxRequestBytes);

}  // namespace headscope::app
