#pragma once
#include <string>
#include <vector>

#include "app/run/analyses/head_metrics.h"
#include "app/views/view.h"
#include "viz/scene/scale.h"

// Numbers of heads in a grid of them, where several views show them.
namespace headscope::app {

/// The choices before them, then one for each metric, by its number in HeadMetric.
std::vector<Choice> metric_choices(std::vector<Choice> before = {});

/// A head's number on its colour, where it has room; what is none stays blank.
void paint_figure_tile(viz::Scene& scene, const ViewContext& context, double value,
                       const viz::ColorScale& scale, const viz::Rect& rect);

/// "0.43 weight", "2.1 bits", "none".
std::string figure_words(const HeadMetrics& figures, HeadMetric metric);

}  // namespace headscope::app
