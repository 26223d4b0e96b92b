#pragma once
#include <cstddef>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "app/run/named.h"
#include "app/text/json_text.h"
#include "model/files/error.h"
#include "model/files/json.h"
#include "system/path_text.h"

namespace headscope::app {

/// The fields of a JSON object, read or written: one function declares an object's keys for both.
///
///   void describe(Fields& form, PaneSizes& panes) {
///     form.field("left", panes.left, 0.F, kWidest);
///     ...
///
/// Their types say how they are written: numbers, texts of any bytes, lists, optional values, and objects
/// that have a `describe` of their own. What is as in a new object is not written. What is read is untrusted:
/// a value of the wrong type or out of range throws model::LoadError, one sentence with the file and the key.
class Fields {
 public:
  /// Reads. `where` begins every sentence, `path` every key ("figure."). With `unusable`, nothing throws: an
  /// invalid value keeps its default, and its key is appended there.
  Fields(const nlohmann::json& object, std::string where, std::string* unusable = nullptr,
         std::string path = {})
      : object_(&object), where_(std::move(where)), path_(std::move(path)), unusable_(unusable) {
    if (!object.is_object()) model::reject_value(where_, "a JSON object", object);
  }
  /// Writes an object.
  template <class T>
  static nlohmann::ordered_json written(const T& value) {
    static const nlohmann::ordered_json kDefaults = all_of(T{});
    nlohmann::ordered_json differing = nlohmann::ordered_json::object(), all = all_of(value);
    for (const auto& [key, field] : all.items())
      if (field != kDefaults.at(key)) differing[key] = std::move(field);
    return differing;
  }

  template <class T>
  void field(const std::string& key, T& value) {
    if (object_ == nullptr) {
      written_[key] = json_of(value);
    } else if (object_->contains(key))
      try {
        T found{};
        get(path_ + key, object_->at(key), found);
        value = std::move(found);
      } catch (const model::LoadError&) {
        if (unusable_ == nullptr) throw;
        reject(key, "");
      }
  }
  /// What is `expected`, for which `fits` is true.
  template <class T, class Fits>
  void field(const std::string& key, T& value, const Fits& fits, const std::string& expected) {
    T found = value;
    field(key, found);
    if (fits(found))
      value = std::move(found);
    else
      reject(key, expected);
  }
  template <class T>
  void field(const std::string& key, T& value, T low, T high) {
    field(
        key, value, [&](T number) { return number >= low && number <= high; },
        "a number from " + nlohmann::json(low).dump() + " to " + nlohmann::json(high).dump());
  }
  /// One of the names in a table.
  template <class T, std::size_t kCount>
  void field(const std::string& key, T& value, const Named<T> (&all)[kCount]) {
    std::string name(name_of(all, value)), names = "one of";
    field(key, name);
    for (const Named<T>& row : all) {
      if (row.name == name) return void(value = row.value);
      names.append(&row == all ? " " : ", ").append(row.name);
    }
    reject(key, names);
  }

  /// Says that the value that was read should be `expected`.
  void reject(const std::string& key, const std::string& expected) const {
    if (object_ == nullptr) return;
    if (unusable_ != nullptr)
      *unusable_ += (unusable_->empty() ? "" : ", ") + path_ + key;
    else
      require(false, path_ + key, expected, object_->contains(key) ? object_->at(key) : nlohmann::json());
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 20;  // bytes of a text, values of a list

  const nlohmann::json* object_ = nullptr;
  nlohmann::ordered_json written_ = nlohmann::ordered_json::object();
  std::string where_, path_;
  std::string* unusable_ = nullptr;

  Fields() = default;

  void require(bool is_expected, const std::string& path, const std::string& expected,
               const nlohmann::json& found) const {
    if (!is_expected) model::reject_value(where_, path + " to be " + expected, found);
  }

  template <class T>
  static nlohmann::ordered_json all_of(T value) {
    Fields form;
    describe(form, value);
    return std::move(form.written_);
  }

  template <class T>
  static nlohmann::ordered_json json_of(const T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      return value;
    } else if constexpr (std::is_same_v<T, std::string>) {
      return bytes_to_json(value);
    } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
      return bytes_to_json(system::text_of(value));
    } else if constexpr (requires { value.has_value(); }) {
      return value ? json_of(*value) : nlohmann::ordered_json();
    } else if constexpr (requires { value.size(); }) {
      auto list = nlohmann::ordered_json::array();
      for (const auto& one : value) list.push_back(json_of(one));
      return list;
    } else {
      return written(value);
    }
  }

  template <class T>
  void get(const std::string& path, const nlohmann::json& found, T& value) const {
    if constexpr (std::is_same_v<T, bool>) {
      require(found.is_boolean(), path, "true or false", found);
      value = found.get<bool>();
    } else if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      const double wide = found.is_number_integer() ? found.get<double>() : Limits::max() + 1.0;
      require(wide >= Limits::min() && wide <= Limits::max(), path, "a whole number", found);
      value = found.get<T>();
    } else if constexpr (std::is_floating_point_v<T>) {  // null: not a number
      require(found.is_number() || found.is_null(), path, "a number", found);
      value = found.is_null() ? std::numeric_limits<T>::quiet_NaN() : found.get<T>();
    } else if constexpr (std::is_same_v<T, std::string>) {
      const auto bytes = bytes_from_json(found);
      require(bytes && bytes->size() <= kMost, path, "text, or a list of bytes", found);
      value = *bytes;
    } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
      std::string name;
      get(path, found, name);
      value = system::path_of(name);
    } else if constexpr (requires { value.has_value(); }) {
      if (!found.is_null()) get(path, found, value.emplace());
    } else if constexpr (requires { value.size(); }) {
      require(found.is_array() && found.size() <= kMost, path, "a list", found);
      for (const nlohmann::json& one : found)
        get(path + "[" + std::to_string(value.size()) + "]", one, value.emplace_back());
    } else {
      require(found.is_object(), path, "an object", found);
      Fields part(found, where_, unusable_, path + ".");
      describe(part, value);
    }
  }
};

}  // namespace headscope::app
