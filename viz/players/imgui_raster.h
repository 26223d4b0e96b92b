#pragma once
#include <cstdint>
#include <map>

#include "viz/players/texture_backend.h"

struct ImDrawData;

namespace headscope::viz {

struct Texture {
  Bitmap bitmap;
  bool nearest = true;  ///< use the texel that contains the pixel's middle; else blend the four around it
};

/// Textures by the handle used in draw commands.
using TextureStore = std::map<std::uint64_t, Texture>;

/// Textures in memory, for an ImguiPlayer whose lists are drawn by rasterize(). For Dear ImGui's own
/// textures, in particular its font, see make_font_texture() and serve_textures() in imgui_compat.h.
class SoftwareTextures : public TextureBackend {
 public:
  std::uint64_t create(const Bitmap& bitmap, bool nearest) override;
  void update(std::uint64_t texture, const Bitmap& bitmap, int first_row, int rows) override;
  void destroy(std::uint64_t texture) override { store_.erase(texture); }
  const TextureStore& store() const { return store_; }

 private:
  TextureStore store_;
  std::uint64_t last_ = 0;
};

/// Renders a frame of Dear ImGui in software, with OpenGL's rules: corners are rounded to 1/256 of a pixel; a
/// pixel belongs to a triangle if its middle does; alpha is straight; textures are clamped to their edges.
/// Clips are rounded to whole pixels. The picture is as large as the display, rounded up to whole pixels,
/// opaque, and `clear` where nothing was drawn. Callbacks in the lists are ignored, because they call the
/// graphics API; textures are sampled as specified when they were created.
Bitmap rasterize(const ImDrawData& data, const TextureStore& textures, Color clear);

}  // namespace headscope::viz
