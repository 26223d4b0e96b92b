#pragma once
#include <memory>

#include "viz/imgui_player.h"
#include "viz/scene.h"

struct ImGuiContext;

namespace headscope::app {

/// Plays scenes into the current OpenGL 3.3 context through Dear ImGui's draw lists. The events of the user
/// do not pass through it: see event.h.
class Renderer {
 public:
  /// Throws std::runtime_error when OpenGL cannot be set up.
  explicit Renderer(std::shared_ptr<const viz::Fonts> fonts);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  /// `width` x `height`: of the window in its own units; `pixel_scale`: device pixels for each of them;
  /// `scale`: units for a logical pixel of the scene.
  void draw(const viz::Scene& scene, float width, float height, float pixel_scale, float scale);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headscope::app
