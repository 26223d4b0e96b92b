#pragma once
#include <string>

#include "app/cli/arguments/arguments.h"
#include "app/hub/hub_name.h"

namespace headscope::app {

/// Fetches a model from the Hugging Face hub into the cache.
struct GetCommand : Arguments {
  std::string name;  ///< as typed
  HubModel wanted;
};

}  // namespace headscope::app
