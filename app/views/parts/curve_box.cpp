#include "app/views/parts/curve_box.h"

#include <cmath>
#include <utility>

#include "app/views/parts/frame.h"
#include "viz/charts/axis.h"
#include "viz/charts/curves.h"

namespace headscope::app {

void add_curve(viz::CurveChart& chart, Content& it, std::string name, int color, std::vector<float> values) {
  chart.curves.push_back({viz::Matrix::row(it.keep(std::move(values))), std::move(name),
                          viz::categorical(*it.c.theme, color), static_cast<int>(chart.curves.size())});
}

BoxPtr curve_box(viz::CurveChart chart, std::string title, std::string x_title,
                 std::function<Wish(float)> height, DrawnPlaces places) {
  chart.role = places.role;
  const auto paint = [chart = std::move(chart), title = std::move(title), x_title = std::move(x_title)](
                         Picture& picture, const ViewContext& c, viz::Rect area) {
    const viz::Style style = style_of(c);
    const float u = style.unit(), half_line = style.line(style.small()) / 2;  // of the y axis' last number
    const float left = style.width("000.00", style.small()) + 3 * u,
                above = viz::paint_curve_names(picture.scene, chart, title, area, style) + half_line,
                below = x_title.empty() ? 0 : viz::column_numbers_height(style);
    const viz::Rect plot{style.snapped(area.x + left), style.snapped(area.y + above),
                         std::max(1.F, std::floor(area.w - left - 2 * u)),
                         std::max(1.F, std::floor(area.h - above - below))};
    const viz::Region region = viz::paint_curves(picture, chart, plot, style);
    if (below > 0) viz::paint_column_numbers(picture.scene, region, x_title, style);
  };
  return custom({10, 40}, std::move(height), paint, std::move(places));
}

}  // namespace headscope::app
