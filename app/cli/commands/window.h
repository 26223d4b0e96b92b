#pragma once
#include <filesystem>

#include "app/cli/arguments/arguments.h"

namespace headscope::app {

/// The window, which opens if no command is named.
struct WindowCommand : Arguments {
  std::filesystem::path file = {};  ///< a session or figure to show; empty: none
};

}  // namespace headscope::app
