#pragma once
#include <optional>
#include <string>

#include "app/cli/arguments/arguments.h"

namespace headscope::app {

/// What each part of the model adds to a logit.
struct AttributeCommand : Arguments {
  std::string token;                        ///< text or id; empty: the most probable
  std::string against;                      ///< text or id; empty: none
  int position = -1;                        ///< -1: the last
  std::optional<model::HeadIndex> sources;  ///< the head whose part is told by source
  bool all_sources = false;                 ///< of every head
};

}  // namespace headscope::app
