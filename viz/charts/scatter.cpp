#include "viz/charts/scatter.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <ranges>
#include <span>
#include <utility>

#include "viz/charts/function_plot.h"

namespace headscope::viz {
namespace {

constexpr double kMargin = 0.06;           // fraction of the range beyond the outermost marks
constexpr std::size_t kAllLabelled = 400;  // maximum number of marks for which labels are all tried
constexpr std::size_t kOutermost = 60;     // of more marks these are: in their midst there is no room

struct Range {
  double low = 0, high = 0;
  void take(double v) {
    if (!std::isfinite(v)) return;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  double span() const { return std::max(high - low, 1e-12); }
  /// The range widened to `span` around its middle.
  Range widened(double span) const {
    const double middle = (low + high) / 2;
    return {middle - span / 2, middle + span / 2};
  }
};

FunctionPlot axes_of(const ScatterChart& chart, const ScatterLayout& layout) {
  FunctionPlot plot;
  plot.x = layout.x, plot.y = layout.y;
  plot.x_title = chart.x_title, plot.y_title = chart.y_title;
  return plot;
}

/// Radius of a mark.
float mark_radius(const ScatterChart& chart, const Style& style) {
  const auto count = static_cast<float>(std::max<std::size_t>(1, chart.marks.size()));
  return style.font_size * std::clamp(2.5F / std::sqrt(count), 0.16F, 0.32F);
}

void add_shape(Scene& scene, ScatterChart::Shape shape, Point at, float r, Color color) {
  if (shape == ScatterChart::Shape::circle) return scene.add_disc(at, r, color);
  const float side = 1.25F * r, half = side * std::numbers::sqrt3_v<float> / 2;
  scene.add(FillPolygon{{{at.x, at.y - side}, {at.x + half, at.y + side / 2}, {at.x - half, at.y + side / 2}},
                        color});
}

void add_mark(Scene& scene, const ScatterChart& chart, const ScatterChart::Mark& mark, Point at, float r,
              const Style& style) {
  const ScatterChart::Kind& kind = chart.kinds[mark.kind];
  const float line = std::max(1.F, 0.22F * r);
  if (mark.chosen) {
    add_shape(scene, kind.shape, at, 1.5F * r + 2.5F * line, style.theme.surface);
    add_shape(scene, kind.shape, at, 1.5F * r + 1.5F * line, style.theme.text);
    add_shape(scene, kind.shape, at, 1.5F * r, style.theme.surface);
    add_shape(scene, kind.shape, at, 1.5F * r, mark.fill);
    return;
  }
  add_shape(scene, kind.shape, at, r + line, kind.color);
  add_shape(scene, kind.shape, at, r, style.theme.surface);
  add_shape(scene, kind.shape, at, r, mark.fill);
}

float distance(Point a, Point b) {
  return std::hypot(a.x - b.x, a.y - b.y);
}
Point nearest_in(const Rect& r, Point p) {
  return {std::clamp(p.x, r.x, r.right()), std::clamp(p.y, r.y, r.bottom())};
}
float distance_to(const Rect& r, Point p) {
  return distance(nearest_in(r, p), p);
}

struct Line {
  Point from, to;

  Point at(float part) const { return {from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)}; }
  float distance_to(Point p) const {
    const float length = distance(from, to);
    const float along = (p.x - from.x) * (to.x - from.x) + (p.y - from.y) * (to.y - from.y);
    return distance(at(std::clamp(along / std::max(length * length, 1e-9F), 0.F, 1.F)), p);
  }
  bool crosses(const Rect& r) const {
    constexpr int kSteps = 24;
    const auto enters = [&](int i) { return r.contains(at(static_cast<float>(i) / kSteps)); };
    return std::ranges::any_of(std::views::iota(0, kSteps + 1), enters);
  }
  bool crosses(const Line& other) const {
    const auto side = [](const Line& of, Point p) {
      return (of.to.x - of.from.x) * (p.y - of.from.y) - (of.to.y - of.from.y) * (p.x - of.from.x);
    };
    return side(*this, other.from) * side(*this, other.to) < 0 && side(other, from) * side(other, to) < 0;
  }
};

/// Finds room for labels such that it is clear which mark each one belongs to: it touches its mark, and no
/// other mark is as near; or a line leads to it.
class Labels {
 public:
  Labels(const ScatterChart& chart, const ScatterLayout& layout, const Style& style)
      : chart_(chart), layout_(layout), style_(style), r_(mark_radius(chart, style)) {
    // No axis strikes a label through.
    const PlotFrame plot{layout.frame, layout.x, layout.y};
    const Point zero = plot.place(0, 0);
    const Rect& f = layout.frame;
    taken_ = {{zero.x - 1, f.y, 2, f.h}, {f.x, zero.y - 1, f.w, 2}};
  }

  /// Whether there was room.
  bool add(Scene& scene, std::size_t i) {
    constexpr std::size_t kFew = 100;  // among more marks, lines would be taken for data
    return add_touching(scene, i) || (chart_.marks.size() <= kFew && add_with_line(scene, i));
  }

 private:
  float radius_of(std::size_t i) const { return (chart_.marks[i].chosen ? 1.9F : 1.2F) * r_; }
  static FontStyle face_of(const ScatterChart::Mark& mark) {
    return mark.chosen ? FontStyle::medium : FontStyle::regular;
  }
  Point size_of(const ScatterChart::Mark& mark) const {
    return {style_.width(mark.label, style_.small(), face_of(mark)), 1.1F * style_.small()};
  }
  void write(Scene& scene, const ScatterChart::Mark& mark, const Rect& box) {
    taken_.push_back(box);
    add_label(scene, style_, mark.label, {box.x, box.center().y}, style_.small(),
              chart_.kinds[mark.kind].color, face_of(mark));
  }

  /// A chosen mark has its label even among many others, on a ground that dims them.
  bool add_touching(Scene& scene, std::size_t i) {
    const Point at = layout_.places[i];
    const ScatterChart::Mark& mark = chart_.marks[i];
    const auto [w, h] = size_of(mark);
    const float away = radius_of(i) + style_.unit() / 2 + 1, x = away + w / 2, y = away + h / 2;
    // A label at a corner seems to be of any mark that it is level with.
    const float corner = 0.7F * away, beside_others = 0.8F * style_.font_size;
    for (const auto& [by, clearance] : {std::pair{Point{x, 0}, 0.F},
                                        {{-x, 0}, 0.F},
                                        {{0, -y}, 0.F},
                                        {{0, y}, 0.F},
                                        {{corner + w / 2, -corner - h / 2}, beside_others},
                                        {{corner + w / 2, corner + h / 2}, beside_others},
                                        {{-corner - w / 2, -corner - h / 2}, beside_others},
                                        {{-corner - w / 2, corner + h / 2}, beside_others}}) {
      const Rect box{at.x + by.x - w / 2, at.y + by.y - h / 2, w, h};
      const bool covers = mark.chosen && clearance == 0 && !is_free(box, i, clearance);
      if (covers ? !has_ground(box) : !is_free(box, i, clearance)) continue;
      if (covers) scene.add(FillRect{box.inset(-style_.unit() / 2), style_.theme.surface.with_alpha(225), 2});
      write(scene, mark, box);
      return true;
    }
    return false;
  }

  bool add_with_line(Scene& scene, std::size_t i) {
    constexpr int kDirections = 16;
    const Point at = layout_.places[i];
    const ScatterChart::Mark& mark = chart_.marks[i];
    const auto [w, h] = size_of(mark);
    for (const float reach : {1.2F, 1.8F, 2.5F, 3.2F, 4.5F, 6.F}) {
      for (int k = 0; k < kDirections; ++k) {
        const float turn = 2 * std::numbers::pi_v<float> * static_cast<float>(k) / kDirections;
        const float away = radius_of(i) + reach * style_.font_size;
        const Point middle{at.x + std::cos(turn) * (away + w / 2), at.y + std::sin(turn) * (away + h / 2)};
        const Rect box{middle.x - w / 2, middle.y - h / 2, w, h};
        // As near to the letters above and below them as beside them.
        const float lead = 0.1F * style_.small();
        const Line whole{at, nearest_in({box.x - 1, box.y + lead, box.w + 2, box.h - 2 * lead}, at)};
        const float length = distance(whole.from, whole.to);
        if (length <= radius_of(i) + style_.unit() || !is_free(box, i, 0.5F * style_.font_size)) continue;
        const Line line{whole.at(radius_of(i) / length), whole.to};
        if (!is_free(line, i)) continue;
        lines_.push_back(line);
        scene.add_line(line.from, line.to, chart_.kinds[mark.kind].color, style_.unit() / 5);
        write(scene, mark, box);
        return true;
      }
    }
    return false;
  }

  bool has_ground(const Rect& box) const {
    return layout_.frame.encloses(box) &&
           std::ranges::none_of(std::span(taken_).subspan(2), [&](const Rect& r) { return r.overlaps(box); });
  }

  /// Whether a label covers neither labels nor lines nor axes, and no mark but its own comes near it.
  bool is_free(const Rect& box, std::size_t own, float clearance) const {
    const float apart = 0.5F * style_.font_size, above = 0.1F * style_.font_size;
    const Rect room{box.x - apart, box.y - above, box.w + 2 * apart, box.h + 2 * above};
    if (!layout_.frame.encloses(box) ||
        std::ranges::any_of(taken_, [&](const Rect& r) { return r.overlaps(room); }) ||
        std::ranges::any_of(lines_, [&](const Line& line) { return line.crosses(room); }))
      return false;
    for (std::size_t i = 0; i < layout_.places.size(); ++i)
      if (i != own && distance_to(box, layout_.places[i]) < radius_of(i) + std::max(clearance, apart / 2))
        return false;
    return true;
  }

  bool is_free(const Line& line, std::size_t own) const {
    constexpr float kApart = 1.5F;
    for (std::size_t i = 0; i < layout_.places.size(); ++i)
      if (i != own && line.distance_to(layout_.places[i]) < radius_of(i) + kApart) return false;
    const auto labels = std::span(taken_).subspan(2);
    return std::ranges::none_of(labels, [&](const Rect& r) { return line.crosses(r.inset(-2)); }) &&
           std::ranges::none_of(lines_, [&](const Line& other) { return line.crosses(other); });
  }

  const ScatterChart& chart_;
  const ScatterLayout& layout_;
  const Style& style_;
  float r_;
  std::vector<Rect> taken_;  ///< what no label may cover: the two axes, then labels
  std::vector<Line> lines_;
};

/// The marks that labels are tried for, in that order: the chosen ones, then all others, or of many those
/// farthest from their middle.
std::vector<std::size_t> order_of_labels(const ScatterChart& chart, const ScatterLayout& layout) {
  std::vector<std::size_t> order(chart.marks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto others =
      std::ranges::stable_partition(order, [&](std::size_t i) { return chart.marks[i].chosen; });
  if (order.size() <= kAllLabelled) return order;
  Point middle;
  const auto count = static_cast<float>(layout.places.size());
  for (const Point& place : layout.places) middle.x += place.x / count, middle.y += place.y / count;
  std::ranges::stable_sort(others, std::greater<>(),
                           [&](std::size_t i) { return distance(layout.places[i], middle); });
  order.resize(std::min(order.size(), order.size() - others.size() + kOutermost));
  return order;
}

/// Labels the marks that have room. Returns how many.
int paint_labels(Scene& scene, const ScatterChart& chart, const ScatterLayout& layout, const Style& style) {
  int labelled = 0;
  Labels labels(chart, layout, style);
  for (const std::size_t i : order_of_labels(chart, layout))
    if (!chart.marks[i].label.empty()) labelled += labels.add(scene, i) ? 1 : 0;
  return labelled;
}

/// Paints the names of the kinds, at the right end of the line above the frame.
void paint_kinds(Scene& scene, const ScatterChart& chart, const Rect& frame, const Style& style) {
  const float u = style.unit(), r = 0.28F * style.font_size;
  const float y = frame.y - u - style.line(style.small()) / 2;
  float x = frame.right();
  for (auto kind = chart.kinds.rbegin(); kind != chart.kinds.rend(); ++kind) {
    const float w = style.width(kind->name, style.small());
    if (x - w - 4 * u < frame.x + style.width(chart.y_title, style.small())) return;
    add_label(scene, style, kind->name, {x, y}, style.small(), kind->color, FontStyle::medium, Align::right);
    add_shape(scene, kind->shape, {x - w - u - r, y}, r, kind->color);
    x -= w + 4 * u + 2 * r;
  }
}

}  // namespace

ScatterLayout lay_out_scatter(const ScatterChart& chart, Rect area, const Style& style) {
  Range x, y;
  for (const ScatterChart::Mark& mark : chart.marks) x.take(mark.x), y.take(mark.y);
  ScatterLayout layout;
  for (int pass = 0; pass < 2;
       ++pass) {  // the width of the numbers depends on the ticks, and the ticks on that width
    layout.frame = plot_frame(axes_of(chart, layout), area, style);
    if (layout.frame.w <= 0 || layout.frame.h <= 0) return layout;
    const auto w = static_cast<double>(layout.frame.w), h = static_cast<double>(layout.frame.h);
    double unit = (1 + 2 * kMargin) * std::max(x.span() / w, y.span() / h);  // per pixel
    if (unit < 1e-9) unit = 2 / std::min(w, h);                              // all marks coincide
    const Range across = x.widened(unit * w), up = y.widened(unit * h);
    layout.x = {across.low, across.high}, layout.y = {up.low, up.high};
  }
  const FunctionPlot axes = axes_of(chart, layout);
  for (const ScatterChart::Mark& mark : chart.marks)
    layout.places.push_back(place_in_plot(axes, layout.frame, {mark.x, mark.y}));
  return layout;
}

void paint_scatter(Picture& picture, const ScatterChart& chart, const ScatterLayout& layout,
                   const Style& style) {
  paint_function_plot(picture, axes_of(chart, layout), layout.frame, style);
  picture.regions.back() =
      Region::grid(chart.role, 0, layout.frame, std::max(1, static_cast<int>(layout.frame.h)),
                   std::max(1, static_cast<int>(layout.frame.w)));
  paint_kinds(picture.scene, chart, layout.frame, style);
  const float r = mark_radius(chart, style);
  for (const bool chosen : {false, true}) {
    for (std::size_t i = 0; i < chart.marks.size(); ++i)
      if (chart.marks[i].chosen == chosen)
        add_mark(picture.scene, chart, chart.marks[i], layout.places[i], r, style);
  }
  const int named = paint_labels(picture.scene, chart, layout, style),
            all = static_cast<int>(chart.marks.size());
  const float line = style.line(style.small()), titled = style.width(chart.x_title, style.small());
  if (named < all)
    add_whole_label(picture.scene, style, std::to_string(named) + " of " + std::to_string(all) + " named",
                    {layout.frame.x, layout.frame.bottom() + 1.5F * (style.unit() + line)},
                    layout.frame.w - titled - 4 * style.unit(), style.theme.text_muted);
}

}  // namespace headscope::viz
