#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace headscope::model {

/// Parses JSON from an untrusted file. `where` is named in messages. Throws LoadError for text that is not
/// JSON (with the place where it fails), for objects and arrays nested deeper than `max_depth`, and for
/// duplicate keys of an object. Does not recurse.
nlohmann::json parse_json(std::string_view text, const std::string& where, int max_depth = 32);

}  // namespace headscope::model
