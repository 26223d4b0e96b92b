#pragma once
#include <cstdint>

#include "viz/scene/scene.h"

namespace headscope::viz {

/// The textures of ImGui's renderer: OpenGL in the window, or memory in a test without a display.
class TextureBackend {
 public:
  virtual ~TextureBackend() = default;
  /// `nearest`: magnified without smoothing. Returns a handle that fits ImTextureID, never 0.
  virtual std::uint64_t create(const Bitmap& bitmap, bool nearest) = 0;
  /// Updates the rows [first_row, first_row + rows) of a texture from the bitmap of the whole texture.
  virtual void update(std::uint64_t texture, const Bitmap& bitmap, int first_row, int rows) = 0;
  virtual void destroy(std::uint64_t texture) = 0;
};

}  // namespace headscope::viz
