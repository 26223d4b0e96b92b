#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "app/run/named.h"
#include "app/text/output_text.h"
#include "system/path_text.h"

namespace headscope::app {

/// A value as JSON; texts and paths are of any bytes.
template <class T>
nlohmann::json json_of(const T& value) {
  if constexpr (std::is_same_v<T, std::string>)
    return bytes_to_json(value);
  else if constexpr (std::is_same_v<T, std::filesystem::path>)
    return bytes_to_json(system::text_of(value));
  else if constexpr (std::is_same_v<T, std::optional<std::string>>)
    return value ? bytes_to_json(*value) : nlohmann::json();
  else if constexpr (requires { typename T::value_type; }) {
    auto list = nlohmann::json::array();
    for (const auto& one : value) list.push_back(json_of(one));
    return list;
  } else {
    return value;
  }
}

/// The inverse. Throws for another type, a whole number that does not fit and a text of over 1 MiB.
template <class T>
T value_of(const nlohmann::json& found) {
  if constexpr (std::is_same_v<T, std::string>) {
    std::string bytes = bytes_from_json(found).value();
    if (bytes.size() > std::size_t{1} << 20) throw std::length_error("text");
    return bytes;
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    return system::path_of(value_of<std::string>(found));
  } else if constexpr (std::is_same_v<T, std::optional<std::string>>) {
    return value_of<std::string>(found);
  } else if constexpr (requires { typename T::value_type; }) {
    T list;
    for (const nlohmann::json& one : found.get_ref<const nlohmann::json::array_t&>())
      list.push_back(value_of<typename T::value_type>(one));
    return list;
  } else {
    if (std::is_integral_v<T> ? found.is_number_float() : std::is_floating_point_v<T> && !found.is_number())
      throw std::invalid_argument("type");
    T value = found.get<T>();
    if (std::is_integral_v<T> && nlohmann::json(value) != found) throw std::out_of_range("number");
    return value;
  }
}

/// The fields of a flat JSON object, read or written: a function that calls field(), number() and name() for
/// each key describes both. What is read is untrusted: a value that is not as expected leaves things as they
/// are and is a problem.
struct Fields {
  struct Problem {
    std::string key, expected;
    nlohmann::json found;
  };
  std::optional<nlohmann::json> unread = {};  ///< the fields that were not read yet; nothing: it is written
  nlohmann::ordered_json written = nlohmann::ordered_json::object();
  std::vector<Problem> problems = {};

  /// What `fits`, which returns false or throws for what is not `expected`.
  template <class T, class Fits = bool (*)(const T&)>
  void field(
      const std::string& key, T& value, const std::string& expected = "another value",
      const Fits& fits = [](const T&) { return true; }) {
    if (!unread) return void(written[key] = json_of(value));
    const auto at = unread->find(key);
    if (at == unread->end()) return;
    const nlohmann::json found = std::move(*at);
    unread->erase(at);
    try {
      T read = value_of<T>(found);
      if (fits(read)) return void(value = std::move(read));
    } catch (const std::exception&) {  // as if it does not fit
    }
    problems.push_back({key, expected, found});
  }
  template <class T>
  void number(const std::string& key, T& value, T low, T high) {
    field(key, value, "a number from " + nlohmann::json(low).dump() + " to " + nlohmann::json(high).dump(),
          [&](T number) { return number >= low && number <= high; });
  }
  /// One of the names in a table.
  template <class T, std::size_t kCount>
  void name(const std::string& key, T& value, const Named<T> (&all)[kCount]) {
    std::string name(name_of(all, value)), names;
    for (const Named<T>& row : all) names.append(names.empty() ? "one of " : ", ").append(row.name);
    field(key, name, names, [&](const std::string& found) {
      const auto* const row = std::ranges::find(all, found, &Named<T>::name);
      if (row != std::end(all)) value = row->value;
      return row != std::end(all);
    });
  }
};

/// The fields of a value that are not as in `without`.
template <class T>
nlohmann::ordered_json changed_fields(T value, T without, void (*describe)(Fields&, T&)) {
  Fields form, defaults;
  describe(form, value), describe(defaults, without);
  for (const auto& [key, field] : defaults.written.items())
    if (const auto at = form.written.find(key); at != form.written.end() && *at == field)
      form.written.erase(at);
  return form.written;
}

}  // namespace headscope::app
