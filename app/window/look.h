#pragma once
#include "viz/scene/theme.h"

namespace headscope::app {

/// The colours of the window and its pictures.
const viz::Theme& theme_of(bool dark);

/// Sets colours and sizes of Dear ImGui's widgets in the current context. The only place that styles them;
/// text is painted by Ui.
void apply_look(bool dark, float font_size);

}  // namespace headscope::app
