#pragma once
#include <memory>

#include "viz/players/texture_backend.h"
#include "viz/scene/scene.h"
#include "viz/text/text.h"

struct ImDrawList;

namespace headscope::viz {

/// Draws scenes into ImGui's draw lists. Owns a glyph atlas, and textures for images, which are cached by
/// content id and dropped when not drawn for a while.
class ImguiPlayer {
 public:
  ImguiPlayer(std::shared_ptr<const Fonts> fonts, TextureBackend& textures);
  ~ImguiPlayer();

  /// Call once per frame, before the first draw. `pixel_scale`: device pixels per unit of ImGui's
  /// coordinates; glyphs are rasterized at size * scale * pixel_scale.
  void begin_frame(float pixel_scale);
  /// Draws at `origin` on the screen, with `scale` ImGui units per logical pixel; the origin is rounded to
  /// the nearest device pixel. Paints the background unless it is transparent, and nothing outside the scene.
  void draw(ImDrawList& list, const Scene& scene, Point origin, float scale);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headscope::viz
