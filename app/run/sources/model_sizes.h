#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/files/config.h"

namespace headscope::app {

/// How large a model is, beside others.
struct ModelSize {
  std::string name;
  std::int64_t count = 0;  ///< of its parameters, tied ones once
  int layers = 0;
  int width = 0;        ///< d_model
  bool loaded = false;  ///< it is the one that was asked about
};

/// The four sizes of GPT-2 (Radford et al. 2019) from small to large, counted from their configurations, and
/// a model of this configuration where it is none of them.
std::vector<ModelSize> model_sizes(const std::string& name, const model::Config& config);

}  // namespace headscope::app
