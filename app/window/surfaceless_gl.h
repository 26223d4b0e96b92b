#pragma once
#include <string>

namespace headscope::app {

/// What OpenGL there is without a display, for diagnosis: opens a context of OpenGL 3.3 for a moment.
struct SurfacelessGl {
  std::string renderer;  ///< its name and version; empty: there is none
  std::string problem;   ///< why
};

/// Opens EGL when it runs, so that the program starts where it is not installed. Never throws.
SurfacelessGl surfaceless_gl();

}  // namespace headscope::app
