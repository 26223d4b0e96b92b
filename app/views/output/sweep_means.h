#pragma once
#include "app/views/parts/list_means.h"

// The sweep view as means over the prompts of a list.
namespace headscope::app {

extern const MeansForm kSweepMeans;

}  // namespace headscope::app
