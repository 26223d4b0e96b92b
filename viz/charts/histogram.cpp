#include "viz/charts/histogram.h"

#include <algorithm>
#include <cmath>

#include "viz/charts/number_axis.h"

namespace headscope::viz {

Region paint_histogram(Picture& picture, const Histogram& h, Rect area, const Style& style) {
  const float line = style.line(style.small()), u = style.unit();
  // With little room the columns are more important than titles.
  const bool titled = area.h >= 6 * line;
  const bool counted = titled && !h.count_title.empty();
  const float above = counted ? line + u : 0, below = (titled ? 2 : 1) * line + 1.5F * u;
  const Rect plot{area.x, area.y + above, area.w, std::max(0.F, area.h - above - below)};
  const auto count = static_cast<int>(h.bins.size());
  const std::int64_t most = h.bins.empty() ? 0 : *std::ranges::max_element(h.bins);
  const Region region = Region::grid(h.role, 0, plot, 1, std::max(1, count));
  PlotFrame axes{plot, {h.low, h.high}, {0, static_cast<double>(std::max<std::int64_t>(1, most))}};
  if (counted) {
    constexpr int kTicks = 3;
    axes.y.ticks = labelled_ticks(0, axes.y.high, upright_tick_count(plot.h, kTicks, style));
    paint_y_numbers(picture.scene, axes, style);
    add_whole_label(picture.scene, style, h.count_title, {plot.x, area.y + line / 2}, plot.w,
                    style.theme.text_muted);
  }
  for (int i = 0; i < count && most > 0; ++i) {
    const Rect cell = region.cell_rect(0, i);
    const auto part = static_cast<float>(static_cast<double>(h.bins[i]) / static_cast<double>(most));
    const float left = style.snapped(cell.x), right = style.snapped(cell.right()), top = part * plot.h;
    if (part > 0) picture.scene.add(FillRect{{left, plot.bottom() - top, right - left, top}, h.color});
  }
  picture.scene.add_line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, style.theme.text_muted);
  const float y = plot.bottom() + 1.5F * u + line / 2;
  if (h.high > h.low)
    axes.x.ticks =
        labelled_ticks(h.low, h.high, std::max(3, static_cast<int>(plot.w / (5 * style.font_size))), 0);
  // The last number may reach half beyond the plot, where a colour scale is elsewhere.
  paint_x_numbers(picture.scene, axes,
                  {plot.bottom(), plot.bottom() + u, style.theme.text_muted, y, plot.x, plot.right() + 2 * u},
                  style);
  if (titled)
    add_whole_label(picture.scene, style, h.title, {plot.center().x, y + line}, plot.w,
                    style.theme.text_muted, FontStyle::regular, Align::center);
  return picture.regions.emplace_back(region);
}

}  // namespace headscope::viz
