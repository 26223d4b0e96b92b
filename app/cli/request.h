#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/standard_streams.h"

namespace headscope::app {

/// What a line asks `headscope serve` for.
struct Request {
  nlohmann::ordered_json id = nullptr;
  std::vector<std::string> args;
  std::optional<std::string> input;  ///< what the command reads from standard input, any bytes
};

/// Reads a line of JSON: {"id": …, "args": ["lens", "--prompt", "Once"], "input": "…"}, or "input_base64" for
/// bytes that are no text. Throws UsageError; the id is then that of the request, unless the line is no JSON
/// object.
void read_request(const InputLine& line, Request& request);

}  // namespace headscope::app
