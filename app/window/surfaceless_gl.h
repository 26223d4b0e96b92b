#pragma once
#include <string>

namespace headscope::app {

/// The OpenGL that is available without a display, for diagnosis.
struct SurfacelessGl {
  std::string renderer;  ///< its name and version; empty: none
  std::string problem;   ///< why
};

/// Briefly opens an OpenGL 3.3 context. Loads EGL at run time, so that the program starts where it is not
/// installed. Never throws.
SurfacelessGl surfaceless_gl();

}  // namespace headscope::app
