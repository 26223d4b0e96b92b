#pragma once
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include "system/folders.h"

namespace headscope::testing {

/// An environment with only these variables.
inline system::Environment environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

/// Sets a variable of this process's environment. Windows knows no empty ones and removes it instead.
inline void set_variable(const char* name, const std::string& text) {
#if defined(_WIN32)
  ::_putenv_s(name, text.c_str());
#else
  ::setenv(name, text.c_str(), 1);
#endif
}

inline void unset_variable(const char* name) {
#if defined(_WIN32)
  ::_putenv_s(name, "");
#else
  ::unsetenv(name);
#endif
}

}  // namespace headscope::testing
