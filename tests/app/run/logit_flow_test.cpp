// The flow to a logit: every edge, source and place of the stream against a pass in double precision that
// carries vectors forward, where the analysis carries a direction back.
#include "app/run/analyses/logit_flow.h"

#include <numeric>

#include "app/run/analyses/predictions.h"
#include "model/files/error.h"
#include "model/pass/statistics.h"
#include "tests/app/run/frozen_pass.h"
#include "tests/app/run/run_of_model.h"
#include "tests/model/every_edit.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::logit_flow_test {
namespace {

using Vector = std::vector<double>;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// At each place what comes in equals what goes out, and the sources add up to the logit: to within 1e-5 of
/// the sum of what is added up.
void expect_conserved(const LogitFlow& f, int n_layer) {
  double magnitude = std::abs(f.logit);
  for (const auto* sources : {&f.stream, &f.token_embedding, &f.position_embedding, &f.mlps})
    for (const double v : *sources) magnitude = std::max(magnitude, std::abs(v));
  const double slack = 1e-5 * std::max(1.0, magnitude);
  ASSERT_EQ(f.layers, n_layer);
  for (int pos = 0; pos < f.positions; ++pos) {
    EXPECT_NEAR(f.stream[at(pos)],
                f.token_embedding[at(pos)] + f.position_embedding[at(pos)] + f.input_edits[at(pos)], slack)
        << "position " << pos;
    for (int layer = 0; layer < f.layers; ++layer) {
      SCOPED_TRACE("layer " + std::to_string(layer) + ", position " + std::to_string(pos));
      const std::size_t i = f.at(layer, pos), above = f.at(layer + 1, pos);
      EXPECT_NEAR(f.stream[i] + f.key_biases[i] + f.key_edits[i], f.past[i] + f.sent[i], slack);
      EXPECT_NEAR(f.past[i] + f.arrived[i] + f.query_biases[i] + f.query_edits[i] + f.mlps[i] +
                      (layer + 1 < f.layers ? f.input_edits[above] : 0),
                  f.stream[above], slack);
    }
  }
  double end = 0;
  for (int pos = 0; pos < f.positions; ++pos) {
    end += f.stream[f.at(f.layers, pos)];
    EXPECT_TRUE(pos == f.measured.position || f.stream[f.at(f.layers, pos)] == 0) << pos;
  }
  EXPECT_NEAR(end + f.final_bias + f.final_edits, f.logit, slack);
  EXPECT_NEAR(f.sum(), f.logit, slack);
}

/// The edges that are listed add up to what each place sends and receives.
void expect_edges_add_up(const LogitFlow& f) {
  ASSERT_EQ(std::ssize(f.edges), f.edge_count) << "the test is for flows with all edges";
  Vector sent(f.sent.size()), arrived(f.arrived.size());
  double magnitude = 0;
  for (const FlowEdge& edge : f.edges) {
    sent[f.at(edge.layer, edge.key)] += edge.value;
    arrived[f.at(edge.layer, edge.query)] += edge.value;
    magnitude += std::abs(edge.value);
  }
  EXPECT_NEAR(magnitude, f.edge_magnitude, 1e-9 * magnitude);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_NEAR(sent[i], f.sent[i], 1e-9 * std::max(1.0, magnitude));
    EXPECT_NEAR(arrived[i], f.arrived[i], 1e-9 * std::max(1.0, magnitude));
  }
  EXPECT_TRUE(std::ranges::is_sorted(f.edges, std::ranges::greater(),
                                     [](const FlowEdge& edge) { return std::abs(edge.value); }));
}

void expect_reference(const LogitFlow& f, const FrozenPass& pass, std::span<const int> tokens) {
  const auto reach = [&](const Vector& vector, int layer, int position) {
    return pass.reach(vector, layer, position, f.measured.position, f.measured.token.id(),
                      f.measured.other.id());
  };
  const double logit = pass.logit(f.measured.position, f.measured.token.id(), f.measured.other.id());
  // The analysis reads float32 activations.
  const double slack = 1e-4 * std::max(1.0, std::abs(logit));
  EXPECT_NEAR(f.logit, logit, slack);
  EXPECT_NEAR(f.sum(), logit, 1e-5 * std::max(1.0, std::abs(logit)));
  EXPECT_NEAR(f.final_bias, pass.final_bias(f.measured.token.id(), f.measured.other.id()), slack);
  ASSERT_EQ(f.positions, f.measured.position + 1);
  for (int pos = 0; pos < f.positions; ++pos) {
    EXPECT_NEAR(f.token_embedding[at(pos)], reach(pass.row("wte.weight", tokens[at(pos)]), 0, pos), slack);
    EXPECT_NEAR(f.position_embedding[at(pos)], reach(pass.row("wpe.weight", pos), 0, pos), slack);
    for (int layer = 0; layer < f.layers; ++layer) {
      SCOPED_TRACE("layer " + std::to_string(layer) + ", position " + std::to_string(pos));
      const ReferenceGpt2::Block& block = pass.result().blocks[at(layer)];
      const std::size_t i = f.at(layer, pos);
      EXPECT_NEAR(f.mlps[i], reach(block.mlp_out[at(pos)], layer + 1, pos), slack);
      EXPECT_NEAR(f.stream[i], reach(block.resid_pre[at(pos)], layer, pos), slack);
      EXPECT_NEAR(f.past[i], reach(block.resid_pre[at(pos)], layer + 1, pos), slack);
      const Vector bias = pass.row("h." + std::to_string(layer) + ".attn.c_proj.bias");
      EXPECT_NEAR(f.query_biases[i], reach(bias, layer + 1, pos), slack);
    }
  }
  for (std::size_t i = 0; i < f.edges.size(); i += std::max<std::size_t>(1, f.edges.size() / 40)) {
    const FlowEdge& edge = f.edges[i];
    EXPECT_NEAR(edge.value,
                reach(pass.written(edge.layer, edge.head, edge.query, edge.key), edge.layer + 1, edge.query),
                slack)
        << "L" << edge.layer << " H" << edge.head << " " << edge.query << " <- " << edge.key;
  }
}

TEST(LogitFlowOf, IsTheFrozenPassPartByPart) {
  const Scenario s("When Mary and John went");
  const FrozenPass pass(reference_model(), s.config(), s.run->tokens.ids());
  for (const LogitFlowOf& question : {LogitFlowOf{logit_at(s.length() - 1)},
                                      LogitFlowOf{difference_at(2, TokenRef::of(11), TokenRef::best())}}) {
    SCOPED_TRACE(question.measured.position);
    const auto f = s.ask(question);
    expect_reference(*f, pass, s.run->tokens.ids());
    expect_conserved(*f, s.config().n_layer);
    expect_edges_add_up(*f);
  }
}

TEST(LogitFlowOf, HoldsForAModelOfAnotherShapeWithItsOwnUnembedding) {
  const TemporaryFolder folder;
  const Gpt2Shape shape{.layers = 3, .heads = 5, .width = 20, .positions = 40, .vocabulary = 90};
  auto tensors = gpt2_tensors(shape);
  tensors.push_back(random_tensor("lm_head.weight", "F32", {shape.vocabulary, shape.width}, 77));
  write_gpt2(folder, gpt2_config(shape, R"(,"tie_word_embeddings":false)"), tensors);
  const auto transformer = model::Transformer::load(folder.path());
  const ReferenceGpt2 reference(folder.path());
  const std::vector<int> tokens{3, 1, 41, 5, 9, 26, 53, 58, 9, 7, 9, 3};
  model::Workspace workspace(2);
  const PromptRun run = run_of_model(transformer, transformer->forward(tokens, workspace));
  const FrozenPass pass(reference, transformer->config(), tokens);
  for (const int position : {0, 11}) {
    SCOPED_TRACE(position);
    const LogitFlow f =
        LogitFlowOf{difference_at(position, TokenRef::of(17), TokenRef::of(4))}.compute(run, {workspace});
    expect_reference(f, pass, tokens);
    expect_conserved(f, shape.layers);
    expect_edges_add_up(f);
  }
}

TEST(LogitFlowOf, CanLeaveOutWhatAllLogitsShare) {
  const Scenario& s = scenario(12);
  const auto f = s.ask(LogitFlowOf{difference_at(11, TokenRef::best(), TokenRef::mean())});
  const auto plain = s.ask(LogitFlowOf{logit_at(11)});
  const Vector& logits = reference(s).logits[11];
  const double mean = std::accumulate(logits.begin(), logits.end(), 0.0) / static_cast<double>(logits.size());
  EXPECT_NEAR(f->logit, logits[at(f->measured.token.id())] - mean, 1e-4);
  EXPECT_NEAR(f->sum(), logits[at(f->measured.token.id())] - mean, 1e-5 * std::abs(f->logit));
  EXPECT_NEAR(f->logit, plain->logit - mean, 1e-4);
  expect_conserved(*f, s.config().n_layer);
}

/// The kept edges are the strongest, and counts and sums are those of all.
TEST(LogitFlowOf, KeepsTheStrongestEdges) {
  const Scenario& s = scenario(256);
  const auto f = s.ask(LogitFlowOf{logit_at(255)});
  ASSERT_GT(f->edge_count, std::ssize(f->edges));
  ASSERT_EQ(f->edges.size(), LogitFlow::kMaxEdges);
  double kept = 0;
  for (const FlowEdge& edge : f->edges) kept += std::abs(edge.value);
  EXPECT_LT(kept, f->edge_magnitude);
  EXPECT_GT(kept, 0.75 * f->edge_magnitude);
}

TEST(LogitFlowOf, IsConservedWithEdits) {
  const TemporaryFolder folder;
  write_gpt2(folder, gpt2_config(model::shape_for_edits()), gpt2_tensors(model::shape_for_edits()));
  const auto transformer = model::Transformer::load(folder.path());
  model::Workspace workspace(1);
  const std::vector<int> tokens = model::tokens_of(9);
  for (const model::EditCase& what : model::edit_cases()) {
    SCOPED_TRACE(std::string(what.kind) + " at " + model::hook_name(what.point));
    model::ForwardOptions options;
    options.plan = transformer->plan(model::edits_from(what, transformer->config()), workspace);
    const PromptRun run = run_of_model(transformer, transformer->forward(tokens, workspace, options));
    for (const int position : {5, 8}) {
      const LogitFlow f = LogitFlowOf{logit_at(position, TokenRef::of(7))}.compute(run, {workspace});
      expect_conserved(f, model::kLayers);
      expect_edges_add_up(f);
    }
  }
}

TEST(FlowLensOf, ReadsTheTokenAtTheInputOfEachBlock) {
  const Scenario& s = scenario(12);
  const auto next = s.ask(NextAfter{11});
  const int best = model::largest_logits(next->logits, 1).front().id;
  const std::vector<int> positions{0, 3, 4, 11};
  const auto lens = s.ask(FlowLensOf{best, positions});
  ASSERT_EQ(lens->of_token.size(), positions.size() * at(s.config().n_layer + 1));
  const Vector probabilities = reference(s).probabilities(11);
  EXPECT_NEAR(lens->of_token.back(), probabilities[at(best)], 1e-4);
  EXPECT_NEAR(lens->of_top.back(), probabilities[at(best)], 1e-4);
  EXPECT_EQ(lens->top.back(), best);
  const Vector third = reference(s).probabilities(3);
  const std::size_t end_of_third = 2 * at(s.config().n_layer + 1) - 1;
  EXPECT_NEAR(lens->of_token[end_of_third], third[at(best)], 1e-4);
  EXPECT_NEAR(lens->of_top[end_of_third], *std::ranges::max_element(third), 1e-4);
}

}  // namespace
}  // namespace headscope::app::logit_flow_test
