#include "app/run/analyses/token_reading.h"

#include <string>
#include <string_view>
#include <vector>

#include "model/kernels/kernels.h"
#include "model/maths/plain_product.h"

namespace headscope::app {
namespace {

/// Subtracts the mean and divides by the standard deviation.
void normalize(std::span<float> row, float epsilon) {
  const std::vector<float> x(row.begin(), row.end());
  model::divide(row, model::center(x, epsilon, row));
}

ParameterRows product(const ParameterRows& x, const ParameterRows& weights, const ParameterRows& bias,
                      model::Workspace& workspace) {
  ParameterRows y{std::vector<float>(std::ptrdiff_t{x.rows} * weights.cols), x.rows, weights.cols};
  model::multiply(x.view(), weights.view(), workspace, {y.values.data(), y.rows, y.cols, y.cols});
  for (int i = 0; i < y.rows; ++i) model::add(bias.values, y.row(i));
  return y;
}

}  // namespace

TokenRows::TokenRows(const model::Transformer& transformer, int layer, TokenReading reading)
    : transformer_(transformer), reading_(reading) {
  if (!reading.after_first_mlp || layer == 0) return;
  const auto of_layer = [&](std::string_view name) {
    return parameter_rows(transformer, "h.0." + std::string(name));
  };
  mlp_ = {of_layer("ln_2.weight"),   of_layer("ln_2.bias"),         of_layer("mlp.c_fc.weight"),
          of_layer("mlp.c_fc.bias"), of_layer("mlp.c_proj.weight"), of_layer("mlp.c_proj.bias")};
}

ParameterRows TokenRows::rows(int first, int count, model::Workspace& workspace) const {
  const model::Config& config = transformer_.config();
  ParameterRows stream = parameter_rows(transformer_, "wte.weight", first, count);
  if (mlp_) {
    ParameterRows x = stream;
    for (int i = 0; i < count; ++i) {
      normalize(x.row(i), config.layer_norm_epsilon);
      model::apply_gain_and_bias(mlp_->gain.values, mlp_->bias.values, x.row(i));
    }
    ParameterRows hidden = product(x, mlp_->in, mlp_->in_bias, workspace);
    for (int i = 0; i < count; ++i)
      model::activate(model::fastest_kernels().rows, config.activation, hidden.row(i));
    const ParameterRows out = product(hidden, mlp_->out, mlp_->out_bias, workspace);
    for (int i = 0; i < count; ++i) model::add(out.row(i), stream.row(i));
  }
  if (reading_.normalized)
    for (int i = 0; i < count; ++i) normalize(stream.row(i), config.layer_norm_epsilon);
  return stream;
}

}  // namespace headscope::app
