#include "app/window/icons.h"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace headscope::app {
namespace {

using viz::Color;
using viz::Point;
using viz::Rect;

using Line = std::vector<Point>;

constexpr float kGrid = 16;     // icons are drawn on 16 x 16 units
constexpr float kWidth = 1.4F;  // of their lines

/// Points of a circle, from one angle to another in degrees, clockwise from the right.
Line arc(Point center, float radius, float from, float to) {
  constexpr int kSteps = 16;
  Line line;
  for (int i = 0; i <= kSteps; ++i) {
    const float degrees = from + (to - from) * static_cast<float>(i) / kSteps;
    const float angle = degrees * std::numbers::pi_v<float> / 180;
    line.push_back({center.x + radius * std::cos(angle), center.y + radius * std::sin(angle)});
  }
  return line;
}

Line joined(Line a, const Line& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The lines of an icon on its grid; of icons that are areas, none.
std::vector<Line> drawn(Icon icon) {
  switch (icon) {
    case Icon::back:
      return {{{10, 3.5F}, {5.5F, 8}, {10, 12.5F}}};
    case Icon::check:
      return {{{4, 8}, {7, 11}, {12.5F, 4.5F}}};
    case Icon::close:
      return {{{4, 4}, {12, 12}}, {{12, 4}, {4, 12}}};
    case Icon::down:
      return {{{4, 6}, {8, 10}, {12, 6}}};
    case Icon::examples:
      return {{{3, 4}, {13, 4}}, {{3, 8}, {13, 8}}, {{3, 12}, {9, 12}}};
    case Icon::export_:
      return {{{3, 10}, {3, 13}, {13, 13}, {13, 10}}, {{8, 10.5F}, {8, 3}}, {{5, 6}, {8, 3}, {11, 6}}};
    case Icon::forward:
      return {{{6, 3.5F}, {10.5F, 8}, {6, 12.5F}}};
    case Icon::minus:
      return {{{4, 8}, {12, 8}}};
    case Icon::model:
      return {{{8, 2.5F}, {13.5F, 5.5F}, {8, 8.5F}, {2.5F, 5.5F}, {8, 2.5F}},
              {{2.5F, 8.25F}, {8, 11.25F}, {13.5F, 8.25F}},
              {{2.5F, 11}, {8, 14}, {13.5F, 11}}};
    case Icon::plus:
      return {{{4, 8}, {12, 8}}, {{8, 4}, {8, 12}}};
    case Icon::redo:
      return {joined(joined({{13, 6}}, arc({6, 9.5F}, 3.5F, -90, -270)), {{10, 13}}),
              {{10, 3}, {13, 6}, {10, 9}}};
    case Icon::restore:
      return {arc({8, 8.5F}, 5, -60, -330), {{3.5F, 1.8F}, {4.2F, 5.3F}, {7.6F, 4.6F}}};
    case Icon::two_views:
      return {{{2.5F, 3}, {13.5F, 3}, {13.5F, 13}, {2.5F, 13}, {2.5F, 3}}, {{8, 3}, {8, 13}}};
    case Icon::undo:
      return {joined(joined({{3, 6}}, arc({10, 9.5F}, 3.5F, -90, 90)), {{6, 13}}), {{6, 3}, {3, 6}, {6, 9}}};
    case Icon::more:
    case Icon::none:
    case Icon::play:
    case Icon::stop:
      return {};
  }
  return {};
}

/// The same, drawn once: there are icons in every frame.
const std::vector<Line>& lines_of(Icon icon) {
  static const auto kLines = [] {
    std::vector<std::vector<Line>> lines;
    for (int i = 0; i < kIcons; ++i) lines.push_back(drawn(static_cast<Icon>(i)));
    return lines;
  }();
  return kLines.at(static_cast<std::size_t>(icon));
}

}  // namespace

void add_icon(viz::Scene& scene, Icon icon, const Rect& rect, float size, Color color) {
  const float unit = size / kGrid;
  const Point corner{rect.center().x - size / 2, rect.center().y - size / 2};
  const auto place = [&](Point p) { return Point{corner.x + unit * p.x, corner.y + unit * p.y}; };
  for (const Line& line : lines_of(icon)) {
    viz::Polyline placed{{}, color, unit * kWidth};
    placed.points.reserve(line.size());
    for (const Point p : line) placed.points.push_back(place(p));
    scene.add(std::move(placed));
  }
  if (icon == Icon::more)
    for (const float x : {3.5F, 8.F, 12.5F}) scene.add_disc(place({x, 8}), 1.4F * unit, color);
  if (icon == Icon::play)
    scene.add(viz::FillPolygon{{place({4.5F, 3}), place({13, 8}), place({4.5F, 13})}, color});
  if (icon == Icon::stop) {
    const Point from = place({4, 4});
    scene.add(viz::FillRect{{from.x, from.y, 8 * unit, 8 * unit}, color, unit});
  }
}

}  // namespace headscope::app
