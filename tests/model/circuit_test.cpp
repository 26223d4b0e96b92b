// The residual stream as a graph: what edges carry, by first-order estimates and with edges cut, against a
// pass in double precision in which every part of the model reads a stream of its own.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>

#include "model/files/error.h"
#include "tests/model/gradients_fixture.h"
#include "tests/support/reference_circuit.h"

namespace headscope::model::circuit_test {
namespace {

using testing::ReferenceCircuit;

/// The metric of a reference's logits.
double reference_metric(const ReferenceCircuit::Rows& logits, std::span<const int> tokens,
                        const Metric& metric) {
  const auto log_probability = [&](std::size_t pos, int token) {
    double sum = 0;
    for (const double logit : logits[pos]) sum += std::exp(logit);
    return logits[pos][token] - std::log(sum);
  };
  if (const auto* of = std::get_if<LogitDifference>(&metric))
    return logits[of->position][of->token] - logits[of->position][of->against];
  if (const auto* of = std::get_if<LogProbability>(&metric)) return log_probability(of->position, of->token);
  double loss = 0;
  for (std::size_t pos = 0; pos + 1 < tokens.size(); ++pos)
    loss -= log_probability(pos, tokens[pos + 1]) / static_cast<double>(tokens.size() - 1);
  return loss;
}

class CircuitTest : public GradientsFixture {
 protected:
  CircuitTest() : reference_circuit_(folder_->path()), graph_(reference_circuit_.graph()) {}

  std::size_t edges() const { return static_cast<std::size_t>(graph_.edge_count()); }

  /// Kept with probability 1/2.
  KeptEdges some_edges(int rows) const {
    KeptEdges kept{std::vector<std::uint8_t>(edges() * rows), rows};
    std::mt19937 random(7);
    for (std::uint8_t& edge : kept.edges) edge = random() % 2;
    return kept;
  }

  double reference_cut(std::span<const int> tokens, std::span<const int> cut, const KeptEdges& kept,
                       const Metric& metric) const {
    const auto there = reference_circuit_.run(cut);
    const auto carry = [&](int writer, int reader, std::size_t pos, const ReferenceCircuit::Row& written) {
      const std::size_t row = kept.rows == 1 ? 0 : pos;
      return kept.edges[row * edges() + graph_.edge(writer, reader)] != 0 ? written
                                                                          : there.written[writer][pos];
    };
    return reference_metric(reference_circuit_.run(tokens, carry).logits, tokens, metric);
  }

  double found_cut(std::span<const int> tokens, std::span<const int> cut, const KeptEdges& kept,
                   const Metric& metric) {
    const auto here = run(tokens), there = run(cut);
    return transformer_->cut_pass(*here, transformer_->stream_writes(*here, workspace_).embedding,
                                  transformer_->stream_writes(*there, workspace_), kept, metric, workspace_);
  }

  ReferenceCircuit reference_circuit_;
  StreamGraph graph_;
};

TEST_F(CircuitTest, NumbersEveryPartAndEveryEdgeBetweenAWriterAndALaterReader) {
  for (int i = 0; i < graph_.writer_count(); ++i) EXPECT_EQ(graph_.index(graph_.writer(i)), i);
  for (int i = 0; i < graph_.reader_count(); ++i) EXPECT_EQ(graph_.index(graph_.reader(i)), i);
  int next = 0;
  for (int reader = 0; reader < graph_.reader_count(); ++reader)
    for (int writer = 0; writer < graph_.sources(graph_.reader(reader)); ++writer, ++next) {
      EXPECT_EQ(graph_.edge(writer, reader), next);
      EXPECT_EQ(graph_.reader_of(next), reader);
      EXPECT_EQ(graph_.writer_of(next), writer);
    }
  EXPECT_EQ(graph_.edge_count(), next);
  EXPECT_EQ(StreamGraph(12, 12).edge_count(), 32491);  // as in the paper on edge attribution patching
  // Heads of one layer do not read each other; the layer's MLP reads them.
  EXPECT_EQ(graph_.sources({StreamReader::Kind::v, 1, 2}),
            graph_.index(StreamWriter{StreamWriter::Kind::head, 1, 0}));
  EXPECT_EQ(graph_.sources({StreamReader::Kind::mlp, 1, 0}),
            graph_.index(StreamWriter{StreamWriter::Kind::mlp, 1, 0}));
}

TEST_F(CircuitTest, WhatTheWritersWroteIsTheReferences) {
  const std::vector<int> tokens = tokens_of(9);
  const StreamWrites found = transformer_->stream_writes(*run(tokens), workspace_);
  const auto expected = reference_circuit_.run(tokens);
  const auto expect_rows = [&](const std::vector<float>& rows, const ReferenceCircuit::Rows& reference) {
    for (std::size_t pos = 0; pos < reference.size(); ++pos)
      for (std::size_t i = 0; i < kWidth; ++i)
        ASSERT_NEAR(static_cast<double>(rows[pos * kWidth + i]), reference[pos][i], 1e-5);
  };
  expect_rows(found.embedding, expected.written[0]);
  for (int layer = 0; layer < kLayers; ++layer) {
    expect_rows(found.z[layer], expected.z[layer]);
    expect_rows(found.mlp[layer],
                expected.written[graph_.index(StreamWriter{StreamWriter::Kind::mlp, layer, 0})]);
  }
}

TEST_F(CircuitTest, WithAllEdgesItIsTheRunAndWithNoneTheOtherRun) {
  const std::vector<int> tokens = tokens_of(70), cut = tokens_of(70, 3);
  const Metric metric = LogitDifference{5, 17, 69};
  const auto value_in = [&](std::span<const int> of) {
    return transformer_->gradients(*run(of), metric, workspace_);
  };
  const auto with = [&](std::uint8_t kept) {
    return found_cut(tokens, cut, {std::vector<std::uint8_t>(edges(), kept), 1}, metric);
  };
  EXPECT_NEAR(with(1), value_in(tokens), 1e-4);
  EXPECT_NEAR(with(0), value_in(cut), 1e-4);
  EXPECT_GT(std::abs(with(1) - with(0)), 0.01);
}

TEST_F(CircuitTest, CutEdgesCarryWhatTheOtherRunWrote) {
  const std::vector<int> tokens = tokens_of(11), cut = tokens_of(11, 3);
  for (const Metric& metric :
       {Metric(LogitDifference{5, 17, 10}), Metric(LogProbability{8, 4}), Metric(PromptLoss{})})
    for (const int rows : {1, 11}) {
      const KeptEdges kept = some_edges(rows);
      EXPECT_NEAR(found_cut(tokens, cut, kept, metric), reference_cut(tokens, cut, kept, metric), 1e-4);
    }
}

/// All edges of a short run, and some of one with more positions than are computed together.
TEST_F(CircuitTest, EstimatesAreTheDerivativesAlongEachEdge) {
  for (const int length : {6, 67}) {
    const std::vector<int> tokens = tokens_of(length), cut = tokens_of(length, 3);
    const auto there = run(cut), here = run(tokens);
    StreamWrites changes = transformer_->stream_writes(*there, workspace_);
    const StreamWrites writes = transformer_->stream_writes(*here, workspace_);
    const auto subtract = [](std::vector<float>& from, const std::vector<float>& what) {
      std::ranges::transform(from, what, from.begin(), std::minus<>());
    };
    subtract(changes.embedding, writes.embedding);
    for (int layer = 0; layer < kLayers; ++layer) {
      subtract(changes.z[layer], writes.z[layer]);
      subtract(changes.mlp[layer], writes.mlp[layer]);
    }
    const auto reference_here = reference_circuit_.run(tokens), reference_there = reference_circuit_.run(cut);
    for (const Metric& metric : {Metric(LogitDifference{5, 17, length - 1}), Metric(PromptLoss{})}) {
      std::vector<double> sums(edges()), by_position(edges() * length);
      const int columns = graph_.edge_count();
      transformer_->attribute_edges(*here, metric, changes, 1, {sums.data(), 1, columns, columns},
                                    workspace_);
      transformer_->attribute_edges(*here, metric, changes, 0.5,
                                    {by_position.data(), length, columns, columns}, workspace_);
      const double largest =
          std::abs(*std::ranges::max_element(sums, {}, [](double x) { return std::abs(x); }));
      const std::size_t step = length > 10 ? 29 : 1;
      for (std::size_t edge = 0; edge < edges(); edge += step) {
        double of_positions = 0;
        for (int pos = 0; pos < length; ++pos) of_positions += 2 * by_position[pos * edges() + edge];
        EXPECT_NEAR(of_positions, sums[edge], 1e-6 * largest);
        const int reader = graph_.reader_of(static_cast<int>(edge)),
                  writer = graph_.writer_of(static_cast<int>(edge));
        const auto metric_at = [&](double part, int position) {
          const auto carry = [&](int from, int to, std::size_t pos, const ReferenceCircuit::Row& written) {
            ReferenceCircuit::Row row = written;
            if (from != writer || to != reader || (position >= 0 && static_cast<int>(pos) != position))
              return row;
            for (std::size_t i = 0; i < row.size(); ++i)
              row[i] += part * (reference_there.written[from][pos][i] - reference_here.written[from][pos][i]);
            return row;
          };
          return reference_metric(reference_circuit_.run(tokens, carry).logits, tokens, metric);
        };
        constexpr double kStep = 1e-4;
        const auto slope = [&](int position) {
          return (metric_at(kStep, position) - metric_at(-kStep, position)) / (2 * kStep);
        };
        EXPECT_NEAR(sums[edge], slope(-1), 1e-4 * largest) << "edge " << edge;
        const int position = length - 2;  // of the long run, in the second block of positions
        EXPECT_NEAR(2 * by_position[position * edges() + edge], slope(position), 1e-4 * largest)
            << "edge " << edge;
      }
    }
  }
}

/// Heads whose columns of c_attn begin within panels of weights and reach over their ends.
TEST(WideCircuit, IsTheReferences) {
  const testing::TemporaryFolder folder;
  const testing::Gpt2Shape shape{.layers = 2, .heads = 3, .width = 144, .positions = 16, .vocabulary = 90};
  write_gpt2(folder, gpt2_config(shape, R"(,"scale_attn_by_inverse_layer_idx":true)"), gpt2_tensors(shape));
  const auto transformer = Transformer::load(folder.path());
  const ReferenceCircuit reference(folder.path());
  const StreamGraph& graph = reference.graph();
  Workspace workspace(2);
  const std::vector<int> tokens = tokens_of(5), cut = tokens_of(5, 3);
  const auto here = transformer->forward(tokens, workspace), there = transformer->forward(cut, workspace);
  StreamWrites changes = transformer->stream_writes(*there, workspace);
  const StreamWrites own = transformer->stream_writes(*here, workspace);
  const Metric metric = LogitDifference{5, 17, 4};
  const auto reference_here = reference.run(tokens), reference_there = reference.run(cut);

  KeptEdges kept{std::vector<std::uint8_t>(graph.edge_count()), 1};
  std::mt19937 random(5);
  for (std::uint8_t& edge : kept.edges) edge = random() % 2;
  const auto carry = [&](int writer, int reader, std::size_t pos, const ReferenceCircuit::Row& written) {
    return kept.edges[graph.edge(writer, reader)] != 0 ? written : reference_there.written[writer][pos];
  };
  const double expected = reference_metric(reference.run(tokens, carry).logits, tokens, metric);
  EXPECT_NEAR(transformer->cut_pass(*here, own.embedding, changes, kept, metric, workspace), expected,
              1e-4 * std::max(1.0, std::abs(expected)));

  const auto subtract = [](std::vector<float>& from, const std::vector<float>& what) {
    std::ranges::transform(from, what, from.begin(), std::minus<>());
  };
  subtract(changes.embedding, own.embedding);
  for (int layer = 0; layer < shape.layers; ++layer) {
    subtract(changes.z[layer], own.z[layer]);
    subtract(changes.mlp[layer], own.mlp[layer]);
  }
  std::vector<double> sums(graph.edge_count());
  transformer->attribute_edges(*here, metric, changes, 1,
                               {sums.data(), 1, graph.edge_count(), graph.edge_count()}, workspace);
  const double largest = std::abs(*std::ranges::max_element(sums, {}, [](double x) { return std::abs(x); }));
  for (int edge = 0; edge < graph.edge_count(); edge += 3) {
    const int reader = graph.reader_of(edge), writer = graph.writer_of(edge);
    const auto metric_at = [&](double part) {
      const auto moved = [&](int from, int to, std::size_t pos, const ReferenceCircuit::Row& written) {
        ReferenceCircuit::Row row = written;
        if (from == writer && to == reader)
          for (std::size_t i = 0; i < row.size(); ++i)
            row[i] += part * (reference_there.written[from][pos][i] - reference_here.written[from][pos][i]);
        return row;
      };
      return reference_metric(reference.run(tokens, moved).logits, tokens, metric);
    };
    EXPECT_NEAR(sums[edge], (metric_at(1e-4) - metric_at(-1e-4)) / 2e-4, 1e-4 * largest) << "edge " << edge;
  }
}

TEST_F(CircuitTest, TheNumberOfThreadsChangesNoBit) {
  const std::vector<int> tokens = tokens_of(66), cut = tokens_of(66, 3);
  const Metric metric = LogitDifference{5, 17, 65};
  const auto here = run(tokens), there = run(cut);
  std::vector<std::vector<double>> sums;
  std::vector<double> values;
  for (const int threads : {1, 2, 3}) {
    Workspace workspace(threads);
    const StreamWrites writes = transformer_->stream_writes(*there, workspace);
    std::vector<double>& found = sums.emplace_back(edges());
    const int columns = graph_.edge_count();
    transformer_->attribute_edges(*here, metric, writes, 1, {found.data(), 1, columns, columns}, workspace);
    values.push_back(transformer_->cut_pass(*here, transformer_->stream_writes(*here, workspace).embedding,
                                            writes, some_edges(1), metric, workspace));
  }
  EXPECT_EQ(sums[1], sums[0]);
  EXPECT_EQ(sums[2], sums[0]);
  EXPECT_EQ(values[1], values[0]);
  EXPECT_EQ(values[2], values[0]);
}

TEST_F(CircuitTest, RefusesEditedRunsAndStops) {
  const std::vector<int> tokens = tokens_of(5);
  const auto edited = run(tokens, {SetValues{{{Site::z, 0}, 0, {}, {}}, {0}}});
  const auto plain = run(tokens);
  const StreamWrites writes = transformer_->stream_writes(*plain, workspace_);
  std::vector<double> sums(edges());
  const int columns = graph_.edge_count();
  const Rows<double> out{sums.data(), 1, columns, columns};
  const Metric metric = TokenLogit{3, 4};
  EXPECT_THROW(transformer_->attribute_edges(*edited, metric, writes, 1, out, workspace_), RunError);
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_THROW(transformer_->attribute_edges(*plain, metric, writes, 1, out, workspace_, stopped.get_token()),
               Stopped);
  EXPECT_THROW(transformer_->cut_pass(*plain, writes.embedding, writes, some_edges(1), metric, workspace_,
                                      stopped.get_token()),
               Stopped);
}

}  // namespace
}  // namespace headscope::model::circuit_test
