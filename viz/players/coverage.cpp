#include "viz/players/coverage.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

namespace headscope::viz {
namespace {

/// Curves are approximated by lines that deviate by at most this, in pixels.
constexpr float kTolerance = 0.01F;
constexpr int kMaxSteps = 64;

int steps_for(float squared_ratio) {
  const float steps = std::ceil(std::sqrt(squared_ratio));
  return steps >= 1 ? static_cast<int>(std::min<float>(steps, kMaxSteps)) : 1;  // one for NaN
}

Point lerp(Point a, Point b, float t) {
  return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t};
}

/// |a - 2b + c|: how far a curve bends.
float bend(Point a, Point b, Point c) {
  return std::hypot(a.x - 2 * b.x + c.x, a.y - 2 * b.y + c.y);
}

Point turned(Point p, float cosine, float sine) {
  return {p.x * cosine - p.y * sine, p.x * sine + p.y * cosine};
}

struct Turn {
  float cosine;
  float sine;
};

/// Exact for quarter turns, which most texts use.
Turn turn_of(float angle) {
  constexpr float kHalfPi = std::numbers::pi_v<float> / 2;
  const float quarters = angle / kHalfPi;
  const float nearest = std::round(quarters);
  if (std::abs(quarters - nearest) > 1e-4F) return {std::cos(angle), std::sin(angle)};
  constexpr Turn kQuarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  return kQuarters[static_cast<int>(nearest) & 3];
}

/// `v` in quarters of a pixel: whole pixels and a remainder of 0..3.
struct Quarters {
  int pixel;
  std::uint8_t rest;
};
Quarters to_quarters(float v) {
  const int quarters = round_to_pixel(v * 4);
  return {quarters >> 2, static_cast<std::uint8_t>(quarters & 3)};
}

}  // namespace

void Coverage::reset(PixelRect bounds) {
  bounds_ = bounds.empty() ? PixelRect{bounds.x0, bounds.y0, bounds.x0, bounds.y0} : bounds;
  stride_ = std::size_t{2} + bounds_.width();
  area_.assign(stride_ * bounds_.height(), 0);
  start_ = at_ = {};
}

void Coverage::move_to(Point p) {
  start_ = at_ = p;
}

void Coverage::line_to(Point p) {
  edge(at_, p);
  at_ = p;
}

void Coverage::quad_to(Point control, Point p) {
  const Point from = at_;
  const int steps = steps_for(bend(from, control, p) / (4 * kTolerance));
  for (int i = 1; i <= steps; ++i) {
    const float t = static_cast<float>(i) / static_cast<float>(steps);
    line_to(lerp(lerp(from, control, t), lerp(control, p, t), t));
  }
}

void Coverage::cubic_to(Point control1, Point control2, Point p) {
  const Point from = at_;
  const float most = std::max(bend(from, control1, control2), bend(control1, control2, p));
  const int steps = steps_for(0.75F * most / kTolerance);
  for (int i = 1; i <= steps; ++i) {
    const float t = static_cast<float>(i) / static_cast<float>(steps);
    const Point middle = lerp(control1, control2, t);
    line_to(lerp(lerp(lerp(from, control1, t), middle, t), lerp(middle, lerp(control2, p, t), t), t));
  }
}

void Coverage::close() {
  line_to(start_);
}

void Coverage::edge(Point a, Point b) {
  if (!std::isfinite(a.x + a.y + b.x + b.y)) return;
  const auto inside = [&](Point p) {
    return Point{p.x - static_cast<float>(bounds_.x0), p.y - static_cast<float>(bounds_.y0)};
  };
  a = inside(a);
  b = inside(b);
  float direction = 1;
  if (a.y > b.y) {
    std::swap(a, b);
    direction = -1;
  }
  const float height = static_cast<float>(bounds_.height());
  if (a.y == b.y || b.y <= 0 || a.y >= height) return;
  if (a.y < 0) a = {a.x + (b.x - a.x) * (-a.y / (b.y - a.y)), 0};
  if (b.y > height) b = {a.x + (b.x - a.x) * ((height - a.y) / (b.y - a.y)), height};

  // Edges left of the bounds cover their rows from the first pixel on; edges right of them cover nothing.
  const float width = static_cast<float>(bounds_.width());
  Point pieces[4] = {a, a, b, b};
  const auto cross = [&](float x) {
    const float t = std::clamp((x - a.x) / (b.x - a.x), 0.0F, 1.0F);
    return Point{x, a.y + (b.y - a.y) * t};
  };
  if (std::min(a.x, b.x) < 0 && std::max(a.x, b.x) > 0) pieces[a.x < b.x ? 1 : 2] = cross(0);
  if (std::min(a.x, b.x) < width && std::max(a.x, b.x) > width) pieces[a.x < b.x ? 2 : 1] = cross(width);
  for (int i = 0; i < 3; ++i) {
    Point p = pieces[i], q = pieces[i + 1];
    if (q.y <= p.y || std::min(p.x, q.x) >= width) continue;
    p.x = std::clamp(p.x, 0.0F, width);
    q.x = std::clamp(q.x, 0.0F, width);
    edge_inside(p, q, direction);
  }
}

void Coverage::edge_inside(Point a, Point b, float direction) {
  const float slope = (b.x - a.x) / (b.y - a.y);
  const float width = static_cast<float>(bounds_.width());
  float x = a.x;
  const int last = std::min(bounds_.height(), static_cast<int>(std::ceil(b.y)));
  for (int y = static_cast<int>(a.y); y < last; ++y) {
    float* row = &area_[y * stride_];
    const float dy = std::min(static_cast<float>(y + 1), b.y) - std::max(static_cast<float>(y), a.y);
    const float next = std::clamp(x + slope * dy, 0.0F, width);
    const float signed_height = dy * direction;
    const float left = std::min(x, next), right = std::max(x, next);
    const int first = static_cast<int>(left);
    const int end = static_cast<int>(std::ceil(right));
    if (end <= first + 1) {  // within one pixel: a trapezoid
      const float beyond = (left + right) / 2 - static_cast<float>(first);
      row[first] += signed_height * (1 - beyond);
      row[first + 1] += signed_height * beyond;
    } else {  // a triangle, full slices, and another triangle
      float covered = 0;
      for (int i = first; i < end; ++i) {
        const float from = std::max(left, static_cast<float>(i));
        const float to = std::min(right, static_cast<float>(i + 1));
        // The part of the edge's height passed at the pixel's right side, minus the strip left of the edge.
        const float slice = signed_height * (to - from) / (right - left);
        const float beyond = (from + to) / 2 - static_cast<float>(i);
        row[i] += slice * (1 - beyond) + covered;
        covered = slice * beyond;
      }
      row[end] += covered;
    }
    x = next;
  }
}

void Coverage::row(int y, std::vector<float>& coverage) const {
  const float* area = &area_[(y - bounds_.y0) * stride_];
  coverage.resize(bounds_.width());
  float sum = 0;
  for (std::size_t i = 0; i < coverage.size(); ++i) {
    sum += area[i];
    coverage[i] = std::min(std::abs(sum), 1.0F);
  }
}

void add_outline(Coverage& path, const Outline& outline, const Placement& placement) {
  const Turn turn = turn_of(placement.angle);
  const auto place = [&](Point p) {
    const Point q = turned({p.x * placement.scale, p.y * placement.scale}, turn.cosine, turn.sine);
    return Point{q.x + placement.origin.x, q.y + placement.origin.y};
  };
  bool open = false;
  for (const OutlinePoint& p : outline) {
    switch (p.kind) {
      case OutlinePoint::Kind::move:
        if (open) path.close();
        open = true;
        path.move_to(place(p.to));
        break;
      case OutlinePoint::Kind::line:
        path.line_to(place(p.to));
        break;
      case OutlinePoint::Kind::quad:
        path.quad_to(place(p.c1), place(p.to));
        break;
      case OutlinePoint::Kind::cubic:
        path.cubic_to(place(p.c1), place(p.c2), place(p.to));
        break;
    }
  }
  if (open) path.close();
}

void add_round_rect(Coverage& path, const Rect& rect, float radius, bool clockwise) {
  constexpr float kCircle = 0.5522848F;  // the cubic's control length for a quarter of a circle
  const float r = std::clamp(radius, 0.0F, std::max(0.0F, std::min(rect.w, rect.h) / 2));
  const float k = r * (1 - kCircle);
  const float l = rect.x, t = rect.y, R = rect.right(), b = rect.bottom();
  // Clockwise from the upper left corner; each corner from the start of its arc to the end.
  const std::array<std::array<Point, 4>, 4> corners{{{{{l, t + r}, {l, t + k}, {l + k, t}, {l + r, t}}},
                                                     {{{R - r, t}, {R - k, t}, {R, t + k}, {R, t + r}}},
                                                     {{{R, b - r}, {R, b - k}, {R - k, b}, {R - r, b}}},
                                                     {{{l + r, b}, {l + k, b}, {l, b - k}, {l, b - r}}}}};
  for (int i = 0; i < 4; ++i) {
    std::array<Point, 4> corner = corners[clockwise ? i : (4 - i) % 4];
    if (!clockwise) std::ranges::reverse(corner);
    i == 0 ? path.move_to(corner[0]) : path.line_to(corner[0]);
    path.cubic_to(corner[1], corner[2], corner[3]);
  }
  path.close();
}

std::size_t GlyphKeyHash::operator()(const GlyphKey& key) const {
  std::uint64_t h = std::uint64_t{key.index} << 20 | std::uint64_t{key.font} << 4 |
                    static_cast<std::uint64_t>(key.quarter_x << 2 | key.quarter_y);
  h ^= (std::uint64_t{std::bit_cast<std::uint32_t>(key.em_pixels)} << 32 |
        std::bit_cast<std::uint32_t>(key.angle)) *
       0x9e3779b97f4a7c15;
  h *= 0xff51afd7ed558ccd;
  return static_cast<std::size_t>(h ^ (h >> 32));
}

PlacedGlyph place_glyph(const GlyphRun& run, const Glyph& glyph, Point origin, float scale) {
  const Turn turn = turn_of(run.angle);
  const float x = origin.x + glyph.x * scale * turn.cosine;
  const float y = origin.y + glyph.x * scale * turn.sine;
  const bool level = turn.sine == 0, upright = turn.cosine == 0;
  const Quarters qx = upright ? Quarters{round_to_pixel(x), 0} : to_quarters(x);
  const Quarters qy = level ? Quarters{round_to_pixel(y), 0} : to_quarters(y);
  return {{glyph.font, glyph.index, run.size * scale, run.angle, qx.rest, qy.rest}, qx.pixel, qy.pixel};
}

GlyphMask rasterize_glyph(const Outline& outline, const GlyphKey& key) {
  if (outline.empty()) return {};
  const Placement placement{{static_cast<float>(key.quarter_x) / 4, static_cast<float>(key.quarter_y) / 4},
                            key.em_pixels,
                            key.angle};
  const Turn turn = turn_of(key.angle);
  float left = kFarAway, top = kFarAway, right = -kFarAway, bottom = -kFarAway;
  const auto include = [&](Point p) {
    const Point q = turned({p.x * key.em_pixels, p.y * key.em_pixels}, turn.cosine, turn.sine);
    left = std::min(left, q.x + placement.origin.x);
    right = std::max(right, q.x + placement.origin.x);
    top = std::min(top, q.y + placement.origin.y);
    bottom = std::max(bottom, q.y + placement.origin.y);
  };
  for (const OutlinePoint& p : outline) {
    include(p.to);
    if (p.kind == OutlinePoint::Kind::quad || p.kind == OutlinePoint::Kind::cubic) include(p.c1);
    if (p.kind == OutlinePoint::Kind::cubic) include(p.c2);
  }
  Coverage path(touched(left, top, right, bottom));
  add_outline(path, outline, placement);

  GlyphMask mask{path.bounds().x0, path.bounds().y0, path.bounds().width(), path.bounds().height(), {}};
  mask.alpha.reserve(mask.width * mask.height);
  std::vector<float> row;
  for (int y = path.bounds().y0; y < path.bounds().y1; ++y) {
    path.row(y, row);
    for (const float c : row) mask.alpha.push_back(static_cast<std::uint8_t>(c * 255 + 0.5F));
  }
  return mask;
}

}  // namespace headscope::viz
