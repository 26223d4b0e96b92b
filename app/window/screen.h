#pragma once
#include "viz/players/imgui_raster.h"
#include "viz/players/texture_backend.h"

struct ImDrawData;

namespace headscope::app {

/// Shows Dear ImGui's frames: with OpenGL in the window, in memory otherwise. The Dear ImGui context that
/// makes the frames, always the same one, is current in every call.
class Screen {
 public:
  virtual ~Screen() = default;
  /// Called before the context's first frame. May throw std::runtime_error (one sentence).
  virtual void set_up() = 0;
  virtual void tear_down() = 0;  ///< called before the context is destroyed, if set_up was called
  virtual void begin_frame() = 0;
  /// Called after each frame, shown or not; creates the textures that it needs.
  virtual void end_frame(const ImDrawData& data) = 0;
  virtual viz::TextureBackend& textures() = 0;
};

/// Frames in memory, to be read with viz::rasterize.
class MemoryScreen final : public Screen {
 public:
  void set_up() override;
  void tear_down() override {}
  void begin_frame() override {}
  void end_frame(const ImDrawData& data) override;
  viz::SoftwareTextures& textures() override { return textures_; }

 private:
  viz::SoftwareTextures textures_;
};

}  // namespace headscope::app
