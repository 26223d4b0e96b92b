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

using Activations = std::map<std::string, Tensor>;  // by hook name

/// The folder of one of the committed models.
std::filesystem::path model_folder(const std::string& name);

/// The names of all committed models, of several configurations.
std::vector<std::string> model_names();

/// Adds a hook that assembles the pieces at `point`, of a run of `length` tokens, in `activations`, which
/// must outlive the hooks.
void assemble(const model::Config& config, model::HookPoint point, int length, model::Hooks& hooks,
              Activations& activations);

/// Runs the model with a hook at each of `points`, called after those in `hooks`, and assembles the pieces.
Activations record(const model::Transformer& transformer, std::span<const int> tokens,
                   model::Workspace& workspace, const std::vector<model::HookPoint>& points, int chunk = 256,
                   const std::shared_ptr<const model::Plan>& plan = nullptr, model::Hooks hooks = {});

/// Fails the test unless the shapes are equal, both have -inf at the same places, and all other values differ
/// by at most `tolerance` times the largest expected magnitude.
void expect_close(const std::string& name, const Tensor& expected, const Tensor& found, double tolerance);

/// The logits of all positions, [length, vocab].
std::vector<float> all_logits(const model::Transformer& transformer, const model::Run& run,
                              model::Workspace& workspace);

/// All values that a run keeps: for each position and layer the row of the residual stream, and q, k, v by
/// head.
std::vector<float> kept_values(const model::Run& run);

bool same_bits(std::span<const float> a, std::span<const float> b);

/// The largest |a - b|.
double largest_difference(std::span<const float> a, std::span<const float> b);

}  // namespace headscope::testing
