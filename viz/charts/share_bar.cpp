#include "viz/charts/share_bar.h"

#include <algorithm>
#include <cmath>

#include "viz/scene/contrast.h"

namespace headscope::viz {
namespace {

/// The part of a share for a label as wide as `label`: all of it, or if the mark's line would strike the
/// label through, the larger side of that.
Rect room_for_label(const Rect& part, float label, float mark, float unit) {
  if (std::abs(mark - part.center().x) > label / 2 + unit) return part;
  const float left = mark - part.x, right = part.right() - mark;
  return left > right ? Rect{part.x, part.y, left, part.h} : Rect{mark, part.y, right, part.h};
}

constexpr float kMinRegion = 3;

}  // namespace

void paint_hatching(Scene& scene, const Rect& rect, Color color) {
  Segments lines{{}, color, 1};
  constexpr float kStep = 6;
  for (float c = rect.x + rect.y + kStep; c < rect.right() + rect.bottom(); c += kStep) {
    const float left = std::max(rect.x, c - rect.bottom()), right = std::min(rect.right(), c - rect.y);
    lines.points.push_back({left, c - left});
    lines.points.push_back({right, c - right});
  }
  if (!lines.points.empty()) scene.add(std::move(lines));
}

float share_x(const ShareBar& shares, Rect bar, double size) {
  const double part = shares.total > 0 ? std::clamp(size / shares.total, 0.0, 1.0) : 0;
  return bar.x + static_cast<float>(part) * bar.w;
}

void paint_share_bar(Picture& picture, const ShareBar& shares, Rect bar, const Style& style) {
  Scene& scene = picture.scene;
  const Theme& theme = style.theme;
  const float u = style.unit();
  scene.add(FillRect{bar, shares.rest, 2});
  const float mark = shares.mark < 0 ? bar.x - 1 : share_x(shares, bar, shares.mark);
  double passed = 0, kept = 0;
  for (std::size_t i = 0; i < shares.shares.size(); ++i) {
    const Share& share = shares.shares[i];
    const float left = share_x(shares, bar, passed);
    passed += share.size;
    if (!share.hatched) kept = passed;
    const float width = share_x(shares, bar, passed) - left;
    if (width < kLeastShare) continue;
    const Rect part{left, bar.y, width, bar.h};
    if (share.fill != shares.rest) scene.add(FillRect{part, share.fill});
    if (share.hatched) continue;
    if (i > 0) scene.add(FillRect{{part.x, part.y, 1, part.h}, theme.surface});
    const Rect room = room_for_label(part, style.width(share.label, style.small()), mark, u);
    add_whole_label(scene, style, share.label, room.center(), room.w - 2 * u,
                    text_on(theme, blended(theme.surface, share.fill)), FontStyle::regular, Align::center);
    if (part.w >= kMinRegion) picture.regions.push_back({shares.role, share.id, part});
  }
  const float end = share_x(shares, bar, kept);
  if (kept < passed) paint_hatching(scene, {end, bar.y, bar.right() - end, bar.h}, theme.hatch);
  scene.add(StrokeRect{bar, theme.line, 1, 2});
  if (shares.mark < 0) return;
  scene.add(FillRect{{mark - 0.75F, bar.y - u, 1.5F, bar.h + 2 * u}, shares.mark_color});
  scene.add(
      FillPolygon{{{mark - 1.5F * u, bar.y - 2.5F * u}, {mark + 1.5F * u, bar.y - 2.5F * u}, {mark, bar.y}},
                  shares.mark_color});
}

}  // namespace headscope::viz
