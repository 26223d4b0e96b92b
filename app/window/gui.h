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

/// What a frame is drawn for.
struct WindowFrame {
  float width = 1600;  ///< logical pixels
  float height = 1000;
  float device_scale = 1;
  std::optional<viz::Point> pointer;  ///< null: no mouse over the window
  bool caret_on = true;               ///< the bright half of the blink
  bool still = false;                 ///< for a file: no caret, nothing that depends on the moment
};

/// A context of Dear ImGui and the player of scenes in it. Lengths in it are logical pixels. It hears of one
/// event a frame, so that nothing is lost or out of order however many come between two pictures.
class Gui {
 public:
  Gui(std::shared_ptr<const viz::Fonts> fonts, Screen& screen);
  ~Gui();
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;

  /// A frame: the event is told (null: only time goes by), then `build` submits windows. Throws what
  /// Screen::set_up does, at the first one.
  void frame(const WindowFrame& frame, const Event* event, bool dark, float font_size,
             const std::function<void(viz::ImguiPlayer&)>& build);
  /// Makes its context current, for whoever shows the last frame.
  void make_current() const;
  /// The screen is another one from the next frame on, which sets it up: what the last one holds goes.
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
