#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace headscope::model {

/// Parses JSON out of a file that nobody vouches for. `where` is named in messages.
/// Throws LoadError for text that is no JSON (with the byte where it stops being any), for objects and arrays
/// nested deeper than `max_depth`, and for a key that an object has twice. Does not recurse.
nlohmann::json parse_json(std::string_view text, const std::string& where, int max_depth = 32);

}  // namespace headscope::model
