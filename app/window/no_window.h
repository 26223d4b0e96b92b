#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

#include "system/folders.h"

namespace headscope::app {

/// Why no window can be opened here. `what()` is one sentence with both.
class NoWindow : public std::runtime_error {
 public:
  NoWindow(const std::string& why, const std::string& how)
      : std::runtime_error("Cannot open a window: " + why + "; " + how + "."), problem(why), remedy(how) {}

  std::string problem, remedy;
};

/// What to install or set, for the reason that GLFW gives when there is no OpenGL 3.3.
std::string opengl_remedy(std::string_view reason, const system::Environment& environment);

}  // namespace headscope::app
