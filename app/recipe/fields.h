#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/run/named.h"

namespace headscope::app {

/// The values of a JSON object that nobody vouches for, one by one. What is not there keeps its default; a
/// value of a wrong type or out of its range throws model::LoadError: one sentence with the file, the key,
/// what was expected and what was found.
class Fields {
 public:
  /// `where` begins every sentence, `path` every key ("figure.").
  Fields(const nlohmann::json& object, std::string where, std::string path = {});

  void flag(const char* key, bool& out) const;
  void whole(const char* key, int low, int high, int& out) const;
  void number(const char* key, float low, float high, float& out) const;
  /// Any bytes, at most so many.
  void bytes(const char* key, std::size_t most, std::string& out) const;
  void wholes(const char* key, int low, std::size_t most, std::vector<int>& out) const;
  template <class Value, std::size_t kCount>
  void one_of(const char* key, const Named<Value> (&all)[kCount], Value& out) const {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return;
    std::string names;
    for (const auto& [name, meaning] : all) {
      if (*value == name) return void(out = meaning);
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    refuse(key, "one of " + names);
  }

  /// Null where there is none.
  const nlohmann::json* find(const char* key) const;
  /// An object of its own; nothing where there is none.
  std::optional<Fields> object(const char* key) const;
  /// A list of at most so many.
  const nlohmann::json::array_t& list(const char* key, std::size_t most) const;
  /// The same of a list's element.
  Fields element(const char* key, std::size_t index, const nlohmann::json& value) const;
  const nlohmann::json& all() const { return object_; }

  [[noreturn]] void refuse(const char* key, const std::string& expected) const;

 private:
  const nlohmann::json& object_;
  std::string where_, path_;
};

}  // namespace headscope::app
