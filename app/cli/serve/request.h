#pragma once
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

}  // namespace headscope::app
