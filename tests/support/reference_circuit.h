#pragma once
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/circuit/stream_graph.h"
#include "tests/support/reference_gpt2.h"

namespace headscope::testing {

/// The float64 GPT-2 in which every part of the model reads a residual stream of its own: the sum of what the
/// edges to it carry.
class ReferenceCircuit {
 public:
  using Row = std::vector<double>;
  using Rows = ReferenceGpt2::Rows;
  struct Result {
    std::vector<Rows> written;  ///< [writer][pos][d_model]
    Rows logits;                ///< [pos][vocabulary]
  };
  /// What an edge carries at a position, in place of what its writer wrote there in this pass.
  using Carry = std::function<Row(int writer, int reader, std::size_t pos, const Row& written)>;

  explicit ReferenceCircuit(const std::filesystem::path& folder) : model_(folder), graph_(model_.config()) {}

  const model::StreamGraph& graph() const { return graph_; }
  /// `carry` empty: every edge carries what its writer wrote.
  Result run(std::span<const int> tokens, const Carry& carry = {}) const {
    Result result;
    ReferenceGpt2::Edits watch;
    watch.edit = [&](const std::string& hook, int, const Rows& rows) {
      if (hook == "blocks.0.hook_resid_pre" || hook.ends_with("hook_result") ||
          hook.ends_with("hook_mlp_out"))
        result.written.push_back(rows);
    };
    if (carry)
      watch.reads = [&](model::StreamReader reader, Rows stream) {
        for (int writer = 0; writer < graph_.sources(reader); ++writer)
          for (std::size_t pos = 0; pos < stream.size(); ++pos) {
            const Row& written = result.written[writer][pos];
            const Row carried = carry(writer, graph_.index(reader), pos, written);
            for (std::size_t i = 0; i < carried.size(); ++i) stream[pos][i] += carried[i] - written[i];
          }
        return stream;
      };
    result.logits = model_.run(tokens, watch).logits;
    return result;
  }

 private:
  ReferenceGpt2 model_;
  model::StreamGraph graph_;
};

}  // namespace headscope::testing
