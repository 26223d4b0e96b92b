#pragma once
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "model/circuit/stream_graph.h"
#include "model/files/config.h"
#include "tests/support/reference_gpt2.h"

namespace headscope::testing {

/// GPT-2 in double precision in which every part of the model reads a residual stream of its own: the sum of
/// what the edges to it carry. Written for tests from the textbook definition.
class ReferenceCircuit {
 public:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;
  struct Result {
    std::vector<Rows> written;  ///< [writer][pos][d_model]
    std::vector<Rows> z;        ///< [layer][pos][d_model]
    Rows logits;                ///< [pos][vocabulary]
  };
  /// What an edge carries at a position, in place of what its writer wrote there in this pass.
  using Carry = std::function<Row(int writer, int reader, std::size_t pos, const Row& written)>;

  /// Reads `config.json` and `model.safetensors`.
  explicit ReferenceCircuit(const std::filesystem::path& folder)
      : parameters_(folder), config_(parameters_.config()), graph_(config_) {}

  const model::StreamGraph& graph() const { return graph_; }
  /// `carry` empty: every edge carries what its writer wrote.
  Result run(std::span<const int> tokens, const Carry& carry = {}) const;

 private:
  Row layer_norm(const Row& x, const std::string& name) const;
  Row affine(const Row& x, const std::string& name, std::size_t first, std::size_t count) const;

  ReferenceGpt2 parameters_;
  const model::Config config_;
  model::StreamGraph graph_;
};

}  // namespace headscope::testing
