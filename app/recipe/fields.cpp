#include "app/recipe/fields.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "app/text/json_text.h"
#include "app/views/view.h"
#include "model/files/error.h"
#include "model/files/quote.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxOptionBytes = 4096;

std::string range(long long low, long long high) {
  return " from " + std::to_string(low) + " to " + std::to_string(high);
}

std::optional<int> whole_in(const json& value, int low, int high) {
  if (!value.is_number_integer()) return std::nullopt;
  const auto number = value.get<double>();  // may be out of the range of int
  if (!(number >= low && number <= high)) return std::nullopt;
  return value.get<int>();
}

}  // namespace

FieldReader::FieldReader(const json& object, std::string where, std::string path, std::string* unusable)
    : object_(object), where_(std::move(where)), path_(std::move(path)), unusable_(unusable) {
  if (!object.is_object())
    throw model::LoadError(
        where_ + ": expected " +
        (path_.empty() ? "a JSON object" : path_.substr(0, path_.size() - 1) + " to be an object") +
        ", found " + object.type_name());
}

void FieldReader::reject(const char* key, const std::string& expected) const {
  const json* value = find(key);
  const bool brief = value != nullptr && value->is_primitive();
  throw model::LoadError(where_ + ": expected " + path_ + key + " to be " + expected + ", found " +
                         (value == nullptr ? "none"
                          : brief          ? model::quote(value->dump(-1, ' ', true))
                                           : value->type_name()));
}

const json* FieldReader::find(const char* key) const {
  const auto at = object_.find(key);
  return at == object_.end() ? nullptr : &*at;
}

void FieldReader::add_unusable_key(const char* key) const {
  *unusable_ += (unusable_->empty() ? "" : ", ") + std::string(key);
}

void FieldReader::flag(const char* key, bool& out) const {
  take(key, [&](const json& value) {
    if (!value.is_boolean()) reject(key, "true or false");
    out = value.get<bool>();
  });
}

void FieldReader::whole(const char* key, int low, int high, int& out) const {
  take(key, [&](const json& value) {
    const auto number = whole_in(value, low, high);
    if (!number) reject(key, "a whole number" + range(low, high));
    out = *number;
  });
}

void FieldReader::number(const char* key, float low, float high, float& out) const {
  take(key, [&](const json& value) {
    const double number = value.is_number() ? value.get<double>() : std::nan("");
    if (!(number >= low && number <= high)) {
      json limits{low, high};
      reject(key, "a number from " + limits[0].dump() + " to " + limits[1].dump());
    }
    out = static_cast<float>(number);
  });
}

void FieldReader::bytes(const char* key, std::size_t most, std::string& out) const {
  take(key, [&](const json& value) {
    auto found = bytes_from_json(value);
    if (!found || found->size() > most)
      reject(key, "text, or a list of bytes, of at most " + std::to_string(most) + " bytes");
    out = *std::move(found);
  });
}

void FieldReader::path(const char* key, std::size_t most, std::filesystem::path& out) const {
  std::string name = system::text_of(out);
  bytes(key, most, name);
  out = system::path_of(name);
}

void FieldReader::integers(const char* key, int low, std::size_t most, std::vector<int>& out) const {
  take(key, [&](const json&) {
    for (const json& value : elements(key, most)) {
      const auto number = whole_in(value, low, INT32_MAX);
      if (!number) reject(key, "a list of whole numbers from " + std::to_string(low));
      out.push_back(*number);
    }
  });
}

void FieldReader::shares(const char* key, std::size_t count, std::vector<double>& out) const {
  for (const json& value : elements(key, count)) {
    const double share = value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
    if (!value.is_null() && !(share >= 0 && share <= 1))
      reject(key, "a list of numbers from 0 to 1, or nulls");
    out.push_back(share);
  }
  if (out.size() != count)
    reject(key, "a list of " + std::to_string(count) + ", one for each id after `begun`");
}

void FieldReader::options(const char* key, Options& out, std::vector<std::string>& unknown) const {
  take(key, [&](const json& value) {
    std::string unusable;
    const FieldReader part(value, where_, path_ + key + ".", unusable_ == nullptr ? nullptr : &unusable);
    for (const auto& [name, written] : value.items()) {
      const OptionSpec* option = find_option(name);
      if (option == nullptr) {
        unknown.push_back(name);
        continue;
      }
      part.take(name.c_str(), [&](const json&) {
        std::string text;
        FieldReader(value, part.where_, part.path_).bytes(name.c_str(), kMaxOptionBytes, text);
        try {
          out.set(*option, parse_option(*option, text));
        } catch (const std::invalid_argument&) {
          part.reject(name.c_str(), values_of(*option));
        }
      });
    }
    if (!unusable.empty()) add_unusable_key(key);
  });
}

std::vector<std::optional<std::string>> FieldReader::texts(const char* key, std::size_t most) const {
  std::vector<std::optional<std::string>> texts;
  take(key, [&](const json&) {
    for (const json& value : elements(key, std::numeric_limits<std::size_t>::max())) {
      texts.push_back(bytes_from_json(value));
      if (texts.back() && texts.back()->size() > most) texts.back().reset();
    }
  });
  return texts;
}

const json::array_t& FieldReader::elements(const char* key, std::size_t most) const {
  static const json::array_t kNone;
  const json* value = find(key);
  if (value == nullptr) return kNone;
  if (!value->is_array() || value->size() > most) reject(key, "a list of at most " + std::to_string(most));
  return value->get_ref<const json::array_t&>();
}

void FieldWriter::bytes(const char* key, std::size_t, std::string_view value) {
  object_[key] = bytes_to_json(value);
}

void FieldWriter::texts(const char* key, const std::vector<std::string>& values) {
  object_[key] = nlohmann::ordered_json::array();
  for (const std::string& value : values)
    object_[key].push_back(nlohmann::ordered_json(bytes_to_json(value)));
}

void FieldWriter::options(const char* key, const Options& value, const std::vector<std::string>&) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const OptionSpec* option : all_options())
    if (value.value(*option) != option->default_value)
      object[std::string(option->name)] = to_text(*option, value.value(*option));
  object_[key] = std::move(object);
}

}  // namespace headscope::app
