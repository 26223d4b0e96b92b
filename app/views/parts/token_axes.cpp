#include "app/views/parts/token_axes.h"

#include <span>

#include "app/run/analyses/patterns.h"
#include "app/views/parts/matrix_zoom.h"

namespace headscope::app {

/// Whether the picture shows all tokens and nobody moves it.
static bool is_still(const ViewContext& c) {
  return !c.in_pane && c.options[kZoom] == Zoom{};
}

viz::AxisLabels token_axis(const ViewContext& c, std::string_view title, viz::Color color, int emphasised) {
  return {.labels = std::span(c.run->tokens.labels).first(c.run->run->length()),
          .title = std::string(title),
          .color = color,
          .emphasised = emphasised,
          .is_still = is_still(c)};
}

viz::AxisLabels key_axis(const ViewContext& c) {
  return {.labels = std::span(key_tokens(*c.run).labels).first(key_count(*c.run)),
          .title = "key",
          .color = c.theme->key,
          .emphasised = c.selection.key,
          .is_still = is_still(c)};
}

viz::AxisLabels selectable_axis(const ViewContext& c, std::span<const std::string> names,
                                std::string_view title, int selected) {
  return {.labels = names,
          .title = std::string(title),
          .color = c.theme->accent,
          .emphasised = selected,
          .title_color = c.theme->text_muted,
          .numbered = true};
}

}  // namespace headscope::app
