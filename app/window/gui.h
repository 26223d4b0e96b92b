#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "app/event.h"
#include "app/window/screen.h"
#include "viz/players/imgui_player.h"
#include "viz/text/text.h"

struct ImGuiContext;

namespace headscope::app {

/// The size and circumstances of a frame.
struct WindowFrame {
  float width = 1600;  ///< logical pixels
  float height = 1000;
  float device_scale = 1;
  std::optional<viz::Point> pointer;  ///< nothing: the mouse is not over the window
  bool caret_on = true;               ///< the bright half of the blink
  bool still = false;                 ///< for a file: without caret and timings
};

/// A context of Dear ImGui with a player of scenes. Lengths are logical pixels. It gets one event a frame, so
/// that none is lost or out of order.
class Gui {
 public:
  Gui(std::shared_ptr<const viz::Fonts> fonts, Screen& screen);
  ~Gui();
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;

  /// A frame: passes the event on (null: none), then `build` submits windows. The first one throws what
  /// Screen::set_up does.
  void frame(const WindowFrame& frame, const Event* event, bool dark, float font_size,
             const std::function<void(viz::ImguiPlayer&)>& build);
  /// Makes its context current, to show the last frame.
  void make_current() const;
  /// Drops what the screen holds; the next frame sets it up again.
  void renew();

 private:
  void set_up();
  std::shared_ptr<const viz::Fonts> fonts_;
  Screen& screen_;
  struct Destroy {
    void operator()(ImGuiContext* context) const;
  };
  std::unique_ptr<ImGuiContext, Destroy> context_;
  std::unique_ptr<viz::ImguiPlayer> player_;  // null until the first frame
};

}  // namespace headscope::app
