#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "app/run/named.h"
#include "app/text/json_text.h"
#include "model/files/error.h"

namespace headscope::app {

/// The fields of a flat JSON object, read or written: one function declares an object's keys for both.
///
///   void describe(Fields& form, PaneSizes& panes) {
///     form.number("left", panes.left, 0.F, kWidest);
///     ...
///
/// What is read is untrusted: a value that is not as expected leaves things as they are and is a problem.
class Fields {
 public:
  struct Problem {
    std::string key, expected;
    nlohmann::json found;
  };

  Fields() = default;                                                  ///< writes
  explicit Fields(const nlohmann::json& object) : object_(&object) {}  ///< reads

  /// The fields of a value that are not as in `without`.
  template <class T>
  static nlohmann::ordered_json written(T value, T without, void (*describe)(Fields&, T&)) {
    Fields form, defaults;
    describe(form, value), describe(defaults, without);
    auto fields = nlohmann::ordered_json::object();
    for (const auto& [key, field] : form.written_.items())
      if (!field.is_null() && field != defaults.written_.value(key, nlohmann::ordered_json()))
        fields[key] = field;
    return fields;
  }

  /// What `fits`, which returns false or throws for what is not `expected`. Texts are of any bytes; of an
  /// optional text nothing is not written.
  template <class T, class Fits>
  void field(const std::string& key, T& value, const std::string& expected, const Fits& fits) {
    keys_.insert(key);
    if (object_ == nullptr) return void(written_[key] = json_of(value));
    if (!object_->contains(key)) return;
    const nlohmann::json& found = object_->at(key);
    try {
      T read = read_from<T>(found);
      if (fits(read)) return void(value = std::move(read));
    } catch (const nlohmann::json::exception&) {
    } catch (const std::invalid_argument&) {
    } catch (const model::LoadError&) {
    }
    problems_.push_back({key, expected, found});
  }
  template <class T>
  void field(const std::string& key, T& value, const std::string& expected = "another value") {
    field(key, value, expected, [](const T&) { return true; });
  }
  template <class T>
  void number(const std::string& key, T& value, T low, T high) {
    field(key, value, "a number from " + nlohmann::json(low).dump() + " to " + nlohmann::json(high).dump(),
          [&](T number) { return number >= low && number <= high; });
  }
  /// One of the names in a table.
  template <class T, std::size_t kCount>
  void name(const std::string& key, T& value, const Named<T> (&all)[kCount]) {
    std::string name(name_of(all, value)), names = "one of";
    for (const Named<T>& row : all) names.append(&row == all ? " " : ", ").append(row.name);
    field(key, name, names, [&](const std::string& found) {
      const auto* const row = std::ranges::find(all, found, &Named<T>::name);
      if (row != std::end(all)) value = row->value;
      return row != std::end(all);
    });
  }

  /// A text of something that there is only with that text.
  template <class T, class Fits>
  void part(const std::string& key, std::optional<T>& whole, std::string T::*part,
            const std::string& expected, const Fits& fits) {
    std::optional<std::string> text;
    if (whole) text = *whole.*part;
    field(key, text, expected, [&](const std::optional<std::string>& found) { return fits(*found); });
    if (text && !whole) whole.emplace();
    if (text) *whole.*part = *text;
  }

  const std::vector<Problem>& problems() const { return problems_; }
  /// The keys of the object that no field has.
  std::vector<std::string> unknown() const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object_->items())
      if (!keys_.contains(key)) keys.push_back(key);
    return keys;
  }

 private:
  const nlohmann::json* object_ = nullptr;
  nlohmann::ordered_json written_;
  std::set<std::string> keys_;
  std::vector<Problem> problems_;

  template <class T>
  static nlohmann::json json_of(const T& value) {
    if constexpr (std::is_same_v<T, std::string>)
      return bytes_to_json(value);
    else if constexpr (std::is_same_v<T, std::optional<std::string>>)
      return value ? bytes_to_json(*value) : nlohmann::json();
    else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      auto list = nlohmann::json::array();
      for (const std::string& text : value) list.push_back(bytes_to_json(text));
      return list;
    } else {
      return value;
    }
  }
  /// Throws for another type, and for a number that is not kept as it is.
  template <class T>
  static T read_from(const nlohmann::json& found) {
    constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::optional<std::string>>) {
      auto bytes = bytes_from_json(found);
      if (!bytes || bytes->size() > kMaxBytes) throw std::invalid_argument("no text, or a long one");
      return *std::move(bytes);
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      T list;
      for (const nlohmann::json& text : found.get_ref<const nlohmann::json::array_t&>())
        list.push_back(read_from<std::string>(text));
      return list;
    } else if constexpr (std::is_same_v<T, std::vector<int>>) {
      T list;
      for (const nlohmann::json& number : found.get_ref<const nlohmann::json::array_t&>())
        list.push_back(read_from<int>(number));
      return list;
    } else {
      constexpr bool kWhole = std::is_same_v<T, int>;
      if (kWhole && !found.is_number_integer()) throw std::invalid_argument("no whole number");
      T read = found.get<T>();
      const bool same = std::is_floating_point_v<T> ? found.is_number() : nlohmann::json(read) == found;
      if (!same) throw std::invalid_argument("another type");
      return read;
    }
  }
};

}  // namespace headscope::app
