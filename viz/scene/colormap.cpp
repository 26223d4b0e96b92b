#include "viz/scene/colormap.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace headscope::viz {
namespace {

// Samples at equal distances, in Oklab, of curves of degree four through colours chosen there, so that all
// steps look equally large. See B. Ottosson, "A perceptual color space for image processing", 2020.
constexpr int kSamples = 25;
using Samples = std::array<std::uint32_t, kSamples>;  // 0xRRGGBB

// From paper through mint and teal to a deep indigo; in the dark theme from near black to a pale lime.
constexpr Samples kSequentialLight{0xf6fbfb, 0xe0f6f3, 0xccf0ed, 0xb8e8e8, 0xa5dfe3, 0x93d6df, 0x82ccdb,
                                   0x72c2d7, 0x64b8d4, 0x57add0, 0x4ba2cb, 0x4198c7, 0x388cc2, 0x3281bd,
                                   0x2e76b7, 0x2c6ab1, 0x2b5eaa, 0x2b53a3, 0x2b479a, 0x2b3c90, 0x2b3086,
                                   0x2a267a, 0x281c6c, 0x25145e, 0x210d4e};
constexpr Samples kSequentialDark{0x1c1d2a, 0x20203b, 0x23244c, 0x272a5d, 0x29326d, 0x2a3b7c, 0x2b4689,
                                  0x2a5194, 0x295c9e, 0x2768a6, 0x2574ae, 0x2480b4, 0x258cb9, 0x2898bd,
                                  0x2fa3c0, 0x39afc3, 0x46bac4, 0x55c5c5, 0x66cfc5, 0x79d9c5, 0x8ee2c4,
                                  0xa4ebc4, 0xbdf2c4, 0xd5f7c4, 0xeffbc5};
// Both arms have the same lightness at the same distance from 0.
constexpr Samples kPositiveLight{0xf5f5f5, 0xe8eff5, 0xdbe9f5, 0xcee2f4, 0xc1dbf3, 0xb5d4f1, 0xa9cdef,
                                 0x9dc6ed, 0x91bfeb, 0x86b8e8, 0x7ab1e4, 0x6fa9e1, 0x64a2dd, 0x599ad9,
                                 0x4f92d4, 0x458bcf, 0x3b83c9, 0x327bc4, 0x2973bd, 0x216bb6, 0x1a63af,
                                 0x145ba7, 0x0f549e, 0x0d4c95, 0x0d458c};
constexpr Samples kPositiveDark{0x222222, 0x22272d, 0x222c39, 0x223144, 0x233750, 0x233d5b, 0x234367,
                                0x234972, 0x244f7d, 0x255588, 0x265c93, 0x27639d, 0x2a6aa7, 0x2c71b1,
                                0x3078ba, 0x3480c3, 0x3988cc, 0x3f8fd4, 0x4597dc, 0x4c9fe3, 0x54a7e9,
                                0x5cafef, 0x65b7f5, 0x6ebff9, 0x78c7fd};
constexpr Samples kNegativeLight{0xf5f5f5, 0xf4ece6, 0xf3e3d9, 0xf1dacb, 0xefd1be, 0xedc8b1, 0xeabea5,
                                 0xe7b598, 0xe4ac8d, 0xe0a281, 0xdc9976, 0xd8906b, 0xd38760, 0xce7d55,
                                 0xc9754b, 0xc36b41, 0xbd6238, 0xb75a2f, 0xb05126, 0xa9491d, 0xa14115,
                                 0x99390d, 0x903106, 0x872b03, 0x7e2401};
constexpr Samples kNegativeDark{0x222222, 0x2d2422, 0x372722, 0x422922, 0x4d2c22, 0x572f22, 0x613322,
                                0x6c3622, 0x753a23, 0x803e24, 0x8a4325, 0x934826, 0x9d4e28, 0xa6542b,
                                0xaf5a2e, 0xb86132, 0xc06837, 0xc86f3d, 0xcf7743, 0xd68049, 0xdd8851,
                                0xe39159, 0xe99a61, 0xeda36a, 0xf2ad73};

/// The colour between samples; `t` is clamped to [0, 1].
constexpr Color pick(const Samples& samples, double t) {
  const double place = std::clamp(t, 0.0, 1.0) * (kSamples - 1);
  const int first = std::min(static_cast<int>(place), kSamples - 2);
  const auto channel = [&](int shift) {
    const auto at = [&](int i) { return static_cast<double>(samples[i] >> shift & 255); };
    return static_cast<std::uint8_t>(std::lerp(at(first), at(first + 1), place - first) + 0.5);
  };
  return {channel(16), channel(8), channel(0)};
}

// These are made by the compiler: the patterns of all heads are coloured anew at every letter typed.
using MapColors = std::array<Color, kMapColors>;

constexpr MapColors sequential_table(const Samples& samples) {
  MapColors table;
  for (int i = 0; i < kMapColors; ++i) table[i] = pick(samples, static_cast<double>(i) / (kMapColors - 1));
  return table;
}

constexpr MapColors diverging_table(const Samples& positive, const Samples& negative) {
  MapColors table;
  for (int i = 0; i < kMapColors; ++i) {
    const double t = 2 * (static_cast<double>(i) / (kMapColors - 1)) - 1;
    table[i] = pick(t >= 0 ? positive : negative, t >= 0 ? t : -t);
  }
  return table;
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
  return pick(theme.dark ? kSequentialDark : kSequentialLight, t);
}

Color diverging(const Theme& theme, double t) {
  if (std::isnan(t)) return kNotANumber;
  const Samples& positive = theme.dark ? kPositiveDark : kPositiveLight;
  const Samples& negative = theme.dark ? kNegativeDark : kNegativeLight;
  return pick(t >= 0 ? positive : negative, std::abs(t));
}

std::span<const Color> sequential_colors(const Theme& theme) {
  static constexpr MapColors kLight = sequential_table(kSequentialLight),
                             kDark = sequential_table(kSequentialDark);
  return theme.dark ? kDark : kLight;
}

std::span<const Color> diverging_colors(const Theme& theme) {
  static constexpr MapColors kLight = diverging_table(kPositiveLight, kNegativeLight),
                             kDark = diverging_table(kPositiveDark, kNegativeDark);
  return theme.dark ? kDark : kLight;
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
