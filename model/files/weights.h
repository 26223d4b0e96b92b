#pragma once
#include <filesystem>
#include <span>
#include <vector>

#include "model/files/config.h"
#include "model/files/loading.h"
#include "model/kernels/float_memory.h"
#include "model/kernels/panel_matrix.h"
#include "model/kernels/precision.h"

namespace headscope::model {

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

/// All weights of a model. Matrices are kept in `precision`, in panels; biases, gains and the position
/// embedding always in float32.
struct Weights : LoadReport {
  Config config;
  PanelMatrix wte;             // [d_model, vocab]
  std::span<const float> wpe;  // [n_ctx, d_model]
  std::vector<BlockWeights> h;
  LayerNormWeights ln_f;
  PanelMatrix lm_head;              // [d_model, vocab]; the same memory as wte when tied
  std::vector<FloatMemory> memory;  // what the pointers above point into
};

/// Loads a Hugging Face folder. All tensors are checked before any is read. Matrices are rearranged so that a
/// product reads each in one stream; the file's layout would be read in short pieces, measured to be half as
/// fast at 8 to 64 positions. The files are closed when this returns. Throws LoadError or Stopped.
Weights load_weights(const std::filesystem::path& folder, const LoadOptions& options);

}  // namespace headscope::model
