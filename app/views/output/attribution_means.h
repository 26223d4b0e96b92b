#pragma once
#include "app/views/parts/list_means.h"

// The attribution view as means over the prompts of a list.
namespace headscope::app {

extern const MeansForm kAttributionMeans;

}  // namespace headscope::app
