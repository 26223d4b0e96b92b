// The residual stream as a graph: what edges carry, by first-order estimates and with edges cut, against a
// pass in double precision in which every part of the model reads a stream of its own.

#include "model/files/error.h"
#include "tests/model/gradients_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/reference_circuit.h"

namespace headscope::model::circuit_test {
namespace {

using Tokens = std::vector<int>;

/// A model and its reference.
class Circuits {
 public:
  Circuits(std::shared_ptr<const Transformer> of, const std::filesystem::path& folder)
      : transformer(std::move(of)), reference(folder), graph(reference.graph()) {}

  std::size_t edges() const { return static_cast<std::size_t>(graph.edge_count()); }

  /// Kept with probability 1/2.
  KeptEdges some_edges(int rows) const {
    KeptEdges kept{std::vector<std::uint8_t>(edges() * rows), rows};
    std::mt19937 random(7);
    for (std::uint8_t& edge : kept.edges) edge = random() % 2;
    return kept;
  }

  double reference_cut(const Tokens& tokens, const Tokens& cut, const KeptEdges& kept,
                       const Metric& metric) const {
    const auto there = reference.run(cut);
    const auto carry = [&](int writer, int reader, std::size_t pos, const ReferenceCircuit::Row& written) {
      const std::size_t row = kept.rows == 1 ? 0 : pos;
      return kept.edges[row * edges() + graph.edge(writer, reader)] != 0 ? written
                                                                         : there.written[writer][pos];
    };
    return testing::metric_by_hand(metric, reference.run(tokens, carry).logits, tokens);
  }

  double found_cut(const Tokens& tokens, const Tokens& cut, const KeptEdges& kept, const Metric& metric) {
    const auto here = transformer->forward(tokens, workspace), there = transformer->forward(cut, workspace);
    return transformer->cut_pass(*here, transformer->stream_writes(*here, workspace).embedding,
                                 transformer->stream_writes(*there, workspace), kept, metric, workspace);
  }

  /// Every `step`-th edge.
  void expect_estimates(const Tokens& tokens, const Tokens& cut, const Metric& metric, std::size_t step) {
    const auto here = transformer->forward(tokens, workspace), there = transformer->forward(cut, workspace);
    StreamWrites changes = transformer->stream_writes(*there, workspace);
    const StreamWrites writes = transformer->stream_writes(*here, workspace);
    const auto subtract = [](std::vector<float>& from, const std::vector<float>& what) {
      std::ranges::transform(from, what, from.begin(), std::minus<>());
    };
    subtract(changes.embedding, writes.embedding);
    for (std::size_t layer = 0; layer < writes.mlp.size(); ++layer) {
      subtract(changes.z[layer], writes.z[layer]);
      subtract(changes.mlp[layer], writes.mlp[layer]);
    }
    const auto reference_here = reference.run(tokens), reference_there = reference.run(cut);
    const int length = static_cast<int>(tokens.size()), columns = graph.edge_count();
    std::vector<double> sums(edges()), by_position(edges() * length);
    transformer->attribute_edges(*here, metric, changes, 1, {sums.data(), 1, columns, columns}, workspace);
    transformer->attribute_edges(*here, metric, changes, 0.5, {by_position.data(), length, columns, columns},
                                 workspace);
    const double largest =
        std::abs(*std::ranges::max_element(sums, {}, [](double x) { return std::abs(x); }));
    for (std::size_t edge = 0; edge < edges(); edge += step) {
      SCOPED_TRACE(edge);
      double of_positions = 0;
      for (int pos = 0; pos < length; ++pos) of_positions += 2 * by_position[pos * edges() + edge];
      EXPECT_NEAR(of_positions, sums[edge], 1e-6 * largest);
      const int reader = graph.reader_of(static_cast<int>(edge)),
                writer = graph.writer_of(static_cast<int>(edge));
      const auto metric_at = [&](double part, int position) {
        const auto carry = [&](int from, int to, std::size_t pos, const ReferenceCircuit::Row& written) {
          ReferenceCircuit::Row row = written;
          if (from != writer || to != reader || (position >= 0 && static_cast<int>(pos) != position))
            return row;
          for (std::size_t i = 0; i < row.size(); ++i)
            row[i] += part * (reference_there.written[from][pos][i] - reference_here.written[from][pos][i]);
          return row;
        };
        return testing::metric_by_hand(metric, reference.run(tokens, carry).logits, tokens);
      };
      constexpr double kStep = 1e-4;
      const auto slope = [&](int position) {
        return (metric_at(kStep, position) - metric_at(-kStep, position)) / (2 * kStep);
      };
      EXPECT_NEAR(sums[edge], slope(-1), 1e-4 * largest);
      const int position = length - 2;  // of a long run, in the second block of positions
      EXPECT_NEAR(2 * by_position[position * edges() + edge], slope(position), 1e-4 * largest);
    }
  }

  std::shared_ptr<const Transformer> transformer;
  ReferenceCircuit reference;
  StreamGraph graph;
  Workspace workspace{2};
};

class CircuitTest : public GradientsFixture {
 protected:
  Circuits of_{transformer_, folder_->path()};
  const StreamGraph& graph_ = of_.graph;
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

TEST_F(CircuitTest, CutEdgesCarryWhatTheOtherRunWrote) {
  for (const int length : {11, 70}) {
    const std::vector<int> tokens = tokens_of(length), cut = tokens_of(length, 3);
    for (const Metric& metric :
         {Metric(LogitDifference{5, 17, 10}), Metric(LogProbability{8, 4}), Metric(PromptLoss{})})
      for (const int rows : {1, length}) {
        const KeptEdges kept = of_.some_edges(rows);
        EXPECT_NEAR(of_.found_cut(tokens, cut, kept, metric), of_.reference_cut(tokens, cut, kept, metric),
                    1e-4);
      }
  }
}

/// All edges of a short run, and some of one with more positions than are computed together.
TEST_F(CircuitTest, EstimatesAreTheDerivativesAlongEachEdge) {
  for (const int length : {6, 67})
    for (const Metric& metric : {Metric(LogitDifference{5, 17, length - 1}), Metric(PromptLoss{})})
      of_.expect_estimates(tokens_of(length), tokens_of(length, 3), metric, length > 10 ? 29 : 1);
}

/// Heads whose columns of c_attn begin within panels of weights and reach over their ends.
TEST(WideCircuit, IsTheReferences) {
  const testing::TemporaryFolder folder;
  const testing::Gpt2Shape shape{.layers = 2, .heads = 3, .width = 144, .positions = 16, .vocabulary = 90};
  write_gpt2(folder, gpt2_config(shape, R"(,"scale_attn_by_inverse_layer_idx":true)"), gpt2_tensors(shape));
  Circuits of(Transformer::load(folder.path()), folder.path());
  const Tokens tokens = tokens_of(5), cut = tokens_of(5, 3);
  const Metric metric = LogitDifference{5, 17, 4};
  const KeptEdges kept = of.some_edges(1);
  const double expected = of.reference_cut(tokens, cut, kept, metric);
  EXPECT_NEAR(of.found_cut(tokens, cut, kept, metric), expected, 1e-4 * std::max(1.0, std::abs(expected)));
  of.expect_estimates(tokens, cut, metric, 3);
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
    std::vector<double>& found = sums.emplace_back(of_.edges());
    const int columns = graph_.edge_count();
    transformer_->attribute_edges(*here, metric, writes, 1, {found.data(), 1, columns, columns}, workspace);
    values.push_back(transformer_->cut_pass(*here, transformer_->stream_writes(*here, workspace).embedding,
                                            writes, of_.some_edges(1), metric, workspace));
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
  std::vector<double> sums(of_.edges());
  const int columns = graph_.edge_count();
  const Rows<double> out{sums.data(), 1, columns, columns};
  const Metric metric = TokenLogit{3, 4};
  EXPECT_THROW(transformer_->attribute_edges(*edited, metric, writes, 1, out, workspace_), RunError);
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_THROW(transformer_->attribute_edges(*plain, metric, writes, 1, out, workspace_, stopped.get_token()),
               Stopped);
  EXPECT_THROW(transformer_->cut_pass(*plain, writes.embedding, writes, of_.some_edges(1), metric, workspace_,
                                      stopped.get_token()),
               Stopped);
}

}  // namespace
}  // namespace headscope::model::circuit_test
