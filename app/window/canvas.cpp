#include "app/window/canvas.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

using viz::Color;
using viz::FillRect;
using viz::FontStyle;
using viz::Point;
using viz::Rect;

Color mix(Color a, Color b, float t) {
  const auto channel = [t](std::uint8_t x, std::uint8_t y) {
    return static_cast<std::uint8_t>(
        std::lround(static_cast<float>(x) * (1 - t) + static_cast<float>(y) * t));
  };
  return {channel(a.r, b.r), channel(a.g, b.g), channel(a.b, b.b), channel(a.a, b.a)};
}

Canvas::Canvas(const viz::Theme& theme, const viz::Fonts& fonts, float font_size,
               std::optional<Point> pointer)
    : theme_(theme), fonts_(fonts), font_size_(font_size), pointer_(pointer) {
  scene_.background = theme.window;
}

void Canvas::fill(const Rect& rect, Color color, float radius) {
  scene_.add(FillRect{rect, color, radius});
}

void Canvas::shadow(const Rect& rect, float radius, float depth) {
  constexpr int kLayers = 6;  // each fainter and wider: together a falling edge
  const std::uint8_t alpha = theme_.dark ? 28 : 9;
  for (int i = 1; i <= kLayers; ++i) {
    const float spread = depth * static_cast<float>(i) / kLayers;
    const Rect cast = rect.inset(-spread);
    fill({cast.x, cast.y + depth / 3, cast.w, cast.h}, {0, 0, 0, alpha}, radius + spread);
  }
}

void Canvas::stroke(const Rect& rect, Color color, float width, float radius) {
  scene_.add(viz::StrokeRect{rect.inset(width / 2), color, width, radius});
}

void Canvas::line(Point a, Point b, Color color, float width) {
  scene_.add(viz::Segments{{a, b}, color, width});
}

void Canvas::text(std::string_view text, Point middle, Color color, FontStyle style, float size_factor,
                  viz::Align align) {
  scene_.add(viz::make_text_middle(fonts_, text, middle, font_size_ * size_factor, color, style, align));
}

void Canvas::text_in(std::string_view words, const Rect& rect, Color color, FontStyle style,
                     float size_factor, viz::Align align) {
  if (rect.w <= 0) return;
  const std::string fitted = fonts_.fit(words, style, font_size_ * size_factor, rect.w);
  const float x = align == viz::Align::left    ? rect.x
                  : align == viz::Align::right ? rect.right()
                                               : rect.center().x;
  text(fitted, {x, rect.center().y}, color, style, size_factor, align);
}

float Canvas::paragraph(std::string_view words, Point top_left, float max_width, Color color,
                        float size_factor) {
  const float size = font_size_ * size_factor;
  const float line_height = size * 1.45F;
  float y = top_left.y;
  std::string line;
  const auto flush = [&] {
    if (line.empty()) return;
    text(line, {top_left.x, y + line_height / 2}, color, FontStyle::regular, size_factor);
    y += line_height;
    line.clear();
  };
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    const std::string word(words.substr(at, end - at));
    std::string longer = line;
    if (!line.empty()) longer += ' ';
    longer += word;
    if (!line.empty() && fonts_.width(longer, FontStyle::regular, size) > max_width) {
      flush();
      line = word;
    } else {
      line = std::move(longer);
    }
    at = end + 1;
  }
  flush();
  return y - top_left.y;
}

float Canvas::width(std::string_view words, FontStyle style, float size_factor) const {
  return fonts_.width(words, style, font_size_ * size_factor);
}

float Canvas::button_width(std::string_view label, bool menu) const {
  return std::ceil(width(label, FontStyle::medium)) + u(menu ? 38 : 24);
}

void Canvas::button(const Rect& rect, std::string_view label, Action action, const ButtonStyle& style) {
  const bool hovered = style.enabled && hot(rect);
  const float radius = u(6);
  Color face = theme_.raised;
  Color ink = theme_.text;
  if (style.look == Look::primary) {
    face = theme_.accent;
    ink = theme_.on_accent;
  } else if (style.on) {
    face = mix(theme_.surface, theme_.accent, 0.18F);
    ink = theme_.text;
  }
  if (hovered) face = mix(face, theme_.text, 0.08F);
  if (!style.enabled) ink = mix(theme_.surface, theme_.text, 0.4F);
  if (style.look != Look::plain || style.on || hovered) fill(rect, face, radius);
  if (style.look == Look::raised) stroke(rect, style.on ? theme_.accent : theme_.line, 1, radius);
  const float arrow = style.menu ? u(14) : 0;
  const Rect inside{rect.x + u(8), rect.y, rect.w - u(16) - arrow, rect.h};
  text_in(label, inside, ink, FontStyle::medium, 1, style.menu ? viz::Align::left : viz::Align::center);
  if (style.menu) {
    const Point c{rect.right() - u(14), rect.center().y + u(0.5F)};
    scene_.add(
        viz::Polyline{{{c.x - u(4), c.y - u(2)}, {c.x, c.y + u(2)}, {c.x + u(4), c.y - u(2)}}, ink, u(1.4F)});
  }
  if (style.enabled) target({rect, std::move(action), {}, style.tip, Cursor::hand});
}

float Canvas::segmented_width(const std::vector<Segment>& segments) const {
  float total = 0;
  for (const Segment& s : segments) total += std::ceil(width(s.label, FontStyle::medium)) + u(20);
  return total;
}

void Canvas::segmented(const Rect& rect, const std::vector<Segment>& segments) {
  const float radius = u(6);
  fill(rect, theme_.raised, radius);
  stroke(rect, theme_.line, 1, radius);
  const float spare = (rect.w - segmented_width(segments)) / static_cast<float>(segments.size());
  float x = rect.x;
  for (const Segment& s : segments) {
    const Rect part{x, rect.y, std::ceil(width(s.label, FontStyle::medium)) + u(20) + spare, rect.h};
    if (s.on) {
      fill(part, mix(theme_.surface, theme_.accent, 0.18F), radius);
      stroke(part, theme_.accent, 1, radius);
    } else if (hot(part)) {
      fill(part.inset(1), mix(theme_.raised, theme_.text, 0.08F), radius);
    }
    text_in(s.label, part.inset(u(4)), s.on ? theme_.text : theme_.text_muted, FontStyle::medium, 1,
            viz::Align::center);
    target({part, s.action, {}, s.tip, Cursor::hand});
    x += part.w;
  }
}

void Canvas::slider(const Rect& rect, double fraction, const Drag& drag, std::string tip) {
  const float y = rect.center().y;
  const float knob_x = rect.x + static_cast<float>(std::clamp(fraction, 0.0, 1.0)) * rect.w;
  const float knob = u(7);
  fill({rect.x, y - u(2), rect.w, u(4)}, theme_.line, u(2));
  fill({rect.x, y - u(2), knob_x - rect.x, u(4)}, theme_.accent, u(2));
  const Rect reach{rect.x - knob, rect.y, rect.w + 2 * knob, rect.h};
  const Rect knob_rect{knob_x - knob, y - knob, 2 * knob, 2 * knob};
  fill(knob_rect, hot(reach) ? mix(theme_.accent, theme_.text, 0.15F) : theme_.accent, knob);
  fill(knob_rect.inset(u(3)), theme_.on_accent, knob - u(3));
  target({reach, {}, drag, std::move(tip), Cursor::hand});
}

void Canvas::checkbox(const Rect& rect, std::string_view label, bool on, Action action, std::string tip) {
  const float side = u(16);
  const Rect box{rect.x, rect.center().y - side / 2, side, side};
  fill(box, on ? theme_.accent : (hot(rect) ? mix(theme_.raised, theme_.text, 0.08F) : theme_.raised), u(4));
  if (!on) stroke(box, theme_.text_muted, 1, u(4));
  if (on) {
    const Point c = box.center();
    scene_.add(viz::Polyline{{{c.x - u(4), c.y}, {c.x - u(1), c.y + u(3)}, {c.x + u(4.5F), c.y - u(3.5F)}},
                             theme_.on_accent,
                             u(1.8F)});
  }
  text_in(label, {rect.x + side + u(8), rect.y, rect.w - side - u(8), rect.h}, theme_.text);
  target({rect, std::move(action), {}, std::move(tip), Cursor::hand});
}

void Canvas::target(Target target) {
  targets_.push_back(std::move(target));
}

void Canvas::begin_layer(const Rect& window, Action close, Color shade) {
  if (shade.a != 0) fill(window, shade);
  targets_.push_back({window, std::move(close), {}, {}, Cursor::arrow});
}

}  // namespace headscope::app
