#pragma once
#include <string>
#include <unordered_map>

#include "app/window/gl.h"
#include "viz/players/texture_backend.h"

namespace headscope::app {

/// Textures of the current OpenGL context, whose functions are `gl`. Destroy them while that context is still
/// current.
class GlTextures final : public viz::TextureBackend {
 public:
  explicit GlTextures(const Gl& gl) : gl_(gl) {}
  ~GlTextures() override;
  std::uint64_t create(const viz::Bitmap& bitmap, bool nearest) override;
  void update(std::uint64_t texture, const viz::Bitmap& bitmap, int first_row, int rows) override;
  void destroy(std::uint64_t texture) override;

 private:
  const Gl& gl_;
  std::unordered_map<std::uint64_t, unsigned> live_;
};

/// Renderer and version of the current context.
std::string gl_description(const Gl& gl);

/// Clears the whole framebuffer; `width` and `height` in device pixels.
void gl_clear(const Gl& gl, int width, int height, viz::Color color);

}  // namespace headscope::app
