#pragma once
#include <cstdint>
#include <memory>

#include "viz/players/texture_backend.h"
#include "viz/scene/scene.h"
#include "viz/text/text.h"

struct ImDrawList;

namespace headscope::viz {

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
