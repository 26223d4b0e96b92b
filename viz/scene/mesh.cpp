#include "viz/scene/mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace headscope::viz {
namespace {

/// Limit of the cosine between two directions. Beyond 60 degrees a mitre would be too long.
constexpr float kSharpestMitre = 0.5F;
/// On thinner lines the missing round side of a sharp corner is invisible.
constexpr float kThinnestRoundJoin = 1.5F;
/// From this half width on, corners are rounded in steps of at most 22.5 degrees instead of 45: at most a
/// tenth of a pixel from the arc.
constexpr float kWideStroke = 1.5F;

/// Opacity across a line, symmetrical about its middle: full up to `inner`, zero from `outer` on.
struct Profile {
  float inner;
  float outer;
  float opacity;
};

Profile profile_of(float width) {
  return {std::max(width / 2 - 0.5F, 0.0F), width / 2 + 0.5F - std::max(0.0F, 0.5F - width / 2),
          std::min(width, 1.0F)};
}

Point direction(Point a, Point b) {
  const float dx = b.x - a.x, dy = b.y - a.y,
              length = std::sqrt(dx * dx + dy * dy);  // pixel coordinates do not overflow
  return {dx / length, dy / length};
}

Point offset(Point p, Point by, float distance) {
  return {p.x + by.x * distance, p.y + by.y * distance};
}

/// Adds four vertices across a line at `at`: outer, inner, inner, outer. `normal` has length 1 for an end,
/// and is longer for a mitre.
void add_section(Mesh& mesh, Point at, Point normal, const Profile& profile) {
  mesh.vertices.push_back({offset(at, normal, profile.outer), 0});
  mesh.vertices.push_back({offset(at, normal, profile.inner), profile.opacity});
  mesh.vertices.push_back({offset(at, normal, -profile.inner), profile.opacity});
  mesh.vertices.push_back({offset(at, normal, -profile.outer), 0});
}

void add_quad(Mesh& mesh, std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  for (const std::uint32_t i : {a, b, c, a, c, d}) mesh.indices.push_back(i);
}

/// Adds a part of a line without sharp corners.
void add_strip(Mesh& mesh, std::span<const Point> points, const Profile& profile) {
  const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point in = direction(points[i > 0 ? i - 1 : 0], points[i > 0 ? i : 1]);
    const Point out = i + 1 < points.size() ? direction(points[i], points[i + 1]) : in;
    // The sum of both normals, as long as the mitre: (n1 + n2) / (1 + n1.n2).
    const float longer = 1 / (1 + in.x * out.x + in.y * out.y);
    add_section(mesh, points[i], {-(in.y + out.y) * longer, (in.x + out.x) * longer}, profile);
  }
  for (std::uint32_t i = 0; i + 1 < points.size(); ++i) {
    const std::uint32_t a = first + 4 * i, b = a + 4;
    for (std::uint32_t k = 0; k < 3; ++k) add_quad(mesh, a + k, a + k + 1, b + k + 1, b + k);
  }
}

Point halfway(Point a, Point b) {
  return direction({-a.x, -a.y}, b);
}

/// Consecutive directions around a corner.
struct Arc {
  std::array<Point, 9> directions;
  std::uint32_t count = 0;

  void add(Point direction) { directions[count++] = direction; }

  /// Adds directions from `first`, which is already there, to `last`, in 2 to the power of `halvings` equal
  /// steps; less than 180 degrees in total.
  void go_on(Point first, Point last, int halvings) {
    if (halvings == 0) return add(last);
    const Point middle = halfway(first, last);
    go_on(first, middle, halvings - 1);
    go_on(middle, last, halvings - 1);
  }
};

/// Adds the round outer side of a sharp corner, between the ends of the strips that meet there.
void add_round_join(Mesh& mesh, Point corner, Point in, Point out, const Profile& profile) {
  const float turn =
      in.x * out.y - in.y * out.x > 0 ? -1 : 1;  // sign of the rotation from a direction to its outer normal
  const Point first{-in.y * turn, in.x * turn}, last{-out.y * turn, out.x * turn};
  const int halvings = profile.outer < kWideStroke ? 1 : 2;
  Arc arc;
  arc.add(first);
  // In two parts: when a line reverses, there is no halfway direction.
  const Point middle = in.x * out.x + in.y * out.y < -0.99F ? in : halfway(first, last);
  arc.go_on(first, middle, halvings);
  arc.go_on(middle, last, halvings);

  const auto at = static_cast<std::uint32_t>(mesh.vertices.size());
  mesh.vertices.push_back({corner, profile.opacity});
  for (std::uint32_t i = 0; i < arc.count; ++i) {
    const Point normal = arc.directions[i];
    mesh.vertices.push_back({offset(corner, normal, profile.inner), profile.opacity});
    mesh.vertices.push_back({offset(corner, normal, profile.outer), 0});
  }
  for (std::uint32_t i = 0; i + 1 < arc.count; ++i) {
    const std::uint32_t a = at + 1 + 2 * i, b = a + 2;
    for (const std::uint32_t v : {at, a, b}) mesh.indices.push_back(v);
    add_quad(mesh, a, a + 1, b + 1, b);
  }
}

}  // namespace

void add_stroke(Mesh& mesh, std::span<const Point> points, float width) {
  if (points.size() < 2 || !(width > 0)) return;
  const Profile profile = profile_of(width);
  std::size_t start = 0;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const Point in = direction(points[i - 1], points[i]), out = direction(points[i], points[i + 1]);
    if (in.x * out.x + in.y * out.y >= kSharpestMitre) continue;
    add_strip(mesh, points.subspan(start, i - start + 1), profile);
    if (width >= kThinnestRoundJoin) add_round_join(mesh, points[i], in, out, profile);
    start = i;
  }
  add_strip(mesh, points.subspan(start), profile);
}

void add_convex(Mesh& mesh, std::span<const Point> corners) {
  double doubled_area = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Point a = corners[i], b = corners[(i + 1) % corners.size()];
    doubled_area += double{a.x} * b.y - double{b.x} * a.y;
  }
  if (corners.size() < 3 || doubled_area == 0) return;
  const float outward = doubled_area > 0 ? 1 : -1;
  const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
  const auto count = static_cast<std::uint32_t>(corners.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const Point in = direction(corners[(i + count - 1) % count], corners[i]);
    const Point out = direction(corners[i], corners[(i + 1) % count]);
    const float longer = outward / std::max(1 + in.x * out.x + in.y * out.y, kSharpestMitre);
    const Point normal{(in.y + out.y) * longer, -(in.x + out.x) * longer};
    mesh.vertices.push_back({offset(corners[i], normal, -0.5F), 1});
    mesh.vertices.push_back({offset(corners[i], normal, 0.5F), 0});
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t a = first + 2 * i, b = first + 2 * ((i + 1) % count);
    if (i >= 2) {
      for (const std::uint32_t v : {first, a - 2, a}) mesh.indices.push_back(v);
    }
    add_quad(mesh, a, a + 1, b + 1, b);
  }
}

void add_round_rect(std::vector<Point>& points, const Rect& rect, float radius) {
  const float r = std::clamp(radius, 0.0F, std::max(0.0F, std::min(rect.w, rect.h) / 2));
  const Point centres[] = {{rect.right() - r, rect.y + r},
                           {rect.right() - r, rect.bottom() - r},
                           {rect.x + r, rect.bottom() - r},
                           {rect.x + r, rect.y + r}};
  constexpr float kHalfPi = std::numbers::pi_v<float> / 2;
  // Chords deviate by at most a twentieth of a pixel from the arc: r (1 - cos(step / 2)) <= 0.05.
  const int steps =
      std::clamp(static_cast<int>(std::ceil(kHalfPi / 2 / std::sqrt(0.1F / std::max(r, 0.1F)))), 1, 64);
  const std::size_t first = points.size(), corner = static_cast<std::size_t>(steps) + 1;
  points.resize(first + 4 * corner);
  for (int i = 0; i <= steps; ++i) {
    const float angle = kHalfPi * static_cast<float>(i) / static_cast<float>(steps);
    Point out{std::sin(angle),
              -std::cos(angle)};  // of the first corner; the others are quarters of a turn on
    for (std::size_t k = 0; k < 4; ++k) {
      points[first + k * corner + static_cast<std::size_t>(i)] = offset(centres[k], out, r);
      out = {-out.y, out.x};
    }
  }
}

}  // namespace headscope::viz
