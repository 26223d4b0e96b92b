#pragma once
#include "viz/scene/scene.h"

namespace headscope::app {

/// The signs on buttons, drawn as lines so that they do not depend on which fonts are installed.
enum class Icon {
  none,
  back,
  check,
  close,
  down,
  examples,
  export_,
  forward,
  minus,
  model,
  more,
  play,
  plus,
  redo,
  restore,
  stop,
  two_views,
  undo,
};
inline constexpr int kIcons = static_cast<int>(Icon::undo) + 1;  ///< their number, from the last one

/// Draws an icon in the middle of a rectangle, `size` logical pixels wide and high.
void add_icon(viz::Scene& scene, Icon icon, const viz::Rect& rect, float size, viz::Color color);

}  // namespace headscope::app
