#pragma once
#include <cstdint>
#include <map>

#include "viz/players/texture_backend.h"

struct ImDrawData;

namespace headscope::viz {

struct Texture {
  Bitmap bitmap;
  bool nearest = true;  ///< the texel a pixel's middle lies in; else a blend of the four around it
};

/// Textures by the handle that draw commands know them by.
using TextureStore = std::map<std::uint64_t, Texture>;

/// Textures in memory, for an ImguiPlayer whose lists are drawn by rasterize(). For Dear ImGui's own, above
/// all its font, see make_font_texture() and serve_textures() of imgui_compat.h.
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

/// A frame of Dear ImGui as OpenGL shows it, without OpenGL: corners on 1/256 of a pixel; a pixel belonging
/// to a triangle when its middle does, a middle right on a side to what has it as its left or its lower side
/// (OpenGL counts rows from below); straight alpha; textures clamped to their edges. Clips end on the nearest
/// whole pixels. The picture has as many whole pixels as hold the display, is opaque, and is `clear` where
/// nothing was drawn. Callbacks in the lists are passed over, as they speak to a graphics card; textures are
/// sampled as they were made. Throws std::invalid_argument when a command's texture is not in the store or
/// has no pixels.
Bitmap rasterize(const ImDrawData& data, const TextureStore& textures, Color clear);

}  // namespace headscope::viz
