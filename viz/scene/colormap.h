#pragma once
#include <span>
#include <string>
#include <vector>

#include "viz/scene/geometry.h"
#include "viz/scene/theme.h"

namespace headscope::viz {

/// Perceptually uniform and safe for colour-blind readers. sequential: t in [0, 1], 0 close to the theme's
/// surface, lightness monotone. diverging: t in [-1, 1], 0 neutral. Values outside are clamped. NaN gives a
/// colour that is in neither map.
Color sequential(const Theme& theme, double t);
Color diverging(const Theme& theme, double t);
/// The colours of these maps at equal distances from the low end to the high end.
constexpr int kMapColors = 512;
std::span<const Color> sequential_colors(const Theme& theme);
std::span<const Color> diverging_colors(const Theme& theme);
/// A bar's colour: that of the value's sign in the diverging map, 3:1 on the theme's surface.
Color sign_color(const Theme& theme, double value);

/// "Nice" tick values (1, 2, 5 x 10^k) within [low, high], about `count` of them. See Heckbert, Graphics Gems
/// 1990.
std::vector<double> nice_ticks(double low, double high, int count);
/// Powers of ten (and 2x, 5x where there is room) within [low, high], both > 0.
std::vector<double> log_ticks(double low, double high, int count);
/// The shortest label that distinguishes adjacent ticks, e.g. "0.25", "1e−6"; with real minus signs. `step`
/// 0: of a logarithmic scale.
std::string tick_label(double value, double step);
/// A number on an axis, and its text.
struct Tick {
  double value = 0;
  std::string text;
};
/// `nice_ticks` with their labels. `lone_step`: the step for `tick_label` if there is a single tick.
std::vector<Tick> labelled_ticks(double low, double high, int count, double lone_step = 1);
/// A value for display: `digits` significant digits, "0.5000" if rounded, "23" if it is an integer; very
/// small and large ones as "1.235e−7"; "−∞", "NaN".
std::string number(double value, int digits = 4);
/// With a fixed number of decimals, so that the points in a column align; non-finite values as above.
std::string fixed_number(double value, int decimals);

}  // namespace headscope::viz
