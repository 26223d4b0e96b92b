#pragma once
#include <optional>

#include "app/window/gl_textures.h"
#include "app/window/screen.h"
#include "viz/scene/geometry.h"

namespace headscope::app {

/// A framebuffer of its own with a picture that stays; of the context that is current, as long as that is.
class GlPicture {
 public:
  GlPicture() = default;
  GlPicture(const GlPicture&) = delete;
  GlPicture& operator=(const GlPicture&) = delete;
  ~GlPicture();

  /// In device pixels. Says whether the picture is as it was; it is lost where the size is another.
  bool resize(int width, int height);
  unsigned framebuffer() const { return framebuffer_; }

 private:
  unsigned framebuffer_ = 0, pixels_ = 0;
  int width_ = 0, height_ = 0;
};

/// The OpenGL 3.3 context that is current, from its set-up to its end.
class GlScreen final : public Screen {
 public:
  void set_up() override;
  void tear_down() override;
  void begin_frame() override;
  void end_frame(const ImDrawData&) override {}  // OpenGL's backend does it when the frame is shown
  GlTextures& textures() override { return textures_; }

  /// Shows the context's last frame over `clear`, in a framebuffer of `width` x `height` device pixels.
  /// `only`, in the frame's units: nothing beside it is other than in the frame shown before, and is not
  /// drawn again.
  void show(int width, int height, viz::Color clear, const std::optional<viz::Rect>& only = std::nullopt);

  /// Whether the context is gone with all that it held, as after a reset of the graphics card. Only one that
  /// was made to say so does.
  bool lost() const;

 private:
  GlTextures textures_;
  std::optional<GlPicture> whole_, part_;
};

}  // namespace headscope::app
