#pragma once
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/run/named.h"
#include "app/views/option.h"
#include "system/path_text.h"

namespace headscope::app {

// The fields of a JSON object. FieldReader and FieldWriter have the same members, so that one function
// declares an object's keys for both directions:
//
//   void describe(auto& form, auto& panes) {
//     form.number("left", 0, kWidest, panes.heads);
//     ...

/// Reads an untrusted object. A missing field keeps its default; a value of the wrong type or out of range
/// throws model::LoadError: one sentence with the file, the key, what was expected and what was found.
class FieldReader {
 public:
  static constexpr bool kReads = true;

  /// `where` begins every sentence, `path` every key ("figure."). With `unusable`, nothing throws: an invalid
  /// value keeps its default, and its key is appended there.
  FieldReader(const nlohmann::json& object, std::string where, std::string path = {},
              std::string* unusable = nullptr);

  void flag(const char* key, bool& out) const;
  void flag(const char* key, std::optional<bool>& out) const { flag(key, out.emplace(out.value_or(false))); }
  /// Not written if false.
  void flag_if_any(const char* key, bool& out) const { flag(key, out); }
  void whole(const char* key, int low, int high, int& out) const;
  void number(const char* key, float low, float high, float& out) const;
  /// Any bytes, at most `most`.
  void bytes(const char* key, std::size_t most, std::string& out) const;
  /// The same; not written if empty.
  void bytes_if_any(const char* key, std::size_t most, std::string& out) const { bytes(key, most, out); }
  void path(const char* key, std::size_t most, std::filesystem::path& out) const;
  void integers(const char* key, int low, std::size_t most, std::vector<int>& out) const;
  /// `count` numbers in [0, 1]; null means NaN.
  void shares(const char* key, std::size_t count, std::vector<double>& out) const;
  template <class Value, std::size_t kCount>
  void one_of(const char* key, const Named<Value> (&all)[kCount], Value& out) const {
    take(key, [&](const nlohmann::json& value) {
      std::string names;
      for (const Named<Value>& row : all) {
        if (value == row.name) return void(out = row.value);
        names += (names.empty() ? "" : ", ") + std::string(row.name);
      }
      reject(key, "one of " + names);
    });
  }
  /// Options of views by name. Unknown names are appended to `unknown`.
  void options(const char* key, Options& out, std::vector<std::string>& unknown) const;

  /// A nested object; `describe(form, value)` declares its fields.
  template <class Value, class Describe>
  void object(const char* key, Value& value, const Describe& describe) const {
    if (const nlohmann::json* found = find(key)) {
      FieldReader part(*found, where_, path_ + key + ".", unusable_);
      describe(part, value);
    }
  }
  template <class Value, class Describe>
  void optional(const char* key, std::optional<Value>& out, const Describe& describe) const {
    if (find(key) == nullptr) return;
    Value value;
    object(key, value, describe);
    out = std::move(value);
  }
  /// At most `most` objects; an empty list is not written.
  template <class Value, class Describe>
  void list(const char* key, std::size_t most, std::vector<Value>& out, const Describe& describe) const {
    for (const nlohmann::json& value : elements(key, most)) {
      FieldReader part(value, where_, path_ + key + "[" + std::to_string(out.size()) + "].", unusable_);
      describe(part, out.emplace_back());
    }
  }

  bool has(const char* key) const { return find(key) != nullptr; }
  /// The elements of a list of texts of any bytes; nothing for an element that is not a text.
  std::vector<std::optional<std::string>> texts(const char* key, std::size_t most) const;
  void add_unusable_key(const char* key) const;
  /// Throws an error: `key` should be `expected`.
  [[noreturn]] void reject(const char* key, const std::string& expected) const;

 private:
  const nlohmann::json& object_;
  std::string where_, path_;
  std::string* unusable_;

  const nlohmann::json* find(const char* key) const;
  const nlohmann::json::array_t& elements(const char* key, std::size_t most) const;
  template <class Take>
  void take(const char* key, const Take& use) const {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return;
    if (unusable_ == nullptr) return use(*value);
    try {
      use(*value);
    } catch (const std::exception&) {
      add_unusable_key(key);
    }
  }
};

/// Writes the object that FieldReader reads, with keys in the order of the calls.
class FieldWriter {
 public:
  static constexpr bool kReads = false;

  void flag(const char* key, bool value) { object_[key] = value; }
  void flag(const char* key, std::optional<bool> value) { flag(key, value.value_or(false)); }
  void flag_if_any(const char* key, bool value) {
    if (value) flag(key, value);
  }
  void whole(const char* key, int, int, int value) { object_[key] = value; }
  void number(const char* key, float, float, float value) { object_[key] = value; }
  void bytes(const char* key, std::size_t, std::string_view value);
  void bytes_if_any(const char* key, std::size_t most, std::string_view value) {
    if (!value.empty()) bytes(key, most, value);
  }
  void path(const char* key, std::size_t most, const std::filesystem::path& value) {
    bytes(key, most, system::text_of(value));
  }
  void integers(const char* key, int, std::size_t, const std::vector<int>& value) { object_[key] = value; }
  void shares(const char* key, std::size_t, const std::vector<double>& value) { object_[key] = value; }
  template <class Value, std::size_t kCount>
  void one_of(const char* key, const Named<Value> (&all)[kCount], const Value& value) {
    object_[key] = name_of(all, value);
  }
  void options(const char* key, const Options& value, const std::vector<std::string>&);
  template <class Value, class Describe>
  void object(const char* key, const Value& value, const Describe& describe) {
    FieldWriter part;
    describe(part, value);
    object_[key] = std::move(part.object_);
  }
  template <class Value, class Describe>
  void optional(const char* key, const std::optional<Value>& value, const Describe& describe) {
    if (value) object(key, *value, describe);
  }
  template <class Value, class Describe>
  void list(const char* key, std::size_t, const std::vector<Value>& values, const Describe& describe) {
    for (const Value& value : values) {
      FieldWriter part;
      describe(part, value);
      object_[key].push_back(std::move(part.object_));
    }
  }
  void reject(const char*, const std::string&) const {}  ///< values to write are valid already

  void texts(const char* key, const std::vector<std::string>& values);

  nlohmann::ordered_json take() { return std::move(object_); }

 private:
  nlohmann::ordered_json object_ = nlohmann::ordered_json::object();
};

}  // namespace headscope::app
