#include "viz/scene/scale.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

namespace headscope::viz {
namespace {

/// The bar's colours as a bitmap of `steps` pixels, low values last (vertical) or first (horizontal).
Image bar_image(const ColorScale& scale, Rect dest, bool upright, int steps, const Theme& theme) {
  const auto bitmap = std::make_shared<Bitmap>(Bitmap{upright ? 1 : steps, upright ? steps : 1, {}});
  for (int i = 0; i < steps; ++i) {
    const double part = (i + 0.5) / steps;
    const double t = upright ? 1 - part : part;
    bitmap->pixels.push_back(scale.map == ColorScale::Map::sequential ? sequential(theme, t)
                                                                      : diverging(theme, 2 * t - 1));
  }
  return {dest, bitmap, content_hash(*bitmap)};
}

/// The position of a value along the bar, 0 at the low end and 1 at the high end.
double along(const ColorScale& scale, double value) {
  const double t = scale.parameter(value);
  return scale.map == ColorScale::Map::sequential ? t : (t + 1) / 2;
}

/// The digits that a number takes exactly; 0: more than four.
int exact_digits(double value) {
  if (value == 0) return 1;
  for (int digits = 1; digits <= 4; ++digits) {
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) + 1 - digits);
    if (std::abs(std::round(value / unit) * unit - value) < 1e-6 * std::abs(value)) return digits;
  }
  return 0;
}

/// The end of a scale: exact if it was chosen and takes few digits, else with two digits.
std::string limit_number(double value) {
  const int digits = exact_digits(value);
  return number(value, value != 0 && digits > 0 ? digits : 2);
}

std::string limit_text(const ColorScale& scale, const Tick& tick) {
  const double slack = 1e-9 * (scale.high - scale.low);
  if (scale.values_below && tick.value <= scale.low + slack) return "≤ " + tick.text;
  if (scale.values_above && tick.value >= scale.high - slack) return "≥ " + tick.text;
  return tick.text;
}

}  // namespace

double ColorScale::parameter(double value) const {
  if (std::isnan(value)) return value;
  if (map == Map::diverging) return std::clamp(value / high, -1.0, 1.0);
  if (!logarithmic) return std::clamp((value - low) / (high - low), 0.0, 1.0);
  if (value <= low) return 0;
  return std::clamp(std::log(value / low) / std::log(high / low), 0.0, 1.0);
}

Color ColorScale::color(const Theme& theme, double value) const {
  const double t = parameter(value);
  return map == Map::sequential ? sequential(theme, t) : diverging(theme, t);
}

ColorScale linear_scale(double high) {
  ColorScale scale;
  scale.high = high > 0 ? high : 1;
  return scale;
}

ColorScale logarithmic_scale(double smallest_positive, double largest) {
  ColorScale scale;
  scale.logarithmic = true;
  scale.high = largest > 0 ? largest : 1;
  const double top_decade = std::ceil(std::log10(scale.high) - 1e-9);
  const double wanted =
      smallest_positive > 0 ? std::floor(std::log10(smallest_positive) + 1e-9) : top_decade - 1;
  const double bottom_decade = std::clamp(wanted, top_decade - 5, top_decade - 1);
  scale.low = std::pow(10.0, bottom_decade);
  scale.values_below = wanted < bottom_decade;
  return scale;
}

ColorScale diverging_scale(double magnitude) {
  ColorScale scale;
  scale.map = ColorScale::Map::diverging;
  scale.high = magnitude > 0 ? magnitude : 1;
  scale.low = -scale.high;
  return scale;
}

ColorTable::ColorTable(const ColorScale& scale, const Theme& theme)
    : logarithmic_(scale.logarithmic),
      nan_(sequential(theme, std::numeric_limits<double>::quiet_NaN())),
      colors_(scale.map == ColorScale::Map::sequential ? sequential_colors(theme) : diverging_colors(theme)) {
  const double low = logarithmic_ ? std::log2(scale.low) : scale.low;
  const double high = logarithmic_ ? std::log2(scale.high) : scale.high;
  factor_ = static_cast<float>((kMapColors - 1) / (high - low));
  offset_ = static_cast<float>(low);
}

Color ColorTable::operator()(float value) const {
  if (std::isnan(value)) return nan_;
  if (logarithmic_) {
    if (value <= 0) return colors_.front();
    value = std::log2(value);
  }
  const float index = std::clamp((value - offset_) * factor_ + 0.5F, 0.F, static_cast<float>(kMapColors - 1));
  return colors_[static_cast<int>(index)];
}

float ValueRange::magnitude() const {
  return std::max(std::abs(low), std::abs(high));
}

ValueRange value_range(const Matrix& m, const RangeOptions& options) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr int kLanes = 16;  // independent accumulators, so that the compiler can use vector instructions
  std::array<float, kLanes> low, high, smallest_positive;
  low.fill(kInfinity);
  high.fill(-kInfinity);
  smallest_positive.fill(kInfinity);
  auto take = [&](std::size_t lane, float v) {
    const bool finite = std::abs(v) < kInfinity;
    low[lane] = finite && v < low[lane] ? v : low[lane];
    high[lane] = finite && v > high[lane] ? v : high[lane];
    smallest_positive[lane] = v > 0 && v < smallest_positive[lane] ? v : smallest_positive[lane];
  };
  auto take_all = [&](const float* values, int count, std::ptrdiff_t stride) {
    int i = 0;
    if (stride == 1) {
      for (; i + kLanes <= count; i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) take(lane, values[i + lane]);
      }
    }
    for (; i < count; ++i) take(0, values[i * stride]);
  };
  for (int r = options.first_row; r < m.rows; ++r) {
    const int end = options.masked_above_diagonal ? std::min(m.cols, r + 1) : m.cols;
    const float* row = m.data + r * m.row_stride;
    const int hole = options.without_column >= 0 ? std::min(options.without_column, end) : end;
    take_all(row, hole, m.col_stride);
    if (hole + 1 < end) take_all(row + (hole + 1) * m.col_stride, end - hole - 1, m.col_stride);
  }
  const ValueRange range{*std::min_element(low.begin(), low.end()),
                         *std::max_element(high.begin(), high.end()),
                         *std::min_element(smallest_positive.begin(), smallest_positive.end())};
  if (range.low > range.high) return {};
  return {range.low, range.high, range.smallest_positive < kInfinity ? range.smallest_positive : 0};
}

ValueRange united(const ValueRange& a, const ValueRange& b) {
  const bool both = a.smallest_positive > 0 && b.smallest_positive > 0;
  return {std::min(a.low, b.low), std::max(a.high, b.high),
          both ? std::min(a.smallest_positive, b.smallest_positive)
               : std::max(a.smallest_positive, b.smallest_positive)};
}

float robust_magnitude(const Matrix& m, double fraction) {
  // A histogram over the leading bits (8 of the exponent, 4 of the mantissa) orders magnitudes without
  // sorting them.
  constexpr int kDropped = 19;
  std::array<std::uint32_t, 4096> histogram{};
  std::uint64_t count = 0;
  const Matrix walk = m.row_stride >= m.col_stride ? m : m.transposed();  // in memory order
  for (int r = 0; r < walk.rows; ++r) {
    for (int c = 0; c < walk.cols; ++c) {
      const auto bits = std::bit_cast<std::uint32_t>(walk.at(r, c)) & 0x7FFFFFFFU;
      if (bits >= 0x7F800000U) continue;
      ++histogram[bits >> kDropped];
      ++count;
    }
  }
  const auto allowed = static_cast<std::uint64_t>(fraction * static_cast<double>(count));
  std::uint64_t above = 0;
  for (std::uint32_t bin = 4096; bin-- > 0;) {
    above += histogram[bin];
    if (above > allowed)
      return bin > 0 ? std::bit_cast<float>((bin + 1) << kDropped) : 0;  // bin 0 holds zeros
  }
  return 0;
}

ColorScale marked_for(ColorScale scale, const ValueRange& range) {
  scale.values_above = static_cast<double>(range.high) > scale.high;
  scale.values_below = static_cast<double>(range.low) < scale.low;
  return scale;
}

ColorScale robust_scale(const Matrix& m, double fraction, const ValueRange& range) {
  const float most = robust_magnitude(m, fraction);
  return marked_for(diverging_scale(static_cast<double>(most > 0 ? most : range.magnitude())), range);
}
ColorScale robust_scale(const Matrix& m, double fraction) {
  return robust_scale(m, fraction, value_range(m));
}

namespace {

constexpr int kFewestTicks = 2;
constexpr int kMostTicks = 6;

/// Numbers along a scale, in ascending order, at most about `count`.
std::vector<Tick> scale_ticks(const ColorScale& scale, int count) {
  std::vector<Tick> ticks;
  if (scale.logarithmic) {
    for (const double v : log_ticks(scale.low, scale.high, count)) ticks.push_back({v, tick_label(v, v)});
    if (scale.values_above) {
      const double step = ticks.size() > 1 ? ticks[1].value / ticks[0].value : 10;
      std::erase_if(ticks, [&](const Tick& t) { return t.value * std::pow(step, 0.6) > scale.high; });
      ticks.push_back({scale.high, limit_number(scale.high)});
    }
    return ticks;
  }
  ticks = labelled_ticks(scale.low, scale.high, count, scale.high - scale.low);
  const double step = ticks.size() > 1 ? ticks[1].value - ticks[0].value : scale.high - scale.low;
  if (ticks.size() < 2) ticks = {{scale.low, number(scale.low, 2)}, {scale.high, number(scale.high, 2)}};
  // The ends of a robust scale are not round numbers, but they show what is clipped.
  if (scale.values_above) {
    std::erase_if(ticks, [&](const Tick& t) { return t.value > scale.high - 0.6 * step; });
    ticks.push_back({scale.high, limit_number(scale.high)});
  }
  if (scale.values_below) {
    std::erase_if(ticks, [&](const Tick& t) { return t.value < scale.low + 0.6 * step; });
    ticks.insert(ticks.begin(), {scale.low, limit_number(scale.low)});
  }
  return ticks;
}

}  // namespace

float color_scale_width(const ColorScale& scale, const std::string& title,
                        const std::optional<Outside>& outside, const Style& style) {
  const float bar = 3 * style.unit(), gap = 1.5F * style.unit();
  float widest = 0;
  // How many ticks fit is known only after painting them.
  for (int most = kFewestTicks; most <= kMostTicks; ++most) {
    for (const Tick& tick : scale_ticks(scale, most)) {
      widest = std::max(widest, style.width(limit_text(scale, tick), style.small()));
    }
  }
  if (outside) widest = std::max(widest, style.width(outside->text, style.small()));
  return std::ceil(std::max(bar + gap + widest, style.width(title, style.small())));
}

bool paint_color_scale(Scene& scene, const ColorScale& scale, const std::string& title,
                       const std::optional<Outside>& outside, Rect area, const Style& style) {
  const float u = style.unit(), line = style.line(style.small()), bar_width = 3 * u,
              text_x = area.x + bar_width + 1.5F * u;
  float y = area.y;
  bool whole = area.h >= 5 * line || title.empty();
  if (area.h >= 5 * line) {
    add_muted(scene, style, title, {area.x, y + line / 2}, Align::left, area.w);
    y += line + u;
  }
  if (outside && area.bottom() - y < 4 * line) {
    whole = false;
  } else if (outside) {
    const Rect swatch{area.x, y + (line - bar_width) / 2, bar_width, bar_width};
    scene.add(FillRect{swatch, outside->color});
    add_muted(scene, style, outside->text, {text_x, y + line / 2}, Align::left, area.right() - text_x);
    y += line + u;
  }
  const Rect bar{area.x, style.snapped(y + line / 2), bar_width,
                 std::floor(std::min(area.bottom() - y - line, 14 * style.font_size))};
  if (bar.h < 2 * u) return false;
  const int steps = std::max(2, static_cast<int>(std::ceil(bar.h * style.device_scale)));
  scene.add(bar_image(scale, bar, true, steps, style.theme));
  scene.add(StrokeRect{bar, style.theme.line, 1});

  const int most = std::clamp(static_cast<int>(bar.h / (2 * line)), kFewestTicks, kMostTicks);
  float above = std::numeric_limits<float>::max();
  int written = 0;
  for (const Tick& tick : scale_ticks(scale, most)) {
    const float tick_y = bar.bottom() - static_cast<float>(along(scale, tick.value)) * bar.h;
    if (above - tick_y < line) continue;  // it would touch the previous one, below
    above = tick_y;
    ++written;
    scene.add_line({bar.right(), tick_y}, {bar.right() + u * 0.75F, tick_y}, style.theme.text_muted);
    add_muted(scene, style, limit_text(scale, tick), {text_x, tick_y}, Align::left, area.right() - text_x);
  }
  return whole && written >= kFewestTicks;  // a single number does not define a scale
}

namespace {

constexpr float kLineBar = 12, kShortLineBar = 6,
                kShortestLineBar = 4;  // units: length of the colour bar in a line of text

float paint_line(Scene& scene, const ColorScale& scale, const std::string& title, Point left_middle,
                 float bar_length, const Style& style) {
  // Both ends with the same number of digits, without zeros after the last one. A limit that several scales
  // share, such as 3.625, is the same in all: it is not rounded where that could be up or down.
  const auto end = [&](double value) {
    const int digits = exact_digits(value);
    const bool is_exact = digits == 4 ? limit_number(value).ends_with('5') : digits > 0;
    return is_exact ? limit_number(value) : number(value, 3);
  };
  const float u = style.unit(), size = style.small();
  float x = left_middle.x;
  auto text = [&](const std::string& words, Color color) {
    add_label(scene, style, words, {x, left_middle.y}, size, color);
    x += std::ceil(style.width(words, size)) + 1.5F * u;
  };
  text(title, style.theme.text);
  text((scale.values_below ? "≤ " : "") + end(scale.low), style.theme.text_muted);
  const Rect bar{x, style.snapped(left_middle.y - u), bar_length * u, 2 * u};
  scene.add(
      bar_image(scale, bar, false, static_cast<int>(std::ceil(bar.w * style.device_scale)), style.theme));
  scene.add(StrokeRect{bar, style.theme.line, 1});
  x = bar.right() + 1.5F * u;
  text((scale.values_above ? "≥ " : "") + end(scale.high), style.theme.text_muted);
  return x - 1.5F * u - left_middle.x;
}

}  // namespace

float paint_color_scale_line(Scene& scene, const ColorScale& scale, const std::string& title,
                             Point left_middle, const Style& style) {
  return paint_line(scene, scale, title, left_middle, kLineBar, style);
}

bool paint_color_scale_in(Scene& scene, const ColorScale& scale, const std::string& title,
                          const std::optional<Outside>& outside, Point at, float room, const Style& style) {
  const float u = style.unit();
  for (const auto& [name, bar] : {std::pair{title, kLineBar},
                                  {std::string(), kLineBar},
                                  {std::string(), kShortLineBar},
                                  {std::string(), kShortestLineBar}}) {
    Scene line;
    const float gap = name.empty() ? 1.5F * u : 0;  // after the title
    float used = paint_line(line, scale, name, {at.x - gap, at.y}, bar, style) - gap;
    if (used > room) continue;
    append(scene, line, {0, 0});
    used += 3 * u;
    if (!outside || used + 3 * u + style.width(outside->text, style.small()) > room) return true;
    scene.add(FillRect{{at.x + used, at.y - u, 2 * u, 2 * u}, outside->color});
    add_muted(scene, style, outside->text, {at.x + used + 3 * u, at.y});
    return true;
  }
  return false;
}

}  // namespace headscope::viz
