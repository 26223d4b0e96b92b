#pragma once
#include <span>
#include <string>
#include <string_view>

#include "app/views/view.h"
#include "viz/charts/heatmap.h"

// The axes of pictures: tokens, layers and heads.
namespace headscope::app {

/// Labels of the run's tokens as an axis, the selected query emphasised where it is given.
viz::AxisLabels token_axis(const ViewContext& context, std::string_view title, viz::Color color,
                           int emphasised);
/// Labels of the keys' tokens, the selected key emphasised.
viz::AxisLabels key_axis(const ViewContext& context);
/// Layers or heads: the selected one has the colour of the selection, the title does not.
viz::AxisLabels selectable_axis(const ViewContext& context, std::span<const std::string> names,
                                std::string_view title, int selected);

}  // namespace headscope::app
