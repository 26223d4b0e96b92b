#include "app/window/glfw.h"

#include "app/window/window.h"
#include "system/shared_library.h"

namespace headscope::app {
namespace {

#ifdef HEADSCOPE_GLFW_LIBRARY
Glfw find_functions() {
#define HEADSCOPE_FIND(name) \
  reinterpret_cast<decltype(glfw##name)*>(system::library_function(HEADSCOPE_GLFW_LIBRARY, "glfw" #name)),
  const Glfw found{HEADSCOPE_GLFW_FUNCTIONS(HEADSCOPE_FIND)};
#undef HEADSCOPE_FIND
#define HEADSCOPE_IS_FOUND(name) found.name&&
  if (HEADSCOPE_GLFW_FUNCTIONS(HEADSCOPE_IS_FOUND) true) return found;
#undef HEADSCOPE_IS_FOUND
  throw NoWindow("GLFW 3.3 is not installed",
                 "on Debian, install libglfw3 (headscope's commands work without it; see headscope --help)");
}
#else
Glfw find_functions() {
#define HEADSCOPE_FIND(name) glfw##name,
  return {HEADSCOPE_GLFW_FUNCTIONS(HEADSCOPE_FIND)};
#undef HEADSCOPE_FIND
}
#endif

}  // namespace

const Glfw& glfw() {
  static const Glfw functions = find_functions();
  return functions;
}

}  // namespace headscope::app
