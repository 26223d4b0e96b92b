#pragma once
// Derivatives of a run as tensors, and their comparison with the reference.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "model/pass/transformer.h"
#include "tests/model/activations.h"
#include "tests/model/every_edit.h"
#include "tests/support/reference_gradients.h"

namespace headscope::model {

/// The largest difference that is allowed, as a part of a tensor's largest value.
constexpr double kGradientTolerance = 1e-4;

/// A model of shape_for_edits. What attention and the MLP add is a quarter of what such random weights give:
/// if it outweighed the stream, the next layer norm would cancel nearly all of the derivatives of a scale,
/// which float32 cannot show. 16 bits represent the weights exactly.
inline void write_model_for_gradients(const testing::TemporaryFolder& folder) {
  const testing::Gpt2Shape shape = shape_for_edits();
  std::vector<testing::RawTensor> tensors = gpt2_tensors(shape);
  for (testing::RawTensor& tensor : tensors) {
    if (!tensor.name.ends_with("c_proj.weight") && !tensor.name.ends_with("c_fc.weight")) continue;
    std::vector<float> values(tensor.bytes.size() / sizeof(float));
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    for (float& value : values) value /= 4;
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  }
  write_gpt2(folder, gpt2_config(shape), tensors);
}

class GradientsFixture : public ModelFixture<testing::ReferenceGradients> {
 protected:
  static void SetUpTestSuite() { load(write_model_for_gradients); }
  std::shared_ptr<const model::Run> run(std::span<const int> ids, const Edits& edits = {}) {
    return ModelFixture::run(ids, plan(edits));
  }
};

/// All derivatives of a metric, by hook name, with `result` too.
inline testing::Activations gradients_of(const Transformer& transformer, const Run& run, const Metric& metric,
                                         Workspace& workspace, double* value = nullptr) {
  const std::vector<HookPoint> points = all_hook_points(transformer.config());
  Hooks hooks;
  testing::Activations gradients;
  for (const HookPoint point : points)
    testing::assemble(transformer.config(), point, run.length(), hooks, gradients);
  GradientOptions options;
  options.hooks = &hooks;
  const double found = transformer.gradients(run, metric, workspace, options);
  if (value != nullptr) *value = found;
  return gradients;
}

inline testing::Tensor as_floats(const std::vector<double>& values, const std::vector<std::int64_t>& shape) {
  testing::Tensor result{shape, {}};
  for (const double value : values) result.values.push_back(static_cast<float>(value));
  return result;
}

/// Fails unless every derivative of the metric is the reference's.
inline void expect_reference_gradients(const testing::ReferenceGradients& reference,
                                       const Transformer& transformer, const Run& run, const Metric& metric,
                                       Workspace& workspace) {
  const Edits edits = run.plan ? run.plan->edits() : Edits();
  const auto expected = reference.run(run.tokens, edits, metric);
  double value = 0;
  const testing::Activations found = gradients_of(transformer, run, metric, workspace, &value);
  EXPECT_NEAR(value, expected.metric, 1e-5 * std::max(1.0, std::abs(expected.metric)));
  ASSERT_EQ(found.size(), expected.gradients.size());
  for (const auto& [name, tensor] : found)
    testing::expect_close(name, as_floats(expected.gradients.at(name), tensor.shape), tensor,
                          kGradientTolerance);
}

}  // namespace headscope::model
