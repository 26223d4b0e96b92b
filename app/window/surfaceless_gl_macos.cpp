#include "app/window/surfaceless_gl.h"

namespace headscope::app {

SurfacelessGl surfaceless_gl() {
  return {{}, "on macOS, OpenGL takes a display"};
}

}  // namespace headscope::app
