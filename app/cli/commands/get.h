#pragma once
#include <string>

#include "app/cli/arguments/arguments.h"
#include "app/hub/hub_name.h"

namespace headscope::app {

/// Brings a model from the Hugging Face hub into the cache.
struct GetCommand : Arguments {
  std::string name;  ///< as it was given
  HubModel wanted;
};

}  // namespace headscope::app
