#pragma once
#include <string_view>

#include "app/run/sources/paths.h"

namespace headscope::app {

/// Whether the person wants less motion on the screen: HEADSCOPE_REDUCE_MOTION says so (anything but 0), or
/// else the desktop's settings for GTK ("gtk-enable-animations") or KDE ("AnimationDurationFactor").
bool wants_less_motion(const Environment& environment);

/// The value of a key in the text of an INI file, anywhere in it; empty: it has none.
std::string_view ini_value(std::string_view text, std::string_view key);

}  // namespace headscope::app
