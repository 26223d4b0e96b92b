#include "model/files/parameters.h"

namespace headscope::model {

std::vector<Parameter> parameters_of(const Config& config) {
  Weights weights;
  weights.config = config;
  weights.h.resize(config.n_layer);
  std::vector<Parameter> all;
  visit_parameters(weights, [&](const std::string& name, const ParameterShape& shape, const auto&, bool) {
    all.push_back({name, shape, ""});
  });
  return all;
}

std::int64_t value_count(const Parameter& parameter) {
  std::int64_t count = 1;
  for (const std::int64_t extent : parameter.shape) count *= extent;
  return count;
}

}  // namespace headscope::model
