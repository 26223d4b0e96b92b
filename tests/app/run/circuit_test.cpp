// Circuits compared with passes in double precision in which every part of the model reads a stream of its
// own.
#include "app/run/analyses/circuit.h"

#include <cmath>
#include <functional>
#include <numeric>

#include "model/files/error.h"
#include "tests/app/run/run_of_model.h"
#include "tests/app/view_fixture.h"
#include "tests/model/gradients_fixture.h"
#include "tests/support/reference_circuit.h"
#include "tests/support/sentences.h"
#include "tests/support/textbook.h"

namespace headscope::app::circuit_test {
namespace {

using model::kHeads;
using model::kLayers;
using model::kWidth;
using model::StreamGraph;
using model::StreamReader;
using model::StreamWriter;
using model::tokens_of;
using testing::ReferenceCircuit;
using testing::ReferenceGpt2;
using Row = ReferenceCircuit::Row;

constexpr int kLength = 6, kToken = 7, kAgainst = 60;

double size_of(const Row& row) {
  return std::accumulate(row.begin(), row.end(), 0.0, [](double sum, double x) { return sum + std::abs(x); });
}
Row minus(Row a, const Row& b) {
  std::ranges::transform(a, b, a.begin(), std::minus<>());
  return a;
}

class CircuitTest : public model::GradientsFixture {
 protected:
  CircuitTest() : reference_circuit_(folder_->path()), graph_(reference_circuit_.graph()) {}

  std::shared_ptr<const PromptRun> prompt_run(const std::vector<int>& ids, const model::Edits& edits = {}) {
    PromptRun made = run_of_model(transformer_, run(ids, edits));
    made.model = model_ = model_ ? model_ : made.model;
    made.prompt.ids = ids;
    made.prompt.edits = edits;
    return std::make_shared<const PromptRun>(std::move(made));
  }
  /// A run compared with a second prompt of as many tokens.
  PromptRun compared() {
    PromptRun made = *prompt_run(tokens_of(kLength));
    made.baseline = prompt_run(tokens_of(kLength, 3));
    made.aligned.resize(kLength);
    std::iota(made.aligned.begin(), made.aligned.end(), 0);
    return made;
  }
  static CircuitOf question(CircuitMethod method, CircuitCut cut = CircuitCut::second) {
    CircuitOf question;
    question.measured = difference_at(-1, TokenRef::of(kToken), TokenRef::of(kAgainst));
    question.method = method;
    question.cut.cut = cut;
    return question;
  }
  Circuit find(const CircuitOf& question, const PromptRun& of) { return question.compute(of, {workspace_}); }
  std::vector<float> scores(const CircuitOf& question, const PromptRun& of) {
    const Circuit circuit = find(question, of);
    std::vector<float> all(circuit.edge_count());
    for (const RankedEdge& ranked : circuit.ranked) all[ranked.place] = ranked.score;
    return all;
  }
  double kept(const CutMetricOf& question, const PromptRun& of) { return question.compute(of, {workspace_}); }

  static double metric_of(const ReferenceCircuit::Result& result) {
    return result.logits.back()[kToken] - result.logits.back()[kAgainst];
  }
  /// What the reference's edges carry that are cut.
  std::vector<ReferenceCircuit::Rows> cut_rows(CircuitCut cut) const {
    const auto own = reference_circuit_.run(tokens_of(kLength)).written;
    if (cut == CircuitCut::second) return reference_circuit_.run(tokens_of(kLength, 3)).written;
    std::vector<ReferenceCircuit::Rows> rows = own;
    for (ReferenceCircuit::Rows& of : rows) {
      Row mean(kWidth);
      for (const Row& row : of)
        for (std::size_t i = 0; i < kWidth; ++i) mean[i] += row[i] / kLength;
      for (Row& row : of) row = cut == CircuitCut::mean ? mean : Row(kWidth);
    }
    return rows;
  }

  ReferenceCircuit reference_circuit_;
  StreamGraph graph_;
  std::shared_ptr<const LoadedModel> model_;
};

TEST_F(CircuitTest, ScoresAreTheMeanDerivativesOnTheWayBetweenTheEmbeddings) {
  const PromptRun run = compared();
  const std::vector<int> tokens = tokens_of(kLength);
  const auto here = reference_circuit_.run(tokens).written;
  for (const CircuitCut cut : {CircuitCut::second, CircuitCut::mean}) {
    const auto there = cut_rows(cut);
    for (const auto& [method, steps] :
         {std::pair(CircuitMethod::attribution, 1), {CircuitMethod::integrated, 3}}) {
      CircuitOf of = question(method, cut);
      of.steps = 3;
      const std::vector<float> found = scores(of, run);
      ASSERT_EQ(std::ssize(found), graph_.edge_count());
      std::vector<double> expected(found.size());
      for (int edge = 0; edge < graph_.edge_count(); ++edge) {
        const int reader = graph_.reader_of(edge), writer = graph_.writer_of(edge);
        for (int step = 0; step < steps; ++step) {
          const double part = static_cast<double>(step) / steps;
          const auto at = [&](double more) {
            return metric_of(
                reference_circuit_.run(tokens, [&](int from, int to, std::size_t pos, const Row& written) {
                  Row row = written;
                  const Row change = minus(there[from][pos], here[from][pos]);
                  for (std::size_t i = 0; i < row.size(); ++i) {
                    if (from == 0) row[i] += part * change[i];
                    if (from == writer && to == reader) row[i] += more * change[i];
                  }
                  return row;
                }));
          };
          constexpr double kStep = 1e-4;
          expected[edge] -= (at(kStep) - at(-kStep)) / (2 * kStep) / steps;
        }
      }
      const double largest =
          std::abs(*std::ranges::max_element(expected, {}, [](double x) { return std::abs(x); }));
      for (std::size_t edge = 0; edge < expected.size(); ++edge)
        EXPECT_NEAR(static_cast<double>(found[edge]), expected[edge], 1e-4 * largest) << "edge " << edge;
      const Circuit circuit = find(of, run);
      for (const RankedEdge& ranked : circuit.ranked) {
        EXPECT_EQ(ranked.score, found[ranked.place]);
        EXPECT_EQ(circuit.score(ranked.place), found[ranked.place]);
      }
      of.by_position = true;
      const std::vector<float> positions = scores(of, run);
      ASSERT_EQ(positions.size(), kLength * found.size());
      for (std::size_t edge = 0; edge < expected.size(); ++edge) {
        double sum = 0;
        for (std::size_t row = 0; row < kLength; ++row)
          sum += static_cast<double>(positions[row * expected.size() + edge]);
        EXPECT_NEAR(sum, expected[edge], 1e-4 * largest);
      }
    }
  }
}

TEST_F(CircuitTest, TheMetricOfSomeEdgesIsThatOfAPassWithTheOthersCut) {
  const PromptRun run = compared();
  for (const CircuitCut cut : {CircuitCut::second, CircuitCut::mean, CircuitCut::zero}) {
    const auto there = cut_rows(cut);
    const Circuit circuit = find(question(CircuitMethod::integrated, cut), run);
    const auto reference = [&](const std::function<bool(int edge)>& is_kept) {
      return metric_of(reference_circuit_.run(
          tokens_of(kLength), [&](int writer, int reader, std::size_t pos, const Row& written) {
            return is_kept(graph_.edge(writer, reader)) ? written : there[writer][pos];
          }));
    };
    EXPECT_NEAR(circuit.value, reference([](int) { return true; }), 1e-4);
    EXPECT_NEAR(circuit.cut_value, reference([](int) { return false; }), 1e-4);
    CutMetricOf some{circuit.measured, {cut}, 1, strongest_edges(circuit, 40), false};
    ASSERT_GT(some.edges.size(), 10U);
    const auto listed = [&](int edge) { return std::ranges::binary_search(some.edges, edge); };
    EXPECT_NEAR(kept(some, run), reference(listed), 1e-4);
    EXPECT_NEAR(faithfulness(circuit, kept(some, run)),
                (reference(listed) - circuit.cut_value) / (circuit.value - circuit.cut_value), 1e-3);
    some.all_others = true;
    EXPECT_NEAR(kept(some, run), reference([&](int edge) { return !listed(edge); }), 1e-4);
    some.edges = {graph_.edge_count() - 1};
    EXPECT_NEAR(kept(some, run), reference([&](int edge) { return !listed(edge); }), 1e-4);
  }
}

TEST_F(CircuitTest, PositionsWithoutACounterpartKeepWhatTheyHave) {
  PromptRun run = compared();
  const auto here = reference_circuit_.run(tokens_of(kLength)).written;
  const CircuitOf of = question(CircuitMethod::attribution);
  for (const auto& [length, aligned] : {std::pair(kLength - 2, std::vector{-1, 0, 1, 2, 3, -1}),
                                        {kLength - 2, std::vector{0, 1, 2, 3, -1, -1}},
                                        {kLength + 2, std::vector{0, 1, 2, 3, 4, 5}}}) {
    run.baseline = prompt_run(tokens_of(length, 3));
    run.aligned = aligned;
    const auto there = reference_circuit_.run(tokens_of(length, 3)).written;
    EXPECT_EQ(of.cut.uncut_positions(run), std::ranges::count(aligned, -1));
    EXPECT_NEAR(find(of, run).cut_value,
                metric_of(reference_circuit_.run(tokens_of(kLength),
                                                 [&](int writer, int, std::size_t pos, const Row&) {
                                                   const int counterpart = run.aligned[pos];
                                                   return counterpart < 0 ? here[writer][pos]
                                                                          : there[writer][counterpart];
                                                 })),
                1e-4);
  }
  run.baseline = prompt_run(tokens_of(kLength, 3));
  run.aligned = std::vector<int>(kLength, -1);
  EXPECT_EQ(of.cut.problem(run), "no token of the prompt has a counterpart in the second prompt");
}

/// Information flow routes, from the paper's formulas, in double precision.
std::vector<double> reference_flow(const std::filesystem::path& folder, const StreamGraph& graph,
                                   const std::vector<ReferenceCircuit::Rows>& written,
                                   std::span<const int> tokens) {
  const ReferenceGpt2 model(folder);
  const auto run = model.run(tokens);
  const auto proximity = [](const Row& part, const Row& sum) {
    return std::max(0.0, size_of(sum) - size_of(minus(part, sum)));
  };
  const auto edges = static_cast<std::size_t>(graph.edge_count());
  std::vector<double> scores(edges * tokens.size());
  std::vector<std::vector<double>> arrived(graph.writer_count(), std::vector<double>(tokens.size()));
  const auto divide = [&](StreamReader reader, std::size_t pos, const Row& sum, double share) {
    std::vector<double> near;
    for (int writer = 0; writer < graph.sources(reader); ++writer)
      near.push_back(proximity(written[writer][pos], sum));
    const double all = std::accumulate(near.begin(), near.end(), 0.0);
    for (int writer = 0; writer < graph.sources(reader) && all > 0; ++writer) {
      scores[pos * edges + graph.edge(writer, graph.index(reader))] += share * near[writer] / all;
      arrived[writer][pos] += share * near[writer] / all;
    }
  };
  const std::size_t last = tokens.size() - 1;
  divide({}, last, run.blocks.back().resid_post[last], 1);
  for (int layer = kLayers - 1; layer >= 0; --layer) {
    const int mlp = graph.index(StreamWriter{StreamWriter::Kind::mlp, layer, 0});
    for (std::size_t pos = 0; pos <= last; ++pos)
      divide({StreamReader::Kind::mlp, layer, 0}, pos, run.blocks[layer].resid_mid[pos], arrived[mlp][pos]);
    for (int head = 0; head < kHeads; ++head) {
      const auto& of = run.heads[layer][head];
      const int writer = graph.index(StreamWriter{StreamWriter::Kind::head, layer, head});
      std::vector<double> to(tokens.size());
      for (std::size_t query = 0; query <= last; ++query) {
        std::vector<Row> parts;
        Row sum(kWidth);
        for (std::size_t key = 0; key <= query; ++key) {
          Row value = of.v[key];
          for (double& x : value) x *= of.weights[query][key];
          const Row& part = parts.emplace_back(head_output(model, layer, head, value));
          for (std::size_t j = 0; j < kWidth; ++j) sum[j] += part[j];
        }
        double all = 0;
        for (const Row& part : parts) all += proximity(part, sum);
        for (std::size_t key = 0; key <= query && all > 0; ++key)
          to[key] += arrived[writer][query] * proximity(parts[key], sum) / all;
      }
      for (std::size_t key = 0; key <= last; ++key)
        divide({StreamReader::Kind::v, layer, head}, key, run.blocks[layer].resid_pre[key], to[key]);
    }
  }
  return scores;
}

TEST_F(CircuitTest, FlowDividesWhatArrivesAtTheLogitsByProximity) {
  const PromptRun run = compared();
  const std::vector<int> tokens = tokens_of(kLength);
  CircuitOf of = question(CircuitMethod::flow);
  of.by_position = true;
  const std::vector<float> positions = scores(of, run);
  of.by_position = false;
  const std::vector<float> together = scores(of, run);
  const auto expected =
      reference_flow(folder_->path(), graph_, reference_circuit_.run(tokens).written, tokens);
  const auto edges = static_cast<std::size_t>(graph_.edge_count());
  ASSERT_EQ(positions.size(), expected.size());
  double to_logits = 0;
  for (std::size_t edge = 0; edge < edges; ++edge) {
    double sum = 0;
    for (std::size_t row = 0; row < kLength; ++row) {
      EXPECT_NEAR(static_cast<double>(positions[row * edges + edge]), expected[row * edges + edge], 1e-5);
      sum += expected[row * edges + edge];
    }
    EXPECT_NEAR(static_cast<double>(together[edge]), sum, 1e-5);
    if (graph_.reader_of(static_cast<int>(edge)) == graph_.reader_count() - 1) to_logits += sum;
  }
  EXPECT_NEAR(to_logits, 1, 1e-5);
}

/// A circuit of one layer with one head, with these scores.
Circuit small_circuit(int rows, const std::vector<std::pair<int, float>>& scores) {
  Circuit circuit;
  circuit.graph = StreamGraph(1, 1);
  circuit.rows = rows;
  std::vector<float> all(circuit.edge_count());
  for (const auto& [place, score] : scores) all[place] = score;
  rank_edges(circuit, all);
  return circuit;
}

TEST(StrongestEdges, KeepsThoseOnAWayFromTheEmbeddingsToTheLogits) {
  // Edges: 0-2: embedding to q, k, v; 3, 4: embedding, head to the MLP; 5-7: embedding, head, MLP to the
  // logits.
  const Circuit all = small_circuit(1, {{0, 1}, {1, 2}, {2, -3}, {3, 4}, {4, 5}, {5, -6}, {6, 7}, {7, 8}});
  EXPECT_EQ(strongest_edges(all, 8), (EdgeList{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(strongest_edges(all, 2), EdgeList{5})
      << "stronger ones go to the head and the MLP, where nothing arrives";
  EXPECT_EQ(strongest_edges(all, 3), (EdgeList{3, 5, 7}));
  EXPECT_EQ(strongest_edges(all, 5), (EdgeList{3, 5, 7})) << "the next would bring three";
  EXPECT_EQ(strongest_edges(all, 6), (EdgeList{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(strongest_edges(small_circuit(1, {{2, 1}, {6, 3}}), 1), (EdgeList{2, 6})) << "the shortest path";
  EXPECT_EQ(strongest_edges(all, 100), (EdgeList{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(strongest_edges(small_circuit(1, {{2, 1}, {4, 1}}), 8), EdgeList{}) << "the MLP leads nowhere";
  EXPECT_EQ(strongest_edges(small_circuit(1, {}), 8), EdgeList{}) << "edges of 0 are no circuit";
  EXPECT_EQ(strongest_edges(small_circuit(1, {{5, NAN}, {7, 1}, {3, 1}}), 8), (EdgeList{3, 7}));
}

TEST(StrongestEdges, AHeadLeadsFromAKeyToLaterQueries) {
  constexpr int kEdges = 8;
  // Values read at position 1 arrive where the head writes at position 2, but not at position 0.
  EXPECT_EQ(strongest_edges(small_circuit(3, {{kEdges + 2, 1}, {2 * kEdges + 6, 1}}), 9),
            (EdgeList{kEdges + 2, 2 * kEdges + 6}));
  EXPECT_EQ(strongest_edges(small_circuit(3, {{kEdges + 2, 1}, {6, 1}}), 9), EdgeList{});
  // A query is read where the head writes.
  EXPECT_EQ(strongest_edges(small_circuit(3, {{kEdges, 1}, {2 * kEdges + 6, 1}}), 9), EdgeList{});
  EXPECT_EQ(strongest_edges(small_circuit(3, {{kEdges, 1}, {kEdges + 6, 1}}), 9),
            (EdgeList{kEdges, kEdges + 6}));
}

/// Of a model with as many layers and heads as GPT-2 XL, whose edges by position could not be counted in an
/// int.
TEST(LargeCircuit, IsRefusedInOneSentence) {
  const testing::TemporaryFolder folder;
  const testing::Gpt2Shape shape{.layers = 48, .heads = 25, .width = 50, .positions = 64, .vocabulary = 90};
  write_gpt2(folder, gpt2_config(shape), gpt2_tensors(shape));
  const auto transformer = model::Transformer::load(folder.path());
  model::Workspace workspace(2);
  const PromptRun run = run_of_model(transformer, transformer->forward(std::vector<int>(64, 3), workspace));
  CircuitOf of;
  of.cut.cut = CircuitCut::zero;
  of.by_position = true;
  of.method = CircuitMethod::flow;
  const std::string words =
      testing::message_of<model::RunError>([&] { static_cast<void>(of.compute(run, {workspace})); });
  EXPECT_THAT(words, ::testing::HasSubstr("143,041,600 edges"));
  EXPECT_TRUE(testing::is_sentence(words)) << words;
}

TEST_F(CircuitTest, RefusesWhatHasNoCircuit) {
  const auto refused = [&](const CircuitOf& of, const PromptRun& run) {
    return testing::message_of<model::RunError>([&] { find(of, run); });
  };
  const PromptRun alone = *prompt_run(tokens_of(kLength));
  EXPECT_EQ(refused(question(CircuitMethod::integrated), alone),
            "edges are cut to a second prompt that differs from the first, but there is none");
  const PromptRun edited =
      *prompt_run(tokens_of(kLength), {model::SetValues{{{model::Site::z, 0}, 0, {}, {}}, {0}}});
  for (const CircuitMethod method : {CircuitMethod::integrated, CircuitMethod::flow})
    EXPECT_EQ(refused(question(method, CircuitCut::mean), edited),
              "only runs without edits have a circuit; turn the edits off");
  CircuitOf loss = question(CircuitMethod::attribution, CircuitCut::zero);
  loss.measured = {Metric::loss};
  EXPECT_TRUE(testing::is_sentence(refused(loss, *prompt_run({3}))));
  CircuitOf beyond = question(CircuitMethod::flow, CircuitCut::zero);
  beyond.measured.position = kLength;
  EXPECT_TRUE(testing::is_sentence(refused(beyond, alone)));
}

}  // namespace
}  // namespace headscope::app::circuit_test
