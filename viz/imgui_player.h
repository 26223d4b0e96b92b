#pragma once
#include <cstdint>
#include <memory>

#include "viz/scene.h"
#include "viz/text.h"

struct ImDrawList;

namespace headscope::viz {

/// Textures of whatever draws ImGui: OpenGL in the window, counters in a test without a display.
class TextureBackend {
 public:
  virtual ~TextureBackend() = default;
  /// `nearest`: magnified without smoothing. Returns a handle that fits ImTextureID, never 0.
  virtual std::uint64_t create(const Bitmap& bitmap, bool nearest) = 0;
  /// Replaces the rows [first_row, first_row + rows) of a texture by those of the bitmap of the whole.
  virtual void update(std::uint64_t texture, const Bitmap& bitmap, int first_row, int rows) = 0;
  virtual void destroy(std::uint64_t texture) = 0;
};

/// Draws scenes into ImGui's draw lists. Owns a glyph atlas and the textures of images, kept by content id
/// and dropped when they were not drawn for a while.
class ImguiPlayer {
 public:
  ImguiPlayer(std::shared_ptr<const Fonts> fonts, TextureBackend& textures);
  ~ImguiPlayer();

  /// Once a frame, before the first draw. `pixel_scale`: device pixels for each unit of ImGui's coordinates;
  /// glyphs are rasterised for size * scale * pixel_scale.
  void begin_frame(float pixel_scale);
  /// Draws at `origin` of the screen, a logical pixel being `scale` ImGui units; the origin is moved to the
  /// nearest device pixel. Paints the background unless it is transparent, and nothing outside the scene.
  void draw(ImDrawList& list, const Scene& scene, Point origin, float scale);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headscope::viz
