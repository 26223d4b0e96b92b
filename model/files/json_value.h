#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace headscope::model {

/// The member of an object; null if it is missing or null, or if the value is no object.
const nlohmann::json& member(const nlohmann::json& object, std::string_view key);

/// A value in a message: a text in quotes, a number, "an object"; "none" for null.
std::string described(const nlohmann::json& value);

/// The same as reject for a value that was found.
[[noreturn]] void reject_value(const std::string& where, const std::string& expected,
                               const nlohmann::json& found);

}  // namespace headscope::model
