#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/analyses/measured.h"
#include "app/run/run_prompt.h"

namespace headscope::app {

/// What adds a part to what is read from the residual stream: what writes into it, or a bias of the layer
/// norm or of the matrix that read it, or edits.
struct StreamSource {
  enum class Kind {
    token_embedding,
    position_embedding,
    head,
    attention_bias,
    mlp,
    norm_bias,
    own_bias,
    edits
  };
  Kind kind = Kind::token_embedding;
  int layer = -1;  ///< -1: outside the layers
  int head = -1;   ///< of `layer`; -1: no head
  bool operator==(const StreamSource&) const = default;
};

/// "token embedding", "L3 H2", "L3 bias" (attention's), "L3 MLP", "edits"; the other biases as they are
/// named.
std::string name_of(const StreamSource& source, std::string_view norm_bias, std::string_view own_bias = {});

/// What a run wrote into the residual stream of one position before some layer: vectors [d_model] that add up
/// to the stream there, but for float32 rounding. The parts are as edits left them.
struct StreamParts {
  std::vector<StreamSource> sources;        ///< in the order of the pass
  std::vector<std::vector<float>> vectors;  ///< for each what it wrote; MLPs with their biases
  /// What edits added outside the parts: to the stream itself, or to attention's sum of heads. Empty without
  /// such edits.
  std::vector<double> edits;
};

/// Whether edits act on the stream before a layer (n_layer: before ln_f), not on what one part writes.
bool edits_stream(const PromptRun& run, int layers);
/// Throws model::Stopped.
StreamParts stream_parts(const PromptRun& run, int position, int layers, const Resources& with);

/// A vector on the residual stream at a position adds its product with `along` to a logit, or to the
/// difference of two, with ln_f's scale held fixed; ln_f's bias adds `bias` in any case.
struct LogitDirection {
  double scale = 1;           ///< divisor in ln_f at the position: sqrt(variance + epsilon)
  std::vector<double> read;   ///< [d_model], direction after normalization, before ln_f's gain
  std::vector<double> along;  ///< [d_model], direction on the residual stream
  double bias = 0;
};

/// The direction of a logit, or of the difference of two, given by ids, with ln_f's scale as edits left it.
/// Throws Stopped.
LogitDirection logit_direction(const PromptRun& run, const Measured& measured, const Resources& with);

/// Whether edits act after the blocks: on the scale, the output of ln_f, or the logits.
bool edits_after_blocks(const PromptRun& run);
/// What such edits add to that logit, except through the scale. Throws Stopped.
double final_edits(const PromptRun& run, int position, const LogitDirection& direction, double logit,
                   const Resources& with);

/// The scale of a layer norm for a row: sqrt(variance + epsilon), in double.
double layer_norm_scale(std::span<const float> row, double epsilon);

}  // namespace headscope::app
