#pragma once
#include <string>

#include "app/views/output/sweep_question.h"
#include "app/views/view.h"

// The sweep view as means over the prompts of a list.
namespace headscope::app {

/// Roles of regions, those of a sweep of one prompt: cells of the grid, and the list's rows.
struct SweptRoles {
  int cell, row;
};

Picture sweep_means_picture(const ViewContext& context, SweptRoles roles);
Facts sweep_means_facts(const ViewContext& context, const Picture& picture, const viz::Hit& hit,
                        SweptRoles roles);
ViewActions on_sweep_means(const ViewContext& context, const Picture& picture, const viz::Hit* hit,
                           const Gesture& gesture, SweptRoles roles);
Table sweep_means_table(const ViewContext& context);
viz::Point sweep_means_size(const ViewContext& context);
/// Why there are no means with these options.
SweepRefusal refuse_sweep_means(const ViewContext& context);

}  // namespace headscope::app
