#include "app/recipe/fields.h"

#include <cmath>
#include <cstdint>

#include "app/text/json_text.h"
#include "model/files/error.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

using nlohmann::json;

std::string range(long long low, long long high) {
  return " from " + std::to_string(low) + " to " + std::to_string(high);
}

std::optional<int> whole_in(const json& value, int low, int high) {
  if (!value.is_number_integer()) return std::nullopt;
  const auto number = value.get<double>();  // of any size
  if (!(number >= low && number <= high)) return std::nullopt;
  return value.get<int>();
}

}  // namespace

Fields::Fields(const json& object, std::string where, std::string path)
    : object_(object), where_(std::move(where)), path_(std::move(path)) {
  if (!object.is_object())
    throw model::LoadError(
        where_ + ": expected " +
        (path_.empty() ? "a JSON object" : path_.substr(0, path_.size() - 1) + " to be an object") +
        ", found " + object.type_name());
}

void Fields::refuse(const char* key, const std::string& expected) const {
  const json* value = find(key);
  const bool brief = value != nullptr && value->is_primitive();
  throw model::LoadError(where_ + ": expected " + path_ + key + " to be " + expected + ", found " +
                         (value == nullptr ? "none"
                          : brief          ? model::quote(value->dump(-1, ' ', true))
                                           : value->type_name()));
}

const json* Fields::find(const char* key) const {
  const auto at = object_.find(key);
  return at == object_.end() ? nullptr : &*at;
}

void Fields::flag(const char* key, bool& out) const {
  const json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) refuse(key, "true or false");
  out = value->get<bool>();
}

void Fields::whole(const char* key, int low, int high, int& out) const {
  const json* value = find(key);
  if (value == nullptr) return;
  const auto number = whole_in(*value, low, high);
  if (!number) refuse(key, "a whole number" + range(low, high));
  out = *number;
}

void Fields::number(const char* key, float low, float high, float& out) const {
  const json* value = find(key);
  if (value == nullptr) return;
  const double number = value->is_number() ? value->get<double>() : std::nan("");
  if (!(number >= low && number <= high)) {
    json limits{low, high};
    refuse(key, "a number from " + limits[0].dump() + " to " + limits[1].dump());
  }
  out = static_cast<float>(number);
}

void Fields::bytes(const char* key, std::size_t most, std::string& out) const {
  const json* value = find(key);
  if (value == nullptr) return;
  auto found = bytes_from_json(*value);
  if (!found || found->size() > most)
    refuse(key, "text, or a list of bytes, of at most " + std::to_string(most) + " bytes");
  out = *std::move(found);
}

void Fields::wholes(const char* key, int low, std::size_t most, std::vector<int>& out) const {
  for (const json& value : list(key, most)) {
    const auto number = whole_in(value, low, INT32_MAX);
    if (!number) refuse(key, "a list of whole numbers from " + std::to_string(low));
    out.push_back(*number);
  }
}

std::optional<Fields> Fields::object(const char* key) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  return Fields(*value, where_, path_ + key + ".");
}

const json::array_t& Fields::list(const char* key, std::size_t most) const {
  static const json::array_t kNone;
  const json* value = find(key);
  if (value == nullptr) return kNone;
  if (!value->is_array() || value->size() > most) refuse(key, "a list of at most " + std::to_string(most));
  return value->get_ref<const json::array_t&>();
}

Fields Fields::element(const char* key, std::size_t index, const json& value) const {
  return Fields(value, where_, path_ + key + "[" + std::to_string(index) + "].");
}

}  // namespace headscope::app
