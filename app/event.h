#pragma once
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "viz/scene/geometry.h"

namespace headscope::app {

// User input, as values. The window creates them in GLFW's callbacks, tests directly. Each is handled
// separately and in order, so that no click is lost if several arrive in one frame. Positions are in logical
// pixels.

/// One of these, or the character that the key writes without Shift in the user's layout: Key{'s'}, Key{'+'}.
enum class Key : char {
  none,
  escape,
  enter,
  tab,
  backspace,
  del,
  left,
  right,
  up,
  down,
  home,
  end,
  page_up,
  page_down,
  f1,
  f6,
  f10,
  space = ' ',
};

struct Modifiers {
  bool ctrl = false;
  bool shift = false;
  bool alt = false;
  bool operator==(const Modifiers&) const = default;
};

struct MouseMove {
  viz::Point at;
};
struct MouseDown {
  viz::Point at;
  int button = 0;  ///< 0 left, 1 right, 2 middle
  int clicks = 1;  ///< 2: the second of a double click
  Modifiers modifiers;
};
struct MouseUp {
  viz::Point at;
  int button = 0;
};
struct MouseWheel {
  viz::Point at;
  float dx = 0;
  float dy = 0;  ///< positive: away from the user
  Modifiers modifiers;
};
struct KeyDown {
  Key key = Key::none;
  Modifiers modifiers;
  bool repeat = false;  ///< the key is held
};
struct TextTyped {
  std::string text;  ///< UTF-8
};
struct FilesDropped {
  std::vector<std::filesystem::path> paths;
};

using Event = std::variant<MouseMove, MouseDown, MouseUp, MouseWheel, KeyDown, TextTyped, FilesDropped>;

}  // namespace headscope::app
