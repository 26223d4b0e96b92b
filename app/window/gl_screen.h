#pragma once
// OpenGL 1.2: what the textures need. Dear ImGui's backend finds the rest by itself.
#ifdef _WIN32  // else its header includes <windows.h>
#define APIENTRY __stdcall
#define WINGDIAPI __declspec(dllimport)
#endif
#include <GL/gl.h>
#include <GL/glext.h>

#include <string>

#include "app/window/gui.h"
#include "viz/players/texture_backend.h"

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

/// Renderer and version of the current context.
std::string gl_description(const Gl& gl);

/// Draws frames in the current OpenGL 3.3 context, with which the textures end.
class GlScreen final : public Screen, private viz::TextureBackend {
 public:
  /// `find` is called when a context is current.
  explicit GlScreen(GlFinder find) : find_(find) {}

  void set_up() override;
  void tear_down() override;
  void begin_frame() override;
  viz::TextureBackend& textures() override { return *this; }

  /// Shows the Dear ImGui context's last frame over `clear`, in a framebuffer of `width` x `height` device
  /// pixels.
  void show(int width, int height, viz::Color clear);

 private:
  std::uint64_t create(const viz::Bitmap& bitmap, bool nearest) override;
  void update(std::uint64_t texture, const viz::Bitmap& bitmap, int first_row, int rows) override;
  void destroy(std::uint64_t texture) override;

  GlFinder find_;
  Gl gl_;  ///< since set_up
};

}  // namespace headscope::app
