#include "app/views/parts/token_axes.h"

#include <span>

#include "app/run/analyses/patterns.h"

namespace headscope::app {

viz::AxisLabels token_axis(const ViewContext& c, std::string_view title, viz::Color color, int emphasised) {
  return {std::span(c.run->tokens.labels).first(c.run->run->length()), std::string(title), color, emphasised};
}

viz::AxisLabels key_axis(const ViewContext& c) {
  return {std::span(key_tokens(*c.run).labels).first(key_count(*c.run)), "key", c.theme->key,
          c.selection.key};
}

viz::AxisLabels selectable_axis(const ViewContext& c, std::span<const std::string> names,
                                std::string_view title, int selected) {
  return {names, std::string(title), c.theme->accent, selected, c.theme->text_muted};
}

}  // namespace headscope::app
