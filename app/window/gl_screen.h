#pragma once
#include "app/window/gl_textures.h"
#include "app/window/screen.h"

namespace headscope::app {

/// Draws frames in the current OpenGL 3.3 context.
class GlScreen final : public Screen {
 public:
  /// `find` is called when a context is current.
  explicit GlScreen(GlFinder find) : find_(find), textures_(gl_) {}

  void set_up() override;
  void tear_down() override;
  void begin_frame() override;
  void end_frame(const ImDrawData&) override {}  // the OpenGL backend does it when the frame is shown
  GlTextures& textures() override { return textures_; }

  /// Shows the Dear ImGui context's last frame over `clear`, in a framebuffer of `width` x `height` device
  /// pixels.
  void show(int width, int height, viz::Color clear);

 private:
  GlFinder find_;
  Gl gl_;  ///< since set_up
  GlTextures textures_;
};

}  // namespace headscope::app
