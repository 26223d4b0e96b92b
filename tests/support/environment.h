#pragma once
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

}  // namespace headscope::testing
