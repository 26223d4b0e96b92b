#pragma once
#include "viz/scene/theme.h"

namespace headscope::app {

/// The colours of the window and of its pictures.
const viz::Theme& theme_of(bool dark);

/// How Dear ImGui's widgets look: colours and measures of the current context. The one place that styles
/// them; letters are not its business, see Ui.
void apply_look(bool dark, float font_size);

/// `a` over `b` by t in [0, 1].
viz::Color mix(viz::Color a, viz::Color b, float t);

}  // namespace headscope::app
