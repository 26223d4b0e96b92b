#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "app/event.h"
#include "viz/players/imgui_player.h"
#include "viz/players/imgui_raster.h"
#include "viz/players/texture_backend.h"
#include "viz/scene/theme.h"
#include "viz/text/text.h"

struct ImDrawData;
struct ImGuiContext;

namespace headscope::app {

/// The colours of the window and its pictures.
const viz::Theme& theme_of(bool dark);

/// The size and circumstances of a frame.
struct WindowFrame {
  float width = 1600;  ///< logical pixels
  float height = 1000;
  float device_scale = 1;
  std::optional<viz::Point> pointer = {};  ///< nothing: the mouse is outside the window
  bool caret_on = true;                    ///< the visible half of the blink
  bool still = false;                      ///< for a file: without caret and timings
  bool tips = true;                        ///< no command was given by a key since the mouse moved
  bool defines = false;                    ///< the mouse has rested, so the term under it is defined
};

/// Shows Dear ImGui's frames: with OpenGL in the window, in memory otherwise. The Dear ImGui context that
/// makes the frames, always the same one, is current in every call.
class Screen {
 public:
  virtual ~Screen() = default;
  /// Called before the context's first frame. May throw std::runtime_error (one sentence).
  virtual void set_up() = 0;
  virtual void tear_down() {}  ///< called before the context is destroyed, if set_up was called
  virtual void begin_frame() {}
  /// Called after each frame, shown or not, to create the textures that it needs, unless that happens when it
  /// is shown.
  virtual void end_frame(const ImDrawData&) {}
  virtual viz::TextureBackend& textures() = 0;
};

/// Frames in memory, to be read with viz::rasterize.
class MemoryScreen final : public Screen {
 public:
  void set_up() override;
  void end_frame(const ImDrawData& data) override;
  viz::SoftwareTextures& textures() override { return textures_; }

 private:
  viz::SoftwareTextures textures_;
};

/// A Dear ImGui context with a scene player. Lengths are logical pixels. Each frame gets at most one event,
/// so that none is lost or reordered.
class Gui {
 public:
  Gui(std::shared_ptr<const viz::Fonts> fonts, Screen& screen);
  ~Gui();
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;

  /// Runs a frame: passes the event on (null: none), then lets `build` submit windows. The first frame throws
  /// what Screen::set_up throws.
  void frame(const WindowFrame& frame, const Event* event, bool dark, float font_size,
             const std::function<void(viz::ImguiPlayer&)>& build);
  /// Makes this context current, to show the last frame.
  void make_current() const;

 private:
  void set_up();
  std::shared_ptr<const viz::Fonts> fonts_;
  Screen& screen_;
  std::unique_ptr<ImGuiContext, void (*)(ImGuiContext*)> context_;
  std::unique_ptr<viz::ImguiPlayer> player_;  // null until the first frame
};

}  // namespace headscope::app
