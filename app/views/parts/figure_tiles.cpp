#include "app/views/parts/figure_tiles.h"

#include <cmath>

#include "app/run/analyses/attribution.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/names.h"
#include "app/views/view.h"
#include "viz/scene/colormap.h"
#include "viz/scene/scale.h"

namespace headscope::app {

std::vector<Choice> metric_choices(std::vector<Choice> before) {
  for (const HeadMetricKind& metric : head_metrics())
    before.push_back({metric.name, metric.label, metric.help});
  return before;
}

void paint_figure_tile(viz::Scene& scene, const ViewContext& c, double value, const viz::ColorScale& scale,
                       const viz::Rect& rect) {
  const viz::Style style = style_of(c);
  const bool any = std::isfinite(value);
  const viz::Color under = any ? scale.color(*c.theme, value) : c.theme->raised;
  scene.add(viz::FillRect{rect, under});
  scene.add(viz::StrokeRect{rect, c.theme->line, 1});
  const std::string text = any ? viz::fixed_number(value, 2) : "–";
  if (style.width(text, style.small()) + style.unit() > rect.w || style.line(style.small()) > rect.h) return;
  viz::add_label(scene, style, text, rect.center(), style.small(),
                 any ? text_on(c, under) : c.theme->text_muted, viz::FontStyle::regular, viz::Align::center);
}

std::string figure_words(const HeadMetrics& figures, HeadMetric metric) {
  const double value = figures[metric];
  if (!std::isfinite(value)) return "none";
  return exact(static_cast<float>(value)) + " " + std::string(kind_of(metric).unit);
}

}  // namespace headscope::app
