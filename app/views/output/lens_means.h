#pragma once
#include "app/run/analyses/means_on_list.h"
#include "app/views/parts/list.h"
#include "app/views/view.h"

// The logit lens as means over the prompts of a list: a row for each place in the residual stream.
namespace headscope::app {

extern const Option<int> kFirstPlace;  ///< first row shown

/// The role of the rows' regions, whose ids are the rows; not that of the lens' cells.
constexpr int kLensRow = 1;

Picture lens_means_picture(const ViewContext& context);
Facts lens_means_facts(const ViewContext& context, const Picture& picture, const viz::Hit& hit);
ViewActions on_lens_means(const ViewContext& context, const Picture& picture, const viz::Hit* hit,
                          const Gesture& gesture);
std::vector<Scroll> lens_means_scrolls(const ViewContext& context, const Picture& picture);
Table lens_means_table(const ViewContext& context);
viz::Point lens_means_size(const ViewContext& context);

}  // namespace headscope::app
