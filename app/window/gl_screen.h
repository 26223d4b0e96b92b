#pragma once
#include <optional>

#include "app/window/gl_textures.h"
#include "app/window/screen.h"
#include "viz/scene/geometry.h"

namespace headscope::app {

/// An offscreen framebuffer that keeps its picture. Belongs to the current context and must not outlive it.
class GlPicture {
 public:
  GlPicture() = default;
  GlPicture(const GlPicture&) = delete;
  GlPicture& operator=(const GlPicture&) = delete;
  ~GlPicture();

  /// Sets the size in device pixels. Returns whether the picture was kept; a new size drops it.
  bool resize(int width, int height);
  unsigned framebuffer() const { return framebuffer_; }

 private:
  unsigned framebuffer_ = 0, pixels_ = 0;
  int width_ = 0, height_ = 0;
};

/// Draws frames in the current OpenGL 3.3 context.
class GlScreen final : public Screen {
 public:
  void set_up() override;
  void tear_down() override;
  void begin_frame() override;
  void end_frame(const ImDrawData&) override {}  // the OpenGL backend does it when the frame is shown
  GlTextures& textures() override { return textures_; }

  /// Shows the context's last frame over `clear`, in a framebuffer of `width` x `height` device pixels.
  /// `only`, in the frame's units: just this rectangle differs from the frame shown before, so only it is
  /// redrawn.
  void show(int width, int height, viz::Color clear, const std::optional<viz::Rect>& only = std::nullopt);

  /// Whether the context and everything in it is lost, for example after a reset of the graphics card.
  /// Reported only by contexts created with reset notification.
  bool lost() const;

 private:
  GlTextures textures_;
  std::optional<GlPicture> whole_, part_;
};

}  // namespace headscope::app
