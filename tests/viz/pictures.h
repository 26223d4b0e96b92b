#pragma once
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "viz/players/players.h"
#include "viz/scene/colormap.h"
#include "viz/scene/picture.h"
#include "viz/scene/scene.h"
#include "viz/scene/theme.h"
#include "viz/text/text.h"

/// Scenes and measures shared by the players' tests.
namespace headscope::viz::testing {

inline const std::shared_ptr<const Fonts>& fonts() {
  static const auto loaded = Fonts::load();
  return loaded;
}

inline const Theme kLight = light_theme(), kDark = dark_theme();
inline Style style_of(const Theme& theme = kLight, float font_size = 14, float device_scale = 1) {
  return {theme, *fonts(), font_size, device_scale};
}

inline Scene blank(float width, float height, Color background = {255, 255, 255, 255}) {
  Scene scene;
  scene.width = width;
  scene.height = height;
  scene.background = background;
  return scene;
}

inline std::shared_ptr<const Bitmap> noise(int width, int height, unsigned seed = 1) {
  auto bitmap = std::make_shared<Bitmap>(Bitmap{width, height, {}});
  for (int i = 0; i < width * height; ++i) {
    seed = seed * 1664525 + 1013904223;
    bitmap->pixels.push_back({static_cast<std::uint8_t>(seed >> 24), static_cast<std::uint8_t>(seed >> 16),
                              static_cast<std::uint8_t>(seed >> 8), 255});
  }
  return bitmap;
}

inline Image image(Rect dest, std::shared_ptr<const Bitmap> bitmap) {
  const std::uint64_t id = content_hash(*bitmap);
  return {dest, std::move(bitmap), id};
}

/// A scene with one of everything, at fractional positions.
inline Scene everything(const Theme& theme) {
  Scene s = blank(400, 300, theme.surface);
  s.add(FillRect{{10, 10, 80, 40}, theme.raised, 8});
  s.add(FillRect{{20.3F, 60.6F, 50.5F, 20.2F}, theme.key});
  s.add(StrokeRect{{10.5F, 90.5F, 60, 30}, theme.line});
  s.add(StrokeRect{{90, 90, 60, 30}, theme.accent, 2, 6});
  Polyline curve{{}, theme.query, 1.5F};
  for (int i = 0; i <= 100; ++i) {
    const float t = static_cast<float>(i);
    curve.points.push_back({10 + 2 * t, 170 + 25 * std::sin(t / 8)});
  }
  s.add(curve);
  s.add(Polyline{{{220, 200}, {260, 150}, {280, 210}, {340, 205}}, theme.value, 4});
  s.add(PushClip{{220, 10, 70, 70}});
  Segments hatch{{}, theme.hatch, 1};
  for (int i = -80; i < 80; i += 6) {
    hatch.points.push_back({220 + static_cast<float>(i), 10});
    hatch.points.push_back({300 + static_cast<float>(i), 90});
  }
  s.add(hatch);
  s.add(PopClip{});
  s.add(Segments{{{310.5F, 10}, {310.5F, 90}, {300, 50.5F}, {390, 50.5F}}, theme.line, 1});
  s.add(FillPolygon{{{320, 100}, {380, 120}, {350, 170}}, theme.value.with_alpha(160)});
  s.add(image({100.4F, 20.4F, 90, 55}, noise(9, 5)));
  s.add(make_text(*fonts(), "L5 H1 query 8 → 0.4123", {12, 220}, 14, theme.text));
  s.add(make_text(*fonts(), "Heads, all of them", {12.3F, 240.7F}, 18, theme.text, FontStyle::bold));
  s.add(make_text(*fonts(), "日本 \xE2 \U0010FFFD", {12, 262}, 13, theme.text_muted));
  s.add(make_text(*fonts(), "turned", {390, 290}, 13, theme.text, FontStyle::mono, Align::left, -1.5707963F));
  s.add(make_text(*fonts(), "aslant", {240, 290}, 13, theme.text, FontStyle::medium, Align::left, -0.4F));
  return s;
}

inline int channel_difference(Color a, Color b) {
  return std::max({std::abs(a.r - b.r), std::abs(a.g - b.g), std::abs(a.b - b.b)});
}

/// The fraction of pixels that differ by more than `tolerance` of 255.
inline double differing(const Bitmap& a, const Bitmap& b, int tolerance) {
  if (a.width != b.width || a.height != b.height) return 1;
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i)
    count += channel_difference(a.pixels[i], b.pixels[i]) > tolerance;
  return static_cast<double>(count) / static_cast<double>(a.pixels.size());
}

/// The width and height of a PNG file, in pixels.
inline std::pair<int, int> png_size(std::string_view png) {
  const auto number = [&](std::size_t at) {
    int value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(png.at(at + i));
    return value;
  };
  return {number(16), number(20)};
}

/// The amount of black on white, in pixels.
inline double ink(const Bitmap& bitmap) {
  double sum = 0;
  for (const Color c : bitmap.pixels) sum += 1 - c.g / 255.0;
  return sum;
}

}  // namespace headscope::viz::testing
