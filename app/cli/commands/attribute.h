#pragma once
#include <optional>
#include <string>

#include "app/cli/arguments/arguments.h"

namespace headscope::app {

/// The contribution of each part of the model to a logit.
struct AttributeCommand : Arguments {
  std::string token;                        ///< text or id; empty: the most probable
  std::string against;                      ///< text or id; empty: none
  int position = -1;                        ///< -1: the last
  std::optional<model::HeadIndex> sources;  ///< the head whose contribution is split by source token
  bool all_sources = false;                 ///< the same for every head
};

}  // namespace headscope::app
