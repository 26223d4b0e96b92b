#include "app/views/parts/figure_tiles.h"

#include <array>
#include <cmath>

#include "app/run/analyses/attribution.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/names.h"
#include "app/views/view.h"
#include "viz/scene/colormap.h"
#include "viz/scene/scale.h"

namespace headscope::app {

std::vector<Choice> figure_choices(std::vector<Choice> before) {
  static constexpr std::array<Choice, kHeadMetrics> kFigures{
      {{"first", "First", "Weight on the first token"},
       {"previous", "Previous", "Weight on the token before the query"},
       {"self", "Itself", "Weight on the query's own position"},
       {"induction", "Induction", "Weight on what followed an earlier occurrence of the token"},
       {"duplicate", "Duplicate", "Weight on earlier occurrences of the token"},
       {"entropy", "Entropy", "How widely the weights are spread, in bits"},
       {"distance", "Distance", "How far back the head looks, in tokens"},
       {"sink", "Sink", "Share of queries that park more than half of their weight on the first token"}}};
  before.insert(before.end(), kFigures.begin(), kFigures.end());
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

std::string figure_words(const HeadMetrics& figures, HeadMetric figure) {
  const double value = figures[figure];
  if (!std::isfinite(value)) return "none";
  return exact(static_cast<float>(value)) + " " + std::string(words_of(figure).unit);
}

}  // namespace headscope::app
