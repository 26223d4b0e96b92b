#include "app/window/surfaceless_gl.h"

namespace headscope::app {

SurfacelessGl surfaceless_gl() {
  return {{}, "on Windows, OpenGL takes a display"};
}

}  // namespace headscope::app
