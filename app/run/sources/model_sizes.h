#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/files/config.h"

namespace headscope::app {

/// The size of a model, for comparison with others.
struct ModelSize {
  std::string name;
  std::int64_t count = 0;  ///< number of parameters; tied ones count once
  int layers = 0;
  int width = 0;        ///< d_model
  bool loaded = false;  ///< whether it is the given model
};

/// The four sizes of GPT-2 (Radford et al. 2019) from small to large, counted from their configurations, and
/// the given model if it is none of them.
std::vector<ModelSize> model_sizes(const std::string& name, const model::Config& config);

}  // namespace headscope::app
