#pragma once

// OpenGL 1.2: what the textures need. Dear ImGui's backend finds the rest by itself.
#ifdef _WIN32  // else its header includes <windows.h>
#define APIENTRY __stdcall
#define WINGDIAPI __declspec(dllimport)
#endif
#include <GL/gl.h>
#include <GL/glext.h>

namespace headscope::app {

/// Finds a function of OpenGL in the current context, such as glfwGetProcAddress.
using GlFinder = void (*(*)(const char* name))();

/// The functions of OpenGL that the window calls.
// clang-format off
#define HEADSCOPE_GL_FUNCTIONS(F) \
  F(BindTexture) F(Clear) F(ClearColor) F(DeleteTextures) F(GenTextures) F(GetString) F(PixelStorei) \
  F(TexImage2D) F(TexParameteri) F(TexSubImage2D) F(Viewport)
// clang-format on

/// OpenGL's functions without its prefix, of one context. Not linked: only a window needs them.
struct Gl {
  Gl() = default;
  explicit Gl(GlFinder find);

#define HEADSCOPE_POINTER(name) decltype(gl##name)* name = nullptr;
  HEADSCOPE_GL_FUNCTIONS(HEADSCOPE_POINTER)
#undef HEADSCOPE_POINTER
};

}  // namespace headscope::app
