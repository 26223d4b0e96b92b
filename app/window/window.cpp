#include "app/window/window.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <iterator>
#include <utility>
#include <vector>

#include "app/run/sources/paths.h"
#include "app/window/commands.h"
#include "app/window/core.h"
#include "app/window/gl_screen.h"
#include "app/window/glfw.h"
#include "system/console.h"
#include "system/interrupt.h"
#include "system/machine.h"
#include "system/memory.h"
#include "system/path_text.h"
#include "viz/text/utf8.h"

namespace headscope::app {
namespace {

constexpr double kDoubleClickSeconds = 0.4;
constexpr float kDoubleClickDistance = 5;

std::string glfw_error() {
  const char* words = nullptr;
  glfw().GetError(&words);
  return words ? words : "no reason given";
}

/// GLFW 3.4 tries Wayland first, whose library complains on standard error where there is none. A program
/// that was built with GLFW 3.3, which does not know the hint, may run with 3.4.
void choose_platform() {
#ifndef _WIN32
  constexpr int kPlatform = 0x00050003, kPlatformX11 = 0x00060004;
  if (process_environment()("WAYLAND_DISPLAY").value_or("").empty()) glfw().InitHint(kPlatform, kPlatformX11);
#endif
}

/// Initializes GLFW and terminates it in the destructor, which also destroys windows and cursors.
class GlfwLibrary {
 public:
  GlfwLibrary() {
    choose_platform();
    if (!glfw().Init())
      throw NoWindow(
          "there is no display (" + glfw_error() + ")",
          "start headscope in a desktop session or with ssh -X (its commands work without one; see "
          "headscope --help)");
  }
  ~GlfwLibrary() { glfw().Terminate(); }
  GlfwLibrary(const GlfwLibrary&) = delete;
  GlfwLibrary& operator=(const GlfwLibrary&) = delete;
};

/// A size limited to the screen.
WindowSize on_screen(WindowSize size) {
  GLFWmonitor* const monitor = glfw().GetPrimaryMonitor();
  if (!monitor) return size;
  int x = 0, y = 0, width = 0, height = 0;
  float scale_x = 1, scale_y = 1;
  glfw().GetMonitorWorkarea(monitor, &x, &y, &width, &height);
  glfw().GetMonitorContentScale(monitor, &scale_x, &scale_y);
  const auto side = [](int wanted, int room, float scale) {
    return room > 0 && scale > 0 ? std::min(wanted, static_cast<int>(static_cast<float>(room) / scale))
                                 : wanted;
  };
  return {side(size.width, width, scale_x), side(size.height, height, scale_y)};
}

/// Creates the window. Its OpenGL context is current afterwards.
GLFWwindow* create_window(int width, int height) {
  glfw().WindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfw().WindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfw().WindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfw().WindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfw().WindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  GLFWwindow* const window = glfw().CreateWindow(width, height, "headscope", nullptr, nullptr);
  if (!window) {
    const std::string reason = glfw_error();
    throw NoWindow("OpenGL 3.3 is not available (" + reason + ")",
                   opengl_remedy(reason, process_environment()));
  }
  glfw().MakeContextCurrent(window);
  glfw().SwapInterval(1);
  return window;
}

constexpr std::pair<int, Key> kGlfwKeys[] = {
    {GLFW_KEY_ESCAPE, Key::escape},
    {GLFW_KEY_ENTER, Key::enter},
    {GLFW_KEY_KP_ENTER, Key::enter},
    {GLFW_KEY_TAB, Key::tab},
    {GLFW_KEY_BACKSPACE, Key::backspace},
    {GLFW_KEY_DELETE, Key::del},
    {GLFW_KEY_LEFT, Key::left},
    {GLFW_KEY_RIGHT, Key::right},
    {GLFW_KEY_UP, Key::up},
    {GLFW_KEY_DOWN, Key::down},
    {GLFW_KEY_HOME, Key::home},
    {GLFW_KEY_END, Key::end},
    {GLFW_KEY_PAGE_UP, Key::page_up},
    {GLFW_KEY_PAGE_DOWN, Key::page_down},
    {GLFW_KEY_SPACE, Key::space},
    {GLFW_KEY_F1, Key::f1},
    {GLFW_KEY_F6, Key::f6},
    {GLFW_KEY_F10, Key::f10},
    {GLFW_KEY_KP_ADD, Key{'+'}},
    {GLFW_KEY_KP_SUBTRACT, Key{'-'}},
    {GLFW_KEY_KP_0, Key{'0'}},
};

Key key_of(int key, int scancode) {
  for (const auto& [code, known] : kGlfwKeys)
    if (code == key) return known;
  const char* label = glfw().GetKeyName(key, scancode);
  return labelled_key(label ? label : "", key);
}

Modifiers held_keys(int mods) {
  return {(mods & GLFW_MOD_CONTROL) != 0, (mods & GLFW_MOD_SHIFT) != 0, (mods & GLFW_MOD_ALT) != 0};
}

/// Connects GLFW to the core: callbacks become events, pictures become frames.
class Shell {
 public:
  Shell(GLFWwindow* window, Core& core, GlScreen& screen) : window_(window), core_(core), screen_(screen) {
    glfw().SetWindowUserPointer(window, this);
    glfw().SetCursorPosCallback(window, call<&Shell::moved>);
    glfw().SetCursorEnterCallback(window, call<&Shell::entered>);
    glfw().SetMouseButtonCallback(window, call<&Shell::pressed>);
    glfw().SetScrollCallback(window, call<&Shell::scrolled>);
    glfw().SetKeyCallback(window, call<&Shell::key>);
    glfw().SetCharCallback(window, call<&Shell::typed>);
    glfw().SetDropCallback(window, call<&Shell::dropped>);
    glfw().SetWindowRefreshCallback(window, call<&Shell::draw>);
    glfw().SetWindowFocusCallback(window, mark_dirty);
    glfw().SetFramebufferSizeCallback(window, mark_dirty);
    glfw().SetWindowContentScaleCallback(window, mark_dirty);
    for (const int shape :
         {GLFW_ARROW_CURSOR, GLFW_HAND_CURSOR, GLFW_IBEAM_CURSOR, GLFW_HRESIZE_CURSOR, GLFW_CROSSHAIR_CURSOR})
      cursors_.push_back(glfw().CreateStandardCursor(shape));
  }

  /// Runs until the window is closed or a signal asks to end the program.
  void run(const system::InterruptGuard& signals) {
    while (!glfw().WindowShouldClose(window_) && !core_.state().quit && !signals.interrupted()) {
      if (core_.take_results()) dirty_ = true;
      take_drag();
      if (dirty_) draw();
      wait();
      if (thrown_) std::rethrow_exception(thrown_);
    }
  }

 private:
  static Shell& shell(GLFWwindow* window) {
    return *static_cast<Shell*>(glfw().GetWindowUserPointer(window));
  }
  /// A callback that runs inside GLFW's C code: what it throws is rethrown by `run`.
  template <auto kMethod, class... Args>
  static void call(GLFWwindow* window, Args... args) noexcept {
    Shell& self = shell(window);
    try {
      (self.*kMethod)(args...);
    } catch (...) {
      if (!self.thrown_) self.thrown_ = std::current_exception();
    }
  }
  template <class... Args>
  static void mark_dirty(GLFWwindow* window, Args...) noexcept {
    shell(window).dirty_ = true;
  }

  struct Scales {
    float ui = 1;                          ///< window units per logical pixel
    float pixel = 1;                       ///< device pixels per window unit
    int width = 1, height = 1;             ///< window units
    int pixels_wide = 1, pixels_high = 1;  ///< device pixels
  };

  Scales scales() const {
    Scales s;
    glfw().GetWindowSize(window_, &s.width, &s.height);
    glfw().GetFramebufferSize(window_, &s.pixels_wide, &s.pixels_high);
    float content = 1;
    glfw().GetWindowContentScale(window_, &content, nullptr);
    if (s.width > 0) s.pixel = static_cast<float>(s.pixels_wide) / static_cast<float>(s.width);
    s.ui = std::max(0.25F, content / std::max(0.01F, s.pixel));
    return s;
  }

  viz::Point logical(double x, double y) const {
    const float ui = scales().ui;
    return {static_cast<float>(x) / ui, static_cast<float>(y) / ui};
  }

  viz::Point pointer_place() const {
    double x = 0, y = 0;
    glfw().GetCursorPos(window_, &x, &y);
    return logical(x, y);
  }

  void feed(const Event& event) {
    take_drag();
    since_input_ = glfw().GetTime();
    core_.handle(event);
    dirty_ = true;
  }

  void moved(double x, double y) {
    pointer_ = logical(x, y);
    dragged_ = pressed_ > 0;
    dirty_ = true;
  }

  /// All moves since the last frame or other event are one.
  void take_drag() {
    if (std::exchange(dragged_, false) && pointer_) feed(MouseMove{*pointer_});
  }

  void typed(unsigned code_point) {
    TextTyped event;
    viz::append_utf8(event.text, code_point);
    feed(event);
  }

  void dropped(int count, const char** paths) {
    FilesDropped event;
    std::transform(paths, paths + count, std::back_inserter(event.paths), system::path_of);
    feed(event);
  }

  void entered(int inside) {
    if (!inside && pressed_ == 0) pointer_.reset();  // a drag continues outside the window
    dirty_ = true;
  }

  void pressed(int button, int action, int mods) {
    take_drag();
    const bool down = action == GLFW_PRESS;
    const viz::Point at = pointer_place();
    pointer_ = at;
    pressed_ = std::max(0, pressed_ + (down ? 1 : -1));
    if (button == 3 || button == 4) {  // the side buttons of a mouse: back and forward, as in a browser
      if (down) feed(KeyDown{button == 3 ? Key::left : Key::right, {.alt = true}});
      return;
    }
    if (button > 4) return;  // other buttons are ignored
    if (!down) return feed(MouseUp{at, button});
    const double now = glfw().GetTime();
    const bool near = std::hypot(at.x - last_press_.x, at.y - last_press_.y) <= kDoubleClickDistance;
    clicks_ =
        near && button == last_button_ && now - last_press_time_ <= kDoubleClickSeconds ? clicks_ + 1 : 1;
    last_press_ = at;
    last_press_time_ = now;
    last_button_ = button;
    feed(MouseDown{at, button, clicks_, held_keys(mods)});
  }

  void scrolled(double dx, double dy) {
    const auto held = [&](int left, int right) {
      return glfw().GetKey(window_, left) != 0 || glfw().GetKey(window_, right) != 0;
    };
    const Modifiers modifiers{.ctrl = held(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL),
                              .shift = held(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT)};
    feed(MouseWheel{pointer_place(), static_cast<float>(dx), static_cast<float>(dy), modifiers});
  }

  void key(int key, int scancode, int action, int mods) {
    if (action == GLFW_RELEASE) return;
    const KeyDown pressed{key_of(key, scancode), held_keys(mods), action == GLFW_REPEAT};
    if (pressed.key != Key::none) feed(pressed);
  }

  bool focused() const { return glfw().GetWindowAttrib(window_, GLFW_FOCUSED) != 0; }

  /// Sets the minimum window size, so that the panes fit at any font size and display scale.
  void limit_size(float ui) {
    const WindowSize least = least_window(core_.state().font_size);
    const WindowSize units{static_cast<int>(std::ceil(static_cast<float>(least.width) * ui)),
                           static_cast<int>(std::ceil(static_cast<float>(least.height) * ui))};
    if (units == least_) return;
    least_ = units;
    glfw().SetWindowSizeLimits(window_, units.width, units.height, GLFW_DONT_CARE, GLFW_DONT_CARE);
  }

  WindowFrame frame() const {
    const Scales s = scales();
    return {.width = static_cast<float>(s.width) / s.ui,
            .height = static_cast<float>(s.height) / s.ui,
            .device_scale = s.ui * s.pixel,
            .pointer = pointer_,
            .caret_on = focused() && caret_blink(glfw().GetTime() - since_input_).visible};
  }

  void draw() {
    const Scales s = scales();
    if (s.width <= 0 || s.height <= 0) return;  // iconified
    dirty_ = false;
    limit_size(s.ui);
    const WindowPicture& picture = core_.draw(frame());
    core_.make_current();
    screen_.show(s.pixels_wide, s.pixels_high, theme_of(core_.state().dark).window);
    glfw().SwapBuffers(window_);
    glfw().SetCursor(window_, cursors_[static_cast<std::size_t>(picture.cursor)]);
  }

  void wait() {
    double seconds = 1;  // a signal may not wake GLFW
    if (const auto pause = core_.seconds_until_update()) seconds = std::min(seconds, *pause);
    const Blink blink = caret_blink(glfw().GetTime() - since_input_);
    const bool blinks = core_.window().caret && focused();
    if (blinks) seconds = std::min(seconds, blink.next);
    glfw().WaitEventsTimeout(std::max(0.005, seconds));
    if (blinks && caret_blink(glfw().GetTime() - since_input_).visible != blink.visible) dirty_ = true;
  }

  GLFWwindow* window_;
  Core& core_;
  GlScreen& screen_;
  std::exception_ptr thrown_;         // the first exception from a callback
  std::vector<GLFWcursor*> cursors_;  // indexed by Cursor
  std::optional<viz::Point> pointer_;
  bool dragged_ = false;  // the pointer was moved with a button pressed
  bool dirty_ = true;
  double since_input_ = 0;
  WindowSize least_;
  int pressed_ = 0;  // number of pressed buttons
  int clicks_ = 0;
  int last_button_ = -1;
  viz::Point last_press_;
  double last_press_time_ = -1;
};

}  // namespace

WindowSize least_window(float font_size) {
  // From the minimum widths of the panes and the heights of the bars, which all scale with the font.
  const float unit = font_size / kDefaultFontSize;
  return {static_cast<int>(std::ceil(800 * unit)), static_cast<int>(std::ceil(560 * unit))};
}

std::string opengl_remedy(std::string_view reason, const system::Environment& environment) {
  const auto says = [&](std::string_view words) { return reason.find(words) != reason.npos; };
  if (system::is_windows()) return "install or update the driver of the graphics card";
  if (says("GLX extension not found"))
    return "start the X server with that extension (Xvfb and Xvnc: +extension GLX), or use another display";
  if (says("Failed to load GLX") || says("entry point")) return "on Debian, install libgl1 and libglx-mesa0";
  if (says("EGL: Library not found")) return "on Debian, install libegl1 and libegl-mesa0";
  if (environment("LIBGL_ALWAYS_INDIRECT").value_or("0") != "0")
    return "unset LIBGL_ALWAYS_INDIRECT, since indirect rendering has only OpenGL 1.4";
  const std::string install = "on Debian, install libgl1-mesa-dri and libglx-mesa0";
  if (environment("LIBGL_ALWAYS_SOFTWARE")) return install;
  return "set LIBGL_ALWAYS_SOFTWARE=1 to draw without a graphics card, as over ssh -X; " + install;
}

std::string opengl_of_window() {
  const GlfwLibrary library;
  glfw().WindowHint(GLFW_VISIBLE, GLFW_FALSE);
  create_window(64, 64);
  return gl_description(Gl(glfw().GetProcAddress));
}

int run_window(CoreOptions options) {
  system::keep_little_freed_memory();
  // The worker loads the model while the window system starts up.
  std::atomic<bool> window_ready = false;
  const WindowSize last_size{options.settings.window_width, options.settings.window_height};
  GLFWwindow* window = nullptr;
  options.clock = glfw().GetTime;
  options.wake = [&window_ready] {
    if (window_ready) glfw().PostEmptyEvent();
  };
  options.get_clipboard = [&window] {
    const char* text = glfw().GetClipboardString(window);
    return std::string(text ? text : "");
  };
  options.set_clipboard = [&window](const std::string& text) {
    glfw().SetClipboardString(window, text.c_str());
  };
  const GlfwLibrary library;  // outlives the core, whose textures belong to the window's context
  GlScreen screen(glfw().GetProcAddress);
  options.screen = &screen;
  const WindowOptions given = options.window;
  const std::string problem = options.problem;
  Core core(std::move(options));
  if (given.prompts && given.tour.empty() && given.recipe_file.empty())
    core.apply(PromptsRead{given.prompts});
  const WindowSize size = on_screen(last_size);
  window = create_window(size.width, size.height);
  system::leave_own_console();
  window_ready = true;
  if (!problem.empty()) core.apply(ShowMessage{problem, true});
  const system::InterruptGuard signals;
  Shell(window, core, screen).run(signals);
  window_ready = false;
  core.close();
  signals.check();
  return 0;
}

}  // namespace headscope::app
