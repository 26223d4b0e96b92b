#include "app/window/no_window.h"

#include "system/machine.h"

namespace headscope::app {

std::string opengl_remedy(std::string_view reason, const system::Environment& environment) {
  const auto says = [&](std::string_view words) { return reason.find(words) != reason.npos; };
  if (system::is_windows()) return "install or update the driver of the graphics card";
  if (says("GLX extension not found"))
    return "start the X server with that extension (Xvfb and Xvnc: +extension GLX), or use another display";
  if (says("Failed to load GLX") || says("entry point")) return "on Debian, install libgl1 and libglx-mesa0";
  if (says("EGL: Library not found")) return "on Debian, install libegl1 and libegl-mesa0";
  if (environment("LIBGL_ALWAYS_INDIRECT").value_or("0") != "0")
    return "unset LIBGL_ALWAYS_INDIRECT, since indirect rendering has only OpenGL 1.4";
  const std::string install = "on Debian, install libgl1-mesa-dri and libglx-mesa0";
  if (environment("LIBGL_ALWAYS_SOFTWARE")) return install;
  return "set LIBGL_ALWAYS_SOFTWARE=1 to draw without a graphics card, as over ssh -X; " + install;
}

}  // namespace headscope::app
