#include "app/views/parts/curve_box.h"

#include <cmath>
#include <utility>

#include "app/views/parts/frame.h"
#include "viz/charts/axis.h"
#include "viz/charts/curves.h"

namespace headscope::app {

static void paint_curve_box(Picture& picture, const ViewContext& c, const Curves& of, int role,
                            viz::Rect area) {
  const viz::Style style = style_of(c);
  const float u = style.unit();
  viz::CurveChart chart;
  for (const NamedCurve& curve : of.curves)
    chart.curves.push_back({viz::Matrix::row(curve.values), curve.name,
                            viz::categorical(*c.theme, curve.color), static_cast<int>(chart.curves.size())});
  chart.low = of.low, chart.high = of.high, chart.count = of.count;
  chart.role = role, chart.id = of.id;
  if (of.marked >= 0) chart.marked_x = of.marked + 0.5, chart.mark_color = c.theme->text_muted;
  const float half_line = style.line(style.small()) / 2;  // of the y axis' last number
  const float left = style.width("000.00", style.small()) + 3 * u,
              above = viz::paint_curve_names(picture.scene, chart, of.title, area, style) + half_line,
              below = of.x_title.empty() ? 0 : viz::column_numbers_height(style);
  const viz::Rect plot{style.snapped(area.x + left), style.snapped(area.y + above),
                       std::max(1.F, std::floor(area.w - left - 2 * u)),
                       std::max(1.F, std::floor(area.h - above - below))};
  const viz::Region region = viz::paint_curves(picture, chart, plot, style);
  if (below > 0) viz::paint_column_numbers(picture.scene, region, of.x_title, style);
}

BoxPtr curve_box(Curves curves, std::function<Wish(float)> height, DrawnPlaces places) {
  const auto paint = [of = std::move(curves), role = places.role](Picture& picture, const ViewContext& c,
                                                                  viz::Rect area) {
    paint_curve_box(picture, c, of, role, area);
  };
  return custom({10, 40}, std::move(height), paint, std::move(places));
}

}  // namespace headscope::app
