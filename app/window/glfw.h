#pragma once
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "app/window/window.h"
#include "system/shared_library.h"

namespace headscope::app {

/// The functions of GLFW that the window calls.
// clang-format off
#define HEADSCOPE_GLFW_FUNCTIONS(F) \
  F(CreateStandardCursor) F(CreateWindow) F(GetClipboardString) \
  F(GetCursorPos) F(GetError) F(GetFramebufferSize) F(GetKey) F(GetKeyName) F(GetMonitorContentScale) \
  F(GetMonitorWorkarea) F(GetPrimaryMonitor) F(GetProcAddress) F(GetTime) F(GetWindowAttrib) \
  F(GetWindowContentScale) F(GetWindowSize) F(GetWindowUserPointer) F(Init) F(InitHint) \
  F(MakeContextCurrent) F(PostEmptyEvent) F(SetCharCallback) F(SetClipboardString) F(SetCursor) \
  F(SetCursorEnterCallback) F(SetCursorPosCallback) F(SetDropCallback) F(SetFramebufferSizeCallback) \
  F(SetKeyCallback) F(SetMouseButtonCallback) F(SetScrollCallback) F(SetWindowContentScaleCallback) \
  F(SetWindowFocusCallback) F(SetWindowRefreshCallback) F(SetWindowSizeLimits) F(SetWindowUserPointer) \
  F(SwapBuffers) F(SwapInterval) F(Terminate) F(WaitEventsTimeout) F(WindowHint) \
  F(WindowShouldClose)
// clang-format on

/// GLFW's functions without its prefix.
struct Glfw {
#define HEADSCOPE_POINTER(name) decltype(glfw##name)* name;
  HEADSCOPE_GLFW_FUNCTIONS(HEADSCOPE_POINTER)
#undef HEADSCOPE_POINTER
};

#ifdef HEADSCOPE_GLFW_LIBRARY
inline Glfw find_glfw() {
  const auto find = [](const char* name) {
    if (void* const function = system::library_function(HEADSCOPE_GLFW_LIBRARY, name)) return function;
    throw NoWindow(
        "GLFW 3.3 is not installed",
        "on Debian, install libglfw3 (headscope's commands work without it; see headscope --help)");
  };
#define HEADSCOPE_FIND(name) reinterpret_cast<decltype(glfw##name)*>(find("glfw" #name)),
  return {HEADSCOPE_GLFW_FUNCTIONS(HEADSCOPE_FIND)};
#undef HEADSCOPE_FIND
}
#else
inline Glfw find_glfw() {
#define HEADSCOPE_FIND(name) glfw##name,
  return {HEADSCOPE_GLFW_FUNCTIONS(HEADSCOPE_FIND)};
#undef HEADSCOPE_FIND
}
#endif

/// GLFW. Where it is a shared library, the first call opens it, not the program's start: only a window needs
/// it. Throws NoWindow if it is not installed.
inline const Glfw& glfw() {
  static const Glfw functions = find_glfw();
  return functions;
}

}  // namespace headscope::app
