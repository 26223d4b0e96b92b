#include "viz/charts/histogram.h"

#include <algorithm>
#include <cmath>

#include "viz/scene/colormap.h"

namespace headscope::viz {

Region paint_histogram(Picture& picture, const Histogram& h, Rect area, const Style& style) {
  const float line = style.line(style.small()), u = style.unit();
  const Rect plot{area.x, area.y, area.w, std::max(0.F, area.h - line - 1.5F * u)};
  const auto count = static_cast<int>(h.bins.size());
  const std::int64_t most = h.bins.empty() ? 0 : *std::ranges::max_element(h.bins);
  Region region;
  region.role = h.role;
  region.rect = plot;
  region.cols = region.col_count = std::max(1, count);
  for (int i = 0; i < count && most > 0; ++i) {
    const Rect cell = region.cell_rect(0, i);
    const auto part = static_cast<float>(static_cast<double>(h.bins[i]) / static_cast<double>(most));
    const float left = style.snapped(cell.x), right = style.snapped(cell.right()), top = part * plot.h;
    if (part > 0) picture.scene.add(FillRect{{left, plot.bottom() - top, right - left, top}, h.color});
  }
  picture.scene.add(
      Segments{{{plot.x, plot.bottom()}, {plot.right(), plot.bottom()}}, style.theme.text_muted, 1});
  const float y = plot.bottom() + 1.5F * u + line / 2;
  float end = plot.x - u;
  const float title = style.width(h.title, style.small());
  const float limit = plot.right() - (h.title.empty() ? 0 : title + 3 * u);
  const std::vector<double> ticks =
      h.high > h.low
          ? nice_ticks(h.low, h.high, std::max(3, static_cast<int>(plot.w / (5 * style.font_size))))
          : std::vector<double>{};
  for (const double tick : ticks) {
    const float x = plot.x + static_cast<float>((tick - h.low) / (h.high - h.low)) * plot.w;
    const std::string words = tick_label(tick, ticks.size() > 1 ? ticks[1] - ticks[0] : 0);
    const float w = style.width(words, style.small());
    picture.scene.add(Segments{{{x, plot.bottom()}, {x, plot.bottom() + u}}, style.theme.text_muted, 1});
    if (x - w / 2 < end + u || x + w / 2 > limit) continue;
    add_label(picture.scene, style, words, {x, y}, style.small(), style.theme.text_muted, FontStyle::regular,
              Align::center);
    end = x + w / 2;
  }
  if (title <= plot.w)
    add_label(picture.scene, style, h.title, {plot.right(), y}, style.small(), style.theme.text_muted,
              FontStyle::regular, Align::right);
  picture.regions.push_back(region);
  return region;
}

}  // namespace headscope::viz
