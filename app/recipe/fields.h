#pragma once
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/named.h"
#include "app/views/option.h"
#include "app/views/view.h"

namespace headscope::app {

/// The fields of a JSON object, read or written: one function declares an object's keys for both.
///
///   void describe_panes(Fields& form, PaneSizes& panes) {
///     form.number("left", 0, kWidest, panes.heads);
///     ...
///
/// What is read is untrusted. A missing field keeps its default; a value of the wrong type or out of range
/// throws model::LoadError: one sentence with the file, the key, what was expected and what was found.
class Fields {
 public:
  static constexpr std::size_t kMaxNameBytes = 1024;

  /// Writes, with keys in the order of the calls.
  Fields() = default;
  /// Reads. `where` begins every sentence, `path` every key ("figure."). With `unusable`, nothing throws: an
  /// invalid value keeps its default, and its key is appended there.
  Fields(const nlohmann::json& object, std::string where, std::string path = {},
         std::string* unusable = nullptr);

  bool reads() const { return object_ != nullptr; }
  bool has(const char* key) const { return find(key) != nullptr; }  ///< of what is read
  nlohmann::ordered_json take() { return std::move(written_); }     ///< what was written

  void flag(const char* key, bool& value);
  void flag(const char* key, std::optional<bool>& value) { flag(key, value.emplace(value.value_or(false))); }
  /// Not written if false.
  void flag_if_any(const char* key, bool& value) {
    if (reads() || value) flag(key, value);
  }
  void whole(const char* key, int low, int high, int& value);
  void number(const char* key, float low, float high, float& value);
  /// Any bytes.
  void bytes(const char* key, std::string& value, std::size_t most = kMaxNameBytes);
  /// The same; not written if empty.
  void bytes_if_any(const char* key, std::string& value, std::size_t most = kMaxNameBytes) {
    if (reads() || !value.empty()) bytes(key, value, most);
  }
  void path(const char* key, std::filesystem::path& value);
  void integers(const char* key, int low, std::size_t most, std::vector<int>& values);
  /// `count` numbers in [0, 1]; null means NaN.
  void shares(const char* key, std::size_t count, std::vector<double>& values);
  /// Texts of any bytes. Those that can be read are appended, even if others cannot.
  void texts(const char* key, std::size_t most, std::vector<std::string>& values);
  template <class Value, std::size_t kCount>
  void one_of(const char* key, const Named<Value> (&all)[kCount], Value& value) {
    if (!reads()) return void(written_[key] = name_of(all, value));
    const nlohmann::json* found = find(key);
    if (found == nullptr) return;
    std::string names;
    for (const Named<Value>& row : all) {
      if (*found == row.name) return void(value = row.value);
      names += (names.empty() ? "" : ", ") + std::string(row.name);
    }
    reject(key, "one of " + names);
  }
  /// Options of views by name. Unknown names are appended to `unknown`.
  void options(const char* key, Options& value, std::vector<std::string>& unknown);

  /// A nested object; `describe` declares its fields.
  template <class Value, class Describe>
  void object(const char* key, Value& value, const Describe& describe) {
    if (!reads()) {
      Fields part;
      describe(part, value);
      written_[key] = part.take();
    } else if (const nlohmann::json* found = find(key)) {
      Fields part(*found, where_, path_ + key + ".", unusable_);
      describe(part, value);
    }
  }
  /// Whether there is a value to be read or written.
  template <class Value>
  bool given(const char* key, std::optional<Value>& value) const {
    if (reads() && has(key)) value.emplace();
    return value.has_value();
  }
  template <class Value, class Describe>
  void optional(const char* key, std::optional<Value>& value, const Describe& describe) {
    if (given(key, value)) object(key, *value, describe);
  }
  /// At most `most` objects; an empty list is not written.
  template <class Value, class Describe>
  void list(const char* key, std::size_t most, std::vector<Value>& values, const Describe& describe) {
    if (!reads()) {
      for (Value& value : values) {
        Fields part;
        describe(part, value);
        written_[key].push_back(part.take());
      }
      return;
    }
    for (const nlohmann::json& value : elements(key, most)) {
      Fields part(value, where_, path_ + key + "[" + std::to_string(values.size()) + "].", unusable_);
      describe(part, values.emplace_back());
    }
  }

  /// Says that the value to be read should be `expected`; see `unusable`. Values to be written are valid
  /// already.
  void reject(const char* key, const std::string& expected) const;

 private:
  const nlohmann::json* object_ = nullptr;  ///< null: it is written
  nlohmann::ordered_json written_ = nlohmann::ordered_json::object();
  std::string where_, path_;
  std::string* unusable_ = nullptr;

  const nlohmann::json* find(const char* key) const;
  const nlohmann::json::array_t& elements(const char* key, std::size_t most) const;
  template <class Value, class From>
  void field(const char* key, Value& value, const std::string& expected, const From& from);
  template <class Value, class From>
  void items(const char* key, std::size_t most, std::vector<Value>& values, const std::string& expected,
             const From& from);
};

void describe_selection(Fields& form, Selection& selection);

}  // namespace headscope::app
