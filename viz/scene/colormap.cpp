#include "viz/scene/colormap.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace headscope::viz {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// Oklab, where equal distances look equal. See B. Ottosson, "A perceptual color space for image processing",
/// 2020.
struct Oklab {
  double l = 0;
  double a = 0;
  double b = 0;
};

Oklab lch(double l, double chroma, double hue_degrees) {
  const double h = hue_degrees * kPi / 180;
  return {l, chroma * std::cos(h), chroma * std::sin(h)};
}

Oklab mix(Oklab p, Oklab q, double t) {
  return {p.l + (q.l - p.l) * t, p.a + (q.a - p.a) * t, p.b + (q.b - p.b) * t};
}

double distance(Oklab p, Oklab q) {
  return std::hypot(p.l - q.l, p.a - q.a, p.b - q.b);
}

/// Components may be outside [0, 1] if the screen cannot show the colour.
struct LinearRgb {
  double r = 0;
  double g = 0;
  double b = 0;
};

LinearRgb to_linear(Oklab c) {
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(c.l + 0.3963377774 * c.a + 0.2158037573 * c.b);
  const double m = cube(c.l - 0.1055613458 * c.a - 0.0638541728 * c.b);
  const double s = cube(c.l - 0.0894841775 * c.a - 1.2914855480 * c.b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool in_gamut(LinearRgb c) {
  constexpr double kSlack = 1e-4;
  const auto inside = [](double v) { return v >= -kSlack && v <= 1 + kSlack; };
  return inside(c.r) && inside(c.g) && inside(c.b);
}

std::uint8_t to_srgb(double linear) {
  linear = std::clamp(linear, 0.0, 1.0);
  const double encoded = linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(encoded * 255));
}

/// The nearest colour of the same lightness and hue that a screen can show.
Color to_color(Oklab c) {
  double low = 0, high = 1;
  if (!in_gamut(to_linear(c))) {
    for (int i = 0; i < 20; ++i) {
      const double middle = (low + high) / 2;
      (in_gamut(to_linear({c.l, c.a * middle, c.b * middle})) ? low : high) = middle;
    }
    c = {c.l, c.a * low, c.b * low};
  }
  const LinearRgb rgb = to_linear(c);
  return {to_srgb(rgb.r), to_srgb(rgb.g), to_srgb(rgb.b)};
}

using Curve = std::array<Oklab, 5>;  ///< control points of a Bezier curve of degree four

Oklab at(Curve points, double t) {
  for (std::size_t left = points.size() - 1; left > 0; --left) {
    for (std::size_t i = 0; i < left; ++i) points[i] = mix(points[i], points[i + 1], t);
  }
  return points[0];
}

constexpr std::size_t kSteps = 1024;
using Table = std::array<Color, kSteps + 1>;

/// The curve sampled at equal distances in Oklab: all steps of the table look equally large.
Table even_table(const Curve& curve) {
  constexpr std::size_t kFine = 4 * kSteps;
  std::array<double, kFine + 1> length{};
  Oklab previous = at(curve, 0);
  for (std::size_t i = 1; i <= kFine; ++i) {
    const Oklab here = at(curve, static_cast<double>(i) / kFine);
    length[i] = length[i - 1] + distance(previous, here);
    previous = here;
  }
  Table table;
  std::size_t fine = 1;
  for (std::size_t i = 0; i <= kSteps; ++i) {
    const double wanted = length.back() * static_cast<double>(i) / kSteps;
    while (fine < kFine && length[fine] < wanted) ++fine;
    const double step = length[fine] - length[fine - 1];
    const double part = step > 0 ? (wanted - length[fine - 1]) / step : 0;
    table[i] = to_color(at(curve, (static_cast<double>(fine - 1) + part) / kFine));
  }
  return table;
}

Color pick(const Table& table, double t) {
  return table[std::lround(std::clamp(t, 0.0, 1.0) * kSteps)];
}

// From paper through mint and teal to a deep indigo; in the dark theme from near black to a pale lime.
const Table& sequential_light() {
  static const Table table = even_table({lch(0.985, 0.006, 190), lch(0.90, 0.07, 178), lch(0.64, 0.16, 212),
                                         lch(0.42, 0.21, 276), lch(0.24, 0.11, 289)});
  return table;
}
const Table& sequential_dark() {
  static const Table table = even_table({lch(0.235, 0.025, 283), lch(0.36, 0.19, 284), lch(0.60, 0.17, 238),
                                         lch(0.82, 0.17, 172), lch(0.965, 0.07, 118)});
  return table;
}

// Both arms have the same lightness at the same distance from 0.
const Table& diverging_arm(bool dark, bool positive) {
  static const Table light_positive =
      even_table({lch(0.97, 0, 250), lch(0.88, 0.05, 245), lch(0.70, 0.12, 246), lch(0.55, 0.16, 251),
                  lch(0.40, 0.13, 257)});
  static const Table light_negative = even_table(
      {lch(0.97, 0, 50), lch(0.88, 0.05, 60), lch(0.70, 0.12, 50), lch(0.55, 0.16, 43), lch(0.40, 0.13, 38)});
  static const Table dark_positive =
      even_table({lch(0.25, 0, 250), lch(0.33, 0.06, 256), lch(0.48, 0.14, 253), lch(0.64, 0.15, 248),
                  lch(0.80, 0.11, 240)});
  static const Table dark_negative = even_table(
      {lch(0.25, 0, 50), lch(0.33, 0.06, 36), lch(0.48, 0.14, 40), lch(0.64, 0.15, 48), lch(0.80, 0.11, 60)});
  if (dark) return positive ? dark_positive : dark_negative;
  return positive ? light_positive : light_negative;
}

constexpr Color kNotANumber{255, 0, 255};

constexpr std::string_view kMinus = "−";
constexpr std::string_view kInfinity = "∞";

/// ASCII digits with a real minus sign, also in the exponent, whose padding is removed: "-1.5e-07" ->
/// "−1.5e−7". "-0.00" becomes "0.00".
std::string typeset(std::string_view ascii) {
  const std::size_t e = ascii.find('e');
  std::string_view mantissa = ascii.substr(0, e);
  std::string result;
  if (mantissa.starts_with('-')) {
    mantissa.remove_prefix(1);
    if (mantissa.find_first_not_of("0.") != std::string_view::npos) result += kMinus;
  }
  result += mantissa;
  if (e == std::string_view::npos) return result;
  std::string_view exponent = ascii.substr(e + 1);
  result += 'e';
  if (exponent.starts_with('-')) result += kMinus;
  exponent.remove_prefix(std::min(exponent.find_first_of("123456789"), exponent.size() - 1));
  result += exponent;
  return result;
}

std::string formatted(double value, std::chars_format format, int precision) {
  char buffer[400];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, format, precision).ptr;
  return typeset({buffer, end});
}

/// "∞", "−∞", "NaN"; empty for a finite value.
std::string special(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return std::string(value < 0 ? kMinus : "").append(kInfinity);
  return {};
}

/// floor(log10(|value|)) after rounding to `digits` significant digits.
int exponent_of(double value, int digits) {
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer - 1, value, std::chars_format::scientific, digits - 1).ptr;
  *end = 0;
  return std::atoi(std::find(buffer, end, 'e') + 1);
}

/// m x 10^k, exact if it is a double.
double times_power_of_ten(double m, int k) {
  // 10^-k is not a double, so multiplying by it would give 0.30000000000000004 for 3 x 10^-1.
  return k >= 0 ? m * std::pow(10.0, k) : m / std::pow(10.0, -k);
}

struct Step {
  int mantissa;  ///< 1, 2 or 5
  int exponent;
};

Step nice_step(double rough) {
  int k = static_cast<int>(std::floor(std::log10(rough)));
  const double f = rough / std::pow(10.0, k);
  if (f < 1.5) return {1, k};
  if (f < 3.5) return {2, k};
  if (f < 7.5) return {5, k};
  return {1, k + 1};
}

}  // namespace

Color sequential(const Theme& theme, double t) {
  if (std::isnan(t)) return kNotANumber;
  return pick(theme.dark ? sequential_dark() : sequential_light(), t);
}

Color diverging(const Theme& theme, double t) {
  if (std::isnan(t)) return kNotANumber;
  return pick(diverging_arm(theme.dark, t >= 0), std::abs(t));
}

Color sign_color(const Theme& theme, double value) {
  constexpr double kStrong = 0.75;
  return diverging(theme, value < 0 ? -kStrong : kStrong);
}

std::vector<double> nice_ticks(double low, double high, int count) {
  if (!std::isfinite(low) || !std::isfinite(high) || count < 1) return {};
  if (low > high) std::swap(low, high);
  const double range = high - low;
  // Too narrow for other doubles in between: one tick is enough.
  const double magnitude = std::max(std::abs(low), std::abs(high));
  constexpr double kSmallest = 1e-300;  // keeps the step a normal number
  if (!std::isfinite(range) || range <= std::max(magnitude * 1e-13, kSmallest)) return {low};
  const Step step = nice_step(range / std::max(count - 1, 1));
  const double width = times_power_of_ten(step.mantissa, step.exponent);
  if (!(width > 0)) return {low};
  constexpr double kSlack = 1e-9;
  const double first = std::ceil(low / width - kSlack), last = std::floor(high / width + kSlack);
  std::vector<double> ticks;
  for (double i = first; i <= last; ++i)
    ticks.push_back(times_power_of_ten(i * step.mantissa, step.exponent) + 0.0);
  return ticks;
}

std::vector<double> log_ticks(double low, double high, int count) {
  if (!(low > 0) || !std::isfinite(high) || count < 1) return {};
  if (low > high) std::swap(low, high);
  if (!(low > 0)) return {};
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  constexpr double kSlack = 1e-9;
  const auto collect = [&](std::initializer_list<int> mantissas, int stride) {
    std::vector<double> ticks;
    for (int k = first; k <= last; ++k) {
      if (k % stride != 0) continue;
      for (const int m : mantissas) {
        const double tick = times_power_of_ten(m, k);
        if (tick >= low * (1 - kSlack) && tick <= high * (1 + kSlack)) ticks.push_back(tick);
      }
    }
    return ticks;
  };
  if (auto ticks = collect({1, 2, 5}, 1); std::ssize(ticks) <= count) return ticks;
  for (int stride = 1;; ++stride) {
    if (auto ticks = collect({1}, stride); std::ssize(ticks) <= std::max(count, 2)) return ticks;
  }
}

std::string tick_label(double value, double step) {
  if (auto text = special(value); !text.empty()) return text;
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (!(step > 0) || !std::isfinite(step)) {
    const bool plain = size >= 1e-3 && size < 1e5;
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                                   plain ? std::chars_format::fixed : std::chars_format::scientific)
                         .ptr;
    return typeset({buffer, end});
  }
  // Decimals needed by the step.
  int decimals = 0;
  for (double scaled = step; decimals < 300 && std::abs(scaled - std::round(scaled)) > 1e-6 * scaled;) {
    ++decimals;
    scaled = step * std::pow(10.0, decimals);
  }
  constexpr int kLongest = 5;
  const bool plain = size < 1e6 && decimals <= kLongest;
  if (plain) return formatted(value, std::chars_format::fixed, decimals);
  const int exponent = exponent_of(value, 15);
  // Before the decimal point a step may have trailing zeros, which are redundant in a mantissa.
  int step_zeros = 0;
  while (decimals == 0 && step_zeros < 300 && std::fmod(step, std::pow(10.0, step_zeros + 1)) == 0)
    ++step_zeros;
  const int digits = std::clamp(exponent + decimals - step_zeros, 0, 16);
  return formatted(value, std::chars_format::scientific, digits);
}

std::vector<Tick> labelled_ticks(double low, double high, int count, double lone_step) {
  const std::vector<double> values = nice_ticks(low, high, count);
  const double step = values.size() > 1 ? values[1] - values[0] : lone_step;
  std::vector<Tick> ticks;
  for (const double value : values) ticks.push_back({value, tick_label(value, step)});
  return ticks;
}

std::string number(double value, int digits) {
  if (auto text = special(value); !text.empty()) return text;
  if (value == 0) return "0";
  digits = std::clamp(digits, 1, 17);
  const int exponent = exponent_of(value, digits);
  if (exponent < -4 || exponent >= std::max(digits, 6)) {
    return formatted(value, std::chars_format::scientific, digits - 1);
  }
  const bool whole = value == std::trunc(value);
  return formatted(value, std::chars_format::fixed, whole ? 0 : std::max(0, digits - 1 - exponent));
}

std::string fixed_number(double value, int decimals) {
  if (auto text = special(value); !text.empty()) return text;
  return formatted(value, std::chars_format::fixed, decimals);
}

}  // namespace headscope::viz
