#pragma once
#include <string>

namespace headscope::app {

/// The program's version, "0.1.0".
std::string version();

}  // namespace headscope::app
