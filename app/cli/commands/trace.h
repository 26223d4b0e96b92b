#pragma once
#include <filesystem>
#include <string>

#include "app/cli/arguments/arguments.h"

namespace headscope::app {

/// Writes activations to a safetensors file.
struct TraceCommand : Arguments {
  std::string hooks;  ///< globs, comma-separated; empty: all
  std::filesystem::path out;
};

}  // namespace headscope::app
