#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/pass/transformer.h"

namespace headscope::testing {

struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

using Activations = std::map<std::string, Tensor>;  // by the names of hooks

/// What the reference in tests/model/reference computed.
struct Golden {
  std::vector<int> tokens;
  Activations activations;
};

/// The folder of one of the committed models.
std::filesystem::path golden_folder(const std::string& name);

/// The names of all committed models.
std::vector<std::string> golden_names();

/// Reads goldens.safetensors, or `file` in its place.
Golden read_golden(const std::filesystem::path& folder, const std::string& file = "goldens.safetensors");

/// Runs the model with a hook at every one of `points`, after those in `hooks`, and puts the pieces together.
Activations record(const model::Transformer& transformer, std::span<const int> tokens,
                   model::Workspace& workspace, const std::vector<model::HookPoint>& points, int chunk = 256,
                   const std::shared_ptr<const model::Plan>& plan = nullptr, model::Hooks hooks = {});

/// Fails the test unless shapes are equal, -inf stands where and only where it is expected, and the rest
/// differ by at most `tolerance` times the largest magnitude expected.
void expect_close(const std::string& name, const Tensor& expected, const Tensor& found, double tolerance);

/// Logits of all positions, [length, vocab].
std::vector<float> all_logits(const model::Transformer& transformer, const model::Run& run,
                              model::Workspace& workspace);

/// All that a run keeps: of each position and layer the row of the residual stream, and q, k, v by head.
std::vector<float> kept_values(const model::Run& run);

bool same_bits(std::span<const float> a, std::span<const float> b);

/// The largest |a - b|.
double largest_difference(std::span<const float> a, std::span<const float> b);

}  // namespace headscope::testing
