#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "app/run/analyses/stream_parts.h"
#include "app/run/question.h"

// How a logit comes about along the whole pass. With the attention patterns and the scales of all layer norms
// held fixed as they are in the run, and MLPs taken as sources, the pass is linear in what is written to the
// residual stream: embeddings, MLP outputs and biases at every layer and position (Elhage et al. 2021, "A
// Mathematical Framework for Transformer Circuits"). Going back from the logit gives for each place of the
// stream the direction g in which a vector there adds to the logit, through the stream itself and through the
// OV circuits of later layers. Then an attention edge, in which a head's query at position q reads the key at
// position k, carries
//
//     g[layer, q] . (pattern[q, k] W_O v[k])
//
// and the stream at a place x carries g . x. At each place, what comes in equals what goes out, as in a
// Sankey diagram. The graph of edges between the tokens' streams is that of Ferrando and Voita 2024
// ("Information Flow Routes: Automatically Interpreting Language Models at Scale"), who weigh its edges by
// proximity instead; the weights here add up to the logit exactly, and have a sign.
namespace headscope::app {

/// What one query of a head takes from one key.
struct FlowEdge {
  int layer = 0;
  int head = 0;
  int query = 0;
  int key = 0;
  double value = 0;  ///< what it adds to the logit
  bool operator==(const FlowEdge&) const = default;
};

/// Arrays are [layers, positions], row-major, unless stated otherwise. All numbers are parts of the logit.
struct LogitFlow {
  static constexpr std::size_t kMaxEdges = 1 << 14;

  /// A logit, or its difference from another or the mean of all: a number that all logits share does not
  /// change the prediction.
  Measured measured = {};
  int layers = 0;
  int positions = 0;
  double logit = 0;  ///< as the model computed it, or the difference of two
  double scale = 1;  ///< divisor in ln_f at the position

  /// [layers + 1, positions]: what the stream carries into each block, and out of the last one.
  std::vector<double> stream;
  std::vector<double> sent;     ///< what all of the block's edges take from the position as a key
  std::vector<double> arrived;  ///< what all of the block's edges bring to the position as a query

  // Sources.
  std::vector<double> token_embedding, position_embedding;  ///< [positions]
  std::vector<double> mlps;                                 ///< with their biases
  /// [layers]: the part of the MLPs' flows at the position that goes to the logit through the stream alone,
  /// as in direct logit attribution; the rest goes through later attention, and what edits scale.
  std::vector<double> direct_mlps;
  std::vector<double> key_biases;    ///< of values, and of ln_1, which enter the edges at the key
  std::vector<double> query_biases;  ///< c_proj's, at the query
  double final_bias = 0;             ///< ln_f's
  std::vector<double> input_edits;   ///< what edits add to the stream that enters the block
  std::vector<double> key_edits;     ///< what edits add between the block's input and the edges
  std::vector<double> query_edits;   ///< what edits add between the edges and the block's output
  double final_edits = 0;            ///< the same after the last block
  bool edited = false;               ///< whether there are such edits

  /// The edges that add or remove most, in descending order of magnitude: all, or kMaxEdges of them.
  std::vector<FlowEdge> edges;
  std::int64_t edge_count = 0;  ///< number of edges that are not 0
  double edge_magnitude = 0;    ///< sum of the magnitudes of all edges

  std::size_t at(int layer, int pos) const { return std::ptrdiff_t{layer} * positions + pos; }
  double sum() const;  ///< sum of all sources
  /// The logit minus the sum of all sources, which is the error of float32 rounding.
  double rounding_error() const { return logit - sum(); }
  std::size_t bytes() const {
    return bytes_of(stream, sent, arrived, token_embedding, position_embedding, mlps, direct_mlps, key_biases,
                    query_biases, input_edits, key_edits, query_edits, edges);
  }
};

/// The flow to a token's logit after a position.
struct LogitFlowOf {
  static constexpr std::string_view kName = "logit flow";
  Measured measured = {};  ///< see LogitFlow
  bool operator==(const LogitFlowOf&) const = default;
  /// Throws RunError for an id outside the vocabulary.
  LogitFlow compute(const PromptRun& run, const Computation<LogitFlow>& computation) const;
};

/// What the model would predict for some positions if the pass ended at the input of each block (the logit
/// lens, nostalgebraist 2020).
struct FlowLens {
  int layers = 0;
  std::vector<int> positions;  ///< those asked for
  /// [positions asked for, layers + 1]: with the best guess; next_* are the token's.
  std::vector<model::LensReading> readings;
  /// At the input of a block, or after the last one.
  const model::PositionStatistics& at(int position, int layer) const {
    const auto row = std::ranges::find(positions, position) - positions.begin();
    return readings[row * (layers + 1) + layer].guesses;
  }
  std::size_t bytes() const { return bytes_of(positions, readings) + readings.size() * sizeof(model::Guess); }
};

struct FlowLensOf {
  static constexpr std::string_view kName = "logit lens of a flow";
  int token = 0;
  std::vector<int> positions;
  bool operator==(const FlowLensOf&) const = default;
  FlowLens compute(const PromptRun& run, const Computation<FlowLens>& computation) const;
};

}  // namespace headscope::app
