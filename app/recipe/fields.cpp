#include "app/recipe/fields.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "app/text/json_text.h"
#include "model/files/error.h"
#include "model/files/quote.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxPathBytes = 4096, kMaxOptionBytes = 4096;

std::optional<int> whole_in(const json& value, int low, int high) {
  if (!value.is_number_integer()) return std::nullopt;
  const auto number = value.get<double>();  // may be out of the range of int
  if (!(number >= low && number <= high)) return std::nullopt;
  return value.get<int>();
}

std::optional<std::string> bytes_in(const json& value, std::size_t most) {
  auto bytes = bytes_from_json(value);
  if (bytes && bytes->size() > most) bytes.reset();
  return bytes;
}

template <class Value>
json json_of(const Value& value) {
  if constexpr (std::is_same_v<Value, std::string>)
    return bytes_to_json(value);
  else
    return value;
}

}  // namespace

Fields::Fields(const json& object, std::string where, std::string path, std::string* unusable)
    : object_(&object), where_(std::move(where)), path_(std::move(path)), unusable_(unusable) {
  if (!object.is_object())
    throw model::LoadError(
        where_ + ": expected " +
        (path_.empty() ? "a JSON object" : path_.substr(0, path_.size() - 1) + " to be an object") +
        ", found " + object.type_name());
}

void Fields::reject(const char* key, const std::string& expected) const {
  if (!reads()) return;
  if (unusable_ != nullptr) {
    *unusable_ += (unusable_->empty() ? "" : ", ") + std::string(key);
    return;
  }
  const json* value = find(key);
  const bool brief = value != nullptr && value->is_primitive();
  throw model::LoadError(where_ + ": expected " + path_ + key + " to be " + expected + ", found " +
                         (value == nullptr ? "none"
                          : brief          ? model::quote(value->dump(-1, ' ', true))
                                           : value->type_name()));
}

const json* Fields::find(const char* key) const {
  const auto at = object_->find(key);
  return at == object_->end() ? nullptr : &*at;
}

/// `from`: what a value that is read means; nothing if that is not what is expected.
template <class Value, class From>
void Fields::field(const char* key, Value& value, const std::string& expected, const From& from) {
  if (!reads()) {
    written_[key] = json_of(value);
  } else if (const json* found = find(key)) {
    if (auto read = from(*found))
      value = *std::move(read);
    else
      reject(key, expected);
  }
}

/// The same for a list; elements that can be read are appended, even if others cannot.
template <class Value, class From>
void Fields::items(const char* key, std::size_t most, std::vector<Value>& values, const std::string& expected,
                   const From& from) {
  if (!reads()) {
    auto& list = written_[key] = nlohmann::ordered_json::array();
    for (const Value& value : values) list.push_back(nlohmann::ordered_json(json_of(value)));
    return;
  }
  bool all = true;
  for (const json& found : elements(key, most)) {
    auto read = from(found);
    all = all && read;
    if (read) values.push_back(*std::move(read));
  }
  if (!all) reject(key, "a list of " + expected);
}

void Fields::flag(const char* key, bool& value) {
  field(key, value, "true or false", [](const json& found) {
    return found.is_boolean() ? std::optional(found.get<bool>()) : std::nullopt;
  });
}

void Fields::whole(const char* key, int low, int high, int& value) {
  field(key, value, "a whole number from " + std::to_string(low) + " to " + std::to_string(high),
        [&](const json& found) { return whole_in(found, low, high); });
}

void Fields::number(const char* key, float low, float high, float& value) {
  field(key, value, "a number from " + json(low).dump() + " to " + json(high).dump(), [&](const json& found) {
    const double number = found.is_number() ? found.get<double>() : std::nan("");
    return number >= low && number <= high ? std::optional(static_cast<float>(number)) : std::nullopt;
  });
}

void Fields::bytes(const char* key, std::string& value, std::size_t most) {
  field(key, value, "text, or a list of bytes, of at most " + std::to_string(most) + " bytes",
        [&](const json& found) { return bytes_in(found, most); });
}

void Fields::path(const char* key, std::filesystem::path& value) {
  std::string name = system::text_of(value);
  bytes(key, name, kMaxPathBytes);
  value = system::path_of(name);
}

void Fields::integers(const char* key, int low, std::size_t most, std::vector<int>& values) {
  items(key, most, values, "whole numbers from " + std::to_string(low),
        [&](const json& found) { return whole_in(found, low, std::numeric_limits<int>::max()); });
}

void Fields::shares(const char* key, std::size_t count, std::vector<double>& values) {
  items(key, count, values, "numbers from 0 to 1, or nulls", [](const json& found) {
    const double share = found.is_number() ? found.get<double>() : std::numeric_limits<double>::quiet_NaN();
    return found.is_null() || (share >= 0 && share <= 1) ? std::optional(share) : std::nullopt;
  });
  if (values.size() != count)
    reject(key, "a list of " + std::to_string(count) + ", one for each id after `begun`");
}

void Fields::texts(const char* key, std::size_t most, std::vector<std::string>& values) {
  items(key, most, values, "texts", [](const json& found) { return bytes_from_json(found); });
}

void Fields::options(const char* key, Options& value, std::vector<std::string>& unknown) {
  if (!reads()) {
    auto& object = written_[key] = nlohmann::ordered_json::object();
    for (const OptionSpec* option : all_options())
      if (value.value(*option) != option->default_value)
        object[std::string(option->name)] = bytes_to_json(to_text(*option, value.value(*option)));
    return;
  }
  const json* found = find(key);
  if (found == nullptr) return;
  if (!found->is_object()) return reject(key, "an object");
  std::string unusable;
  const Fields part(*found, where_, path_ + key + ".", unusable_ == nullptr ? nullptr : &unusable);
  for (const auto& [name, written] : found->items()) {
    const OptionSpec* option = find_option(name);
    if (option == nullptr) {
      unknown.push_back(name);
      continue;
    }
    try {
      const auto text = bytes_in(written, kMaxOptionBytes);
      if (!text) throw std::invalid_argument(name);
      value.set(*option, parse_option(*option, *text));
    } catch (const std::invalid_argument&) {
      part.reject(name.c_str(), values_of(*option));
    }
  }
  if (!unusable.empty()) reject(key, "options");
}

const json::array_t& Fields::elements(const char* key, std::size_t most) const {
  static const json::array_t kNone;
  const json* value = find(key);
  if (value == nullptr) return kNone;
  if (value->is_array() && value->size() <= most) return value->get_ref<const json::array_t&>();
  reject(key, "a list of at most " + std::to_string(most));
  return kNone;
}

}  // namespace headscope::app
