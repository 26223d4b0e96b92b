#pragma once
#include <string_view>

#include "app/views/view.h"
#include "viz/charts/heatmap.h"

// Tokens as the axes of a picture.
namespace headscope::app {

/// Labels of the run's tokens as an axis, the selected query emphasised where it is given.
viz::AxisLabels token_axis(const ViewContext& context, std::string_view title, viz::Color color,
                           int emphasised);
/// Labels of the keys' tokens, the selected key emphasised.
viz::AxisLabels key_axis(const ViewContext& context);

}  // namespace headscope::app
