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

/// The member of an object; null if it is missing or null, or if the value is no object.
const nlohmann::json& member(const nlohmann::json& object, std::string_view key);

/// A value in a message: a text in quotes, a number, "an object"; "none" for null.
std::string described(const nlohmann::json& value);

/// The same as reject for a value that was found.
[[noreturn]] void reject_value(const std::string& where, const std::string& expected,
                               const nlohmann::json& found);

}  // namespace headscope::model
