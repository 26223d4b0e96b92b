#pragma once
#include <string>

#include "app/cli/arguments/command_tree.h"

namespace headscope::app {

/// The manual page of section 1, as man(7) reads it. What a command takes that the program or, of a view, its
/// command takes too, is described there alone. `date` as in 2026-11-22.
std::string manual_page(const CommandTree& program, const std::string& version, const std::string& date);

}  // namespace headscope::app
