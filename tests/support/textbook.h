#pragma once
// Single steps of GPT-2's definition on vectors, in double precision.
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/reference_gpt2.h"

namespace headscope::testing {

inline std::vector<double> centered(std::vector<double> v) {
  const double mean = std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
  for (double& x : v) x -= mean;
  return v;
}

/// What a layer norm divides by.
inline double norm_scale(const std::vector<double>& stream, double epsilon) {
  double variance = 0;
  for (const double v : centered(stream)) variance += v * v / static_cast<double>(stream.size());
  return std::sqrt(variance + epsilon);
}

/// A row of d_model numbers of a parameter.
inline std::vector<double> row_of(const ReferenceGpt2& model, const std::string& name, int index = 0) {
  const auto d = static_cast<std::ptrdiff_t>(model.parameter("ln_f.bias").size());
  const auto first = model.parameter(name).begin() + index * d;
  return {first, first + d};
}

/// x times columns of a weight [in, out].
inline std::vector<double> times_columns(const std::vector<double>& weight, const std::vector<double>& x,
                                         std::ptrdiff_t first, std::ptrdiff_t count) {
  std::vector<double> sum(static_cast<std::size_t>(count));
  const auto out = weight.size() / x.size();
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < sum.size(); ++j)
      sum[j] += x[i] * weight[i * out + static_cast<std::size_t>(first) + j];
  return sum;
}

/// What a head adds to the stream: its z, or a value, times its rows of c_proj.
inline std::vector<double> head_output(const ReferenceGpt2& model, int layer, int head,
                                       const std::vector<double>& z) {
  const std::string projection = "h." + std::to_string(layer) + ".attn.c_proj.weight";
  std::vector<double> sum(model.parameter("ln_f.bias").size());
  for (std::size_t i = 0; i < z.size(); ++i) {
    const std::vector<double> row =
        row_of(model, projection, head * static_cast<int>(z.size()) + static_cast<int>(i));
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += z[i] * row[j];
  }
  return sum;
}

}  // namespace headscope::testing
