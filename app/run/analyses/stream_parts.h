#pragma once
#include <span>
#include <vector>

#include "app/run/analyses/watched_rows.h"

namespace headscope::app {

/// What a run wrote into the residual stream of one position before some layer: vectors [d_model] that add up
/// to the stream there, but for float32 rounding. The parts are as edits left them.
struct StreamParts {
  int layers = 0;  ///< those before it
  std::vector<float> token_embedding, position_embedding;
  std::vector<std::vector<float>> heads;               ///< [layers]: [n_head, d_model]
  std::vector<std::span<const float>> attention_bias;  ///< [layers]: c_proj's
  std::vector<std::vector<float>> mlps;                ///< [layers], with their biases
  /// What edits added outside the parts: to the stream itself, or to attention's sum of heads. Empty without
  /// such edits.
  std::vector<double> edits;

  std::span<const float> head(int layer, int head) const {
    const std::size_t d_model = token_embedding.size();
    return std::span(heads[layer]).subspan(static_cast<std::size_t>(head) * d_model, d_model);
  }
};

/// Whether edits act on the stream before a layer (n_layer: before ln_f), not on what one part writes.
bool edits_stream(const PromptRun& run, int layers);
/// Requests what `stream_parts` needs.
void want_stream(WatchedRows& rows, const PromptRun& run, int layers);
/// `rows`: watched at the position. Throws model::Stopped.
StreamParts stream_parts(const PromptRun& run, int position, int layers, const WatchedRows& rows,
                         model::Workspace& workspace, const std::stop_token& stop);

}  // namespace headscope::app
