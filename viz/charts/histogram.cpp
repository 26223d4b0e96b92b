#include "viz/charts/histogram.h"

#include <algorithm>
#include <cmath>

#include "viz/charts/number_axis.h"

namespace headscope::viz {

Region paint_histogram(Picture& picture, const Histogram& h, Rect area, const Style& style) {
  const float line = style.line(style.small()), u = style.unit();
  const Rect plot{area.x, area.y, area.w, std::max(0.F, area.h - line - 1.5F * u)};
  const auto count = static_cast<int>(h.bins.size());
  const std::int64_t most = h.bins.empty() ? 0 : *std::ranges::max_element(h.bins);
  const Region region = Region::grid(h.role, 0, plot, 1, std::max(1, count));
  for (int i = 0; i < count && most > 0; ++i) {
    const Rect cell = region.cell_rect(0, i);
    const auto part = static_cast<float>(static_cast<double>(h.bins[i]) / static_cast<double>(most));
    const float left = style.snapped(cell.x), right = style.snapped(cell.right()), top = part * plot.h;
    if (part > 0) picture.scene.add(FillRect{{left, plot.bottom() - top, right - left, top}, h.color});
  }
  picture.scene.add_line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, style.theme.text_muted);
  const float y = plot.bottom() + 1.5F * u + line / 2, title = style.width(h.title, style.small());
  PlotFrame axes{plot, {h.low, h.high}, {}};
  if (h.high > h.low)
    axes.x.ticks =
        labelled_ticks(h.low, h.high, std::max(3, static_cast<int>(plot.w / (5 * style.font_size))), 0);
  const float limit = plot.right() - (h.title.empty() ? 0 : title + 3 * u);
  paint_x_numbers(picture.scene, axes,
                  {plot.bottom(), plot.bottom() + u, style.theme.text_muted, y, plot.x, limit}, style);
  if (title <= plot.w) add_muted(picture.scene, style, h.title, {plot.right(), y}, Align::right);
  return picture.regions.emplace_back(region);
}

}  // namespace headscope::viz
