#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "model/config.h"
#include "model/precision.h"
#include "model/transformer.h"

namespace headscope::model {

/// A matrix [rows, cols], row-major, of float32, float16 or bfloat16.
struct WeightMatrix {
  const void* data = nullptr;
  int rows = 0;
  int cols = 0;
  Precision precision = Precision::f32;
};

/// Conv1D of Hugging Face's GPT-2: y = x * weight + bias, weight [in, out], bias [out].
struct LinearWeights {
  WeightMatrix weight;
  std::span<const float> bias;
};

struct LayerNormWeights {
  std::span<const float> gain, bias;  // [d_model]
};

struct BlockWeights {
  LayerNormWeights ln_1;
  LinearWeights attn_c_attn;  // [d_model, 3 d_model]: q, k, v side by side
  LinearWeights attn_c_proj;  // [d_model, d_model]
  LayerNormWeights ln_2;
  LinearWeights mlp_c_fc;    // [d_model, n_inner]
  LinearWeights mlp_c_proj;  // [n_inner, d_model]
};

/// All weights of a model. Matrices that products are made with are kept in `precision`; biases, gains and
/// the position embedding in float32 always.
struct Weights {
  Config config;
  Precision precision = Precision::f32;
  WeightMatrix wte;            // [vocab, d_model]
  std::span<const float> wpe;  // [n_ctx, d_model]
  std::vector<BlockWeights> h;
  LayerNormWeights ln_f;
  WeightMatrix lm_head;  // [vocab, d_model]; the same memory as wte when tied

  std::vector<Parameter> parameters;
  std::vector<std::shared_ptr<const void>> memory;  // what the pointers above point into
};

/// Reads a Hugging Face folder. Float32 tensors are used where they lie in the memory map when they are kept
/// as float32 and lie aligned; everything else is converted (to the nearest, ties to even) or copied. Throws
/// LoadError or Stopped.
Weights load_weights(const std::filesystem::path& folder, const LoadOptions& options);

}  // namespace headscope::model
