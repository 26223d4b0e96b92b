#pragma once
#include "viz/scene/theme.h"

// Colours of letters: words need more contrast than the curves and cells they are about.
namespace headscope::viz {

/// Contrast ratio, 1 to 21 (WCAG 2).
double contrast_ratio(Color a, Color b);

/// What small letters need.
inline constexpr double kReadable = 4.5;

/// A colour of the same hue for words on an opaque ground: `color` blended with `ink`, the ground's text
/// colour, as little as gives a contrast of kReadable.
Color word_color(Color color, Color ink, Color ground);

/// The colour of letters on a coloured, opaque ground: the theme's text colour or its opposite, whichever
/// reads better; black or white where neither has a contrast of kReadable.
Color text_on(const Theme& theme, Color ground);

}  // namespace headscope::viz
