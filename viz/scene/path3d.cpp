#include "viz/scene/path3d.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <ranges>

#include "viz/scene/colormap.h"

namespace headscope::viz {
namespace {

/// A box around the origin whose longest side is 1, projected onto the picture.
class Stage {
 public:
  Stage(const Path3& path, Rect area) : path_(path), center_(area.center()) {
    for (std::size_t i = 0; i < 3; ++i) half_[i] = path.high[i] > path.low[i] ? 0.5 : 0;
    // How far the box extends sideways and upwards, for any rotation. Words fit between its corners and the
    // area's edge.
    constexpr double kBeside = 1.15, kAbove = 1.1;
    const double tilt = path.camera.tilt * std::numbers::pi / 180, across = std::hypot(half_[0], half_[1]),
                 up = half_[2] * std::abs(std::cos(tilt)) + across * std::abs(std::sin(tilt));
    scale_ = std::min(static_cast<double>(area.w) / 2 / (kBeside * std::max(1e-9, across)),
                      static_cast<double>(area.h) / 2 / (kAbove * std::max(1e-9, up)));
  }

  /// A point in the box's coordinates, each in [-1/2, 1/2].
  Point3 inside(const Point3& point) const {
    Point3 p{};
    for (std::size_t i = 0; i < 3; ++i) {
      const double range = path_.high[i] - path_.low[i];
      p[i] = range > 0 ? (point[i] - path_.low[i]) / range - 0.5 : 0;
    }
    return p;
  }
  Point3 seen_from_front(const Point3& inside) const { return seen(inside, path_.camera); }
  Point on_page(const Point3& inside) const {
    const Point3 p = seen(inside, path_.camera);
    return {center_.x + static_cast<float>(p[0] * scale_), center_.y - static_cast<float>(p[1] * scale_)};
  }
  Point3 corner(int which) const {
    return {which & 1 ? half_[0] : -half_[0], which & 2 ? half_[1] : -half_[1],
            which & 4 ? half_[2] : -half_[2]};
  }

 private:
  const Path3& path_;
  Point center_;
  std::array<double, 3> half_{};
  double scale_ = 1;
};

/// Paints the edges of the box, except those at the nearest corner, which would cover the path.
void paint_box(Scene& scene, const Stage& stage, Color color) {
  const auto corners = std::views::iota(0, 8);
  const int nearest = *std::ranges::max_element(
      corners, {}, [&](int i) { return stage.seen_from_front(stage.corner(i))[2]; });
  for (const int i : corners) {
    for (const int axis : {1, 2, 4}) {
      if (i & axis || i == nearest || (i | axis) == nearest) continue;
      scene.add_line(stage.on_page(stage.corner(i)), stage.on_page(stage.corner(i | axis)), color);
    }
  }
}

/// Paints words that never cover each other.
class LabelsIn3d {
 public:
  LabelsIn3d(Scene& scene, Rect area, const Style& style) : scene_(scene), area_(area), style_(style) {}

  /// Paints words centred on a point, moved inside the area if necessary; false: no room.
  bool add(std::string_view words, Point at, Color color, FontStyle face) {
    const float w = style_.width(words, style_.small(), face), h = style_.line(style_.small());
    if (w > area_.w || h > area_.h) return false;
    at.x = std::clamp(at.x, area_.x + w / 2, area_.right() - w / 2);
    at.y = std::clamp(at.y, area_.y + h / 2, area_.bottom() - h / 2);
    const Rect box{at.x - w / 2 - 1, at.y - h / 2, w + 2, h};
    if (!is_free(box)) return false;
    write(words, box, color, face);
    return true;
  }

  /// Paints words next to a point, where they cover no point of a path if they can, with a line to the point
  /// if they are not right next to it; false: no room.
  bool add_around(std::string_view words, Point point, std::span<const Point> path, Color color) {
    const float w = style_.width(words, style_.small()) + 2, h = style_.line(style_.small());
    constexpr float kNext = 0.4F;  // ems
    for (const bool covers : {false, true}) {
      for (const float gap : {kNext, 1.F, 1.8F, 2.6F}) {
        for (const auto& [dx, dy] :
             {Point{0, -1}, {1, 0}, {-1, 0}, {0, 1}, {1, -1}, {-1, -1}, {1, 1}, {-1, 1}}) {
          const float away = gap * style_.font_size;
          const Rect box{point.x + dx * (away + w / 2) - w / 2, point.y + dy * (away + h / 2) - h / 2, w, h};
          const auto is_covered = [wide = box.inset(-2)](Point p) { return wide.contains(p); };
          if (!area_.encloses(box) || !is_free(box) || (!covers && std::ranges::any_of(path, is_covered)))
            continue;
          const Point end{std::clamp(point.x, box.x, box.right()),
                          std::clamp(point.y, box.y + h / 4, box.bottom() - h / 4)};
          if (gap > kNext) scene_.add_line(point, end, style_.theme.text_muted);
          if (covers) scene_.add(FillRect{box, style_.theme.surface.with_alpha(200), 2});
          write(words, box, color, FontStyle::regular);
          return true;
        }
      }
    }
    return false;
  }

 private:
  bool is_free(const Rect& box) const {
    return std::ranges::none_of(taken_, [&](const Rect& r) { return box.overlaps(r); });
  }
  void write(std::string_view words, const Rect& box, Color color, FontStyle face) {
    taken_.push_back(box);
    add_label(scene_, style_, words, box.center(), style_.small(), color, face, Align::center);
  }

  Scene& scene_;
  Rect area_;
  const Style& style_;
  std::vector<Rect> taken_;
};

/// Paints the name and limits of an axis along its outermost edge of the box. The name of the vertical axis
/// is above its end, where the path does not come.
bool paint_axis(LabelsIn3d& labels, const Path3& path, const Stage& stage, std::size_t axis, Rect area,
                const Style& style) {
  const int bit = 1 << axis;
  const Point center = area.center();
  Point from, to;
  double best = 0;
  for (int i = 0; i < 8; ++i) {
    if (i & bit) continue;
    const Point a = stage.on_page(stage.corner(i)), b = stage.on_page(stage.corner(i | bit));
    // The vertical axis is on the left, the others are below.
    const double out = axis == 2 ? 2 * center.x - a.x - b.x : a.y + b.y - 2 * center.y;
    if (i == 0 || out > best) best = out, from = a, to = b;
  }
  if (std::hypot(to.x - from.x, to.y - from.y) < style.font_size) return true;  // it points at the viewer
  const auto beside = [&](Point at, std::string_view words, Color color, FontStyle face) {
    const float dx = at.x - center.x, dy = at.y - center.y, distance = std::max(1.F, std::hypot(dx, dy));
    const float w = style.width(words, style.small(), face), h = style.line(style.small());
    const float u = style.unit();
    return labels.add(words, {at.x + dx / distance * (w / 2 + u), at.y + dy / distance * (h / 2 + u)}, color,
                      face);
  };
  const Point middle{(from.x + to.x) / 2, (from.y + to.y) / 2};
  const Point top = from.y < to.y ? from : to;
  const Point above{top.x, top.y - 1.5F * style.line(style.small())};
  const bool named =
      beside(axis == 2 ? above : middle, path.titles[axis], style.theme.text, FontStyle::medium);
  // Numbers are inside the ends, because edges share the corners, as far as they find room.
  const auto add_number = [&](Point end, double value) {
    for (const float inside : {0.3F, 0.45F, 0.15F, 0.05F}) {
      const Point at{end.x + inside * (middle.x - end.x), end.y + inside * (middle.y - end.y)};
      if (beside(at, number(value, 2), style.theme.text_muted, FontStyle::regular)) return;
    }
  };
  if (path.high[axis] > path.low[axis]) add_number(from, path.low[axis]), add_number(to, path.high[axis]);
  return named;
}

}  // namespace

Point3 seen(const Point3& p, const Camera& camera) {
  const double turn = camera.turn * std::numbers::pi / 180, tilt = camera.tilt * std::numbers::pi / 180;
  const double x = p[0] * std::cos(turn) - p[1] * std::sin(turn);
  const double away = p[0] * std::sin(turn) + p[1] * std::cos(turn);
  return {x, p[2] * std::cos(tilt) + away * std::sin(tilt), p[2] * std::sin(tilt) - away * std::cos(tilt)};
}

std::vector<Point> projected(const Path3& path, Rect area) {
  const Stage stage(path, area);
  std::vector<Point> points;
  points.reserve(path.points.size());
  for (const Point3& p : path.points) points.push_back(stage.on_page(stage.inside(p)));
  return points;
}

int nearest_point(std::span<const Point> points, Point place, float reach) {
  int nearest = -1;
  float least = reach;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const float distance = std::hypot(points[i].x - place.x, points[i].y - place.y);
    if (distance <= least) nearest = static_cast<int>(i), least = distance;
  }
  return nearest;
}

Region paint_path(Picture& picture, const Path3& path, Rect area, const Style& style) {
  const Stage stage(path, area);
  Scene& scene = picture.scene;
  scene.add(PushClip{area});
  paint_box(scene, stage, style.theme.line);
  const std::vector<Point> at = projected(path, area);
  std::vector<double> depth;
  for (const Point3& p : path.points) depth.push_back(stage.seen_from_front(stage.inside(p))[2]);
  // Farther segments are drawn first; nearer ones are wider.
  std::vector<int> order(at.empty() ? 0 : at.size() - 1);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int i) { return depth[i] + depth[i + 1]; });
  for (const int i : order) {
    if (std::hypot(at[i + 1].x - at[i].x, at[i + 1].y - at[i].y) < 0.01F) continue;
    const auto width = static_cast<float>(std::clamp(1.7 + depth[i] + depth[i + 1], 1.0, 2.6));
    scene.add_line(at[i], at[i + 1], path.colors[i], width);
  }
  scene.add(PopClip{});
  LabelsIn3d labels(scene, area, style);
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (!paint_axis(labels, path, stage, axis, area, style)) picture.whole = false;
  const float dot = 0.6F * style.unit();
  for (const int i : path.labelled) {
    const Point p = at[i];
    if (labels.add_around(std::to_string(i), p, at, style.theme.text))
      scene.add_disc(p, dot, style.theme.text);
  }
  return picture.regions.emplace_back(Region::grid(path.role, path.id, area,
                                                   std::max(1, static_cast<int>(area.h)),
                                                   std::max(1, static_cast<int>(area.w))));
}

}  // namespace headscope::viz
