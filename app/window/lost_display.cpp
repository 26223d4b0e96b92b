#include "app/window/lost_display.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include "app/text/terminal_text.h"
#include "system/shared_library.h"

namespace headscope::app {
namespace {

// Xlib passes its handler only the display, so this must be static.
std::function<void()> keep_then;

/// Nothing of Xlib can be used or cleaned up any more.
int end_program(void* /*display*/) {
  std::string also;
  try {
    if (const auto keep = std::exchange(keep_then, nullptr)) keep();
  } catch (const std::exception& e) {
    also = "; " + terminal_safe(e.what());
  }
  std::fprintf(stderr, "headscope: lost the connection to the display%s\n", also.c_str());
  std::_Exit(1);
}

}  // namespace

LostDisplayGuard::LostDisplayGuard(std::function<void()> keep) {
  keep_then = std::move(keep);
  // Already loaded if GLFW chose X; not linked, for systems where it did not.
  const auto xlib = system::SharedLibrary::if_open("libX11.so.6");
  if (const auto set = xlib.function<void(int (*)(void*))>("XSetIOErrorHandler")) set(end_program);
}

LostDisplayGuard::~LostDisplayGuard() {
  keep_then = nullptr;
}

}  // namespace headscope::app
