#include "model/files/json_value.h"

#include <nlohmann/json.hpp>

#include "model/files/error.h"
#include "model/files/quote.h"

namespace headscope::model {

const nlohmann::json& member(const nlohmann::json& object, std::string_view key) {
  static const nlohmann::json kNull;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? kNull : *found;
}

std::string described(const nlohmann::json& value) {
  if (value.is_string()) return quote(value.get_ref<const std::string&>());
  if (value.is_structured()) return value.is_array() ? "an array" : "an object";
  return value.is_null() ? "none" : value.dump();
}

void reject_value(const std::string& where, const std::string& expected, const nlohmann::json& found) {
  reject(where, expected, described(found));
}

}  // namespace headscope::model
