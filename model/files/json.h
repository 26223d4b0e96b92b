#pragma once
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <string_view>

namespace headscope::model {

/// What a JSON text may hold.
struct JsonLimits {
  int depth = 32;
  std::size_t values = std::size_t{1} << 22;  ///< the vocabulary and the merges of a million tokens fit
  std::stop_token stop = {};                  ///< polled at each value; parsing then throws Stopped
};

/// Parses JSON from an untrusted file in one pass, with one step for each value and key. `where` is named in
/// messages. Throws LoadError for text that is not JSON (with the place where it fails), for text beyond the
/// limits, and for duplicate keys of an object. Does not recurse. `Json`: or nlohmann::ordered_json, which
/// keeps the order of members.
template <class Json = nlohmann::json>
Json parse_json(std::string_view text, const std::string& where, const JsonLimits& limits = {});

}  // namespace headscope::model
