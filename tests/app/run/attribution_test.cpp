// Direct logit attribution, and the flow to a logit: each part against the definition in double precision,
// and their sum.
#include <numeric>

#include "app/run/analyses/attribution.h"
#include "app/run/analyses/logit_flow.h"
#include "app/run/analyses/predictions.h"
#include "app/views/parts/names.h"
#include "model/files/error.h"
#include "model/pass/statistics.h"
#include "tests/app/run/run_of_model.h"
#include "tests/app/view_fixture.h"
#include "tests/model/every_edit.h"
#include "tests/support/edits_by_hand.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/textbook.h"

namespace headscope::app::attribution_test {
namespace {

using Vector = std::vector<double>;
using Kind = StreamSource::Kind;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// The pass with its patterns and the scales of its layer norms held fixed and without its MLPs, by the
/// textbook.
class FrozenPass {
  using Rows = ReferenceGpt2::Rows;

 public:
  FrozenPass(const ReferenceGpt2& model, const model::Config& config, std::span<const int> tokens)
      : model_(model), config_(config), tokens_(tokens.begin(), tokens.end()), result_(model.run(tokens)) {}

  const ReferenceGpt2::Result& result() const { return result_; }
  /// `against`: < 0: of the token alone.
  double logit(int position, int token, int against) const {
    const Vector& logits = result_.logits[at(position)];
    return logits[at(token)] - (against >= 0 ? logits[at(against)] : 0);
  }
  Vector row(const std::string& name, int index = 0) const { return row_of(model_, name, index); }

  /// What a head writes at a query for one key.
  Vector written(int layer, int head, int query, int key) const {
    const ReferenceGpt2::Head& of = result_.heads[at(layer)][at(head)];
    Vector value = of.v[at(key)];
    for (double& x : value) x *= of.weights[at(query)][at(key)];
    return head_output(model_, layer, head, value);
  }

  /// What `vector`, added at a position to the stream that enters `layer`, adds to a logit.
  double reach(const Vector& vector, int layer, int position, int target, int token, int against) const {
    const double scale = norm_scale(result_.blocks.back().resid_post[at(target)],
                                    static_cast<double>(config_.layer_norm_epsilon));
    const Vector gain = row("ln_f.weight");
    Vector normalized = centered(carried(vector, layer, position, target));
    for (std::size_t i = 0; i < normalized.size(); ++i) normalized[i] *= gain[i] / scale;
    return unembedded(normalized, token, against);
  }
  double final_bias(int token, int against) const { return unembedded(row("ln_f.bias"), token, against); }

 private:
  double unembedded(const Vector& vector, int token, int against) const {
    const char* rows = config_.tie_word_embeddings ? "wte.weight" : "lm_head.weight";
    return dot(vector, row(rows, token)) - (against >= 0 ? dot(vector, row(rows, against)) : 0);
  }
  /// What arrives of it at the end of the stream.
  Vector carried(const Vector& vector, int layer, int position, int target) const {
    if (layer == config_.n_layer) return position == target ? vector : Vector(vector.size());
    if (held_.empty()) held_ = model::record_by_hand(model_, tokens_);
    ReferenceGpt2::Edits edits;
    edits.edit = [&](const std::string& hook, int head, Rows& rows) {
      if (hook.ends_with("scale") || hook.ends_with("pattern") || hook.ends_with("mlp_out"))
        rows = held_.at(hook).at(head);
      if (hook == model::hook_name({model::Site::resid_pre, layer}))
        for (std::size_t i = 0; i < vector.size(); ++i) rows[at(position)][i] += vector[i];
    };
    Vector end = model_.run(tokens_, edits).blocks.back().resid_post[at(target)];
    for (std::size_t i = 0; i < end.size(); ++i) end[i] -= result_.blocks.back().resid_post[at(target)][i];
    return end;
  }

  const ReferenceGpt2& model_;
  model::Config config_;
  std::vector<int> tokens_;
  ReferenceGpt2::Result result_;
  mutable model::RecordedValues held_;
};

/// A reference pass, and what a vector on its stream after all layers adds to a measured logit.
struct Textbook {
  explicit Textbook(const Scenario& s)
      : pass(reference_model(), s.config(), s.run->tokens.ids()), layers(s.config().n_layer) {}

  double part(const Vector& written, const Measured& of) const {
    return pass.reach(written, layers, of.position, of.position, of.token.id(), of.other.id());
  }
  const ReferenceGpt2::Block& block(int layer) const {
    return pass.result().blocks[static_cast<std::size_t>(layer)];
  }

  FrozenPass pass;
  int layers;
};

/// Parts are computed from float32 activations: within 1e-4 of the logit's magnitude.
void expect_textbook(const Scenario& s, const Textbook& textbook, const Attribution& a) {
  const FrozenPass& pass = textbook.pass;
  const int position = a.measured.position, token = a.measured.token.id(), other = a.measured.other.id();
  const auto part = [&](const Vector& written) { return textbook.part(written, a.measured); };
  const double logit = pass.logit(position, token, other), slack = 1e-4 * std::max(1.0, std::abs(logit)),
               scale = norm_scale(pass.result().blocks.back().resid_post[position],
                                  static_cast<double>(s.config().layer_norm_epsilon));
  EXPECT_NEAR(a.scale, scale, 1e-5 * scale);
  EXPECT_NEAR(a.logit, logit, slack);
  EXPECT_NEAR(a.sum(), logit, slack);
  EXPECT_LT(std::abs(a.rounding_error()), 3e-6 * std::max(10.0, std::abs(a.logit))) << "float32 rounds";
  EXPECT_NEAR(a.of({Kind::token_embedding}), part(pass.row("wte.weight", s.run->tokens.ids()[position])),
              slack);
  EXPECT_NEAR(a.of({Kind::position_embedding}), part(pass.row("wpe.weight", position)), slack);
  EXPECT_NEAR(a.of({Kind::norm_bias}), pass.final_bias(token, other), slack);
  for (int layer = 0; layer < s.config().n_layer; ++layer) {
    const auto l = static_cast<std::size_t>(layer);
    const Vector bias = pass.row("h." + std::to_string(layer) + ".attn.c_proj.bias");
    EXPECT_NEAR(a.of({Kind::mlp, layer}), part(textbook.block(layer).mlp_out[position]), slack) << layer;
    EXPECT_NEAR(a.of({Kind::attention_bias, layer}), part(bias), slack) << layer;
    for (int head = 0; head < s.config().n_head; ++head) {
      const Vector& z = pass.result().heads[l][head].z[position];
      EXPECT_NEAR(a.of_head(layer, head), part(head_output(reference_model(), layer, head, z)), slack)
          << layer << "." << head;
    }
  }
}

TEST(AttributionOf, IsTheTextbooksPartByPart) {
  const Scenario& s = scenario(40);
  const Textbook textbook(s);
  for (const int position : {0, 11, 39}) {
    SCOPED_TRACE(position);
    expect_textbook(s, textbook, *s.ask(AttributionOf{logit_at(position, TokenRef::best())}));
    expect_textbook(s, textbook,
                    *s.ask(AttributionOf{difference_at(position, TokenRef::of(11), TokenRef::best(3))}));
  }
}

/// The published models' epsilon is too small to make a difference, so use a larger one.
TEST(AttributionOf, GoesByTheModelsEpsilon) {
  const TemporaryFolder folder;
  const Gpt2Shape shape{.layers = 1, .vocabulary = 20};
  std::string config = gpt2_config(shape);
  config.replace(config.find("1e-05"), 5, "0.75");
  write_gpt2(folder, config, gpt2_tensors(shape));
  const auto transformer = model::Transformer::load(folder.path());
  model::Workspace workspace(1);
  const Attribution a = AttributionOf{logit_at(2, TokenRef::best())}.compute(
      run_of_model(transformer, transformer->forward(std::vector<int>{3, 1, 4}, workspace)), {workspace});
  EXPECT_LT(std::abs(a.rounding_error()), 1e-5 * std::max(1.0, std::abs(a.logit)));
}

TEST(AttributionOf, EditsBesideThePartsHaveARowOfTheirOwn) {
  struct Case {
    const char* edits;
    bool beside;
  };
  for (const auto& [edits, beside] :
       {Case{"embed[*][2]+=1.5", false}, Case{"L0.resid_pre[*][5]+=1", true},
        Case{"L1.attn_out[*][7]*=0.5", true}, Case{"L2.resid_mid[*][3]+=2", true},
        Case{"L3.resid_post[*][7]*=3", true}, Case{"L4.mlp_out[*][11]=0", false},
        Case{"ln_final_scale*=1.25", true}, Case{"ln_final[*][9]*=1.5; ln_final[*][9]+=1", true},
        Case{"logits[*][11]+=1.5", true},
        Case{"embed[*][2]+=1.5; L1.attn_out[*][7]*=0.5; L3.resid_post[*][7]*=3; ln_final_scale*=1.25; "
             "ln_final[*][9]+=1; logits[*][11]+=1.5",
             true}}) {
    SCOPED_TRACE(edits);
    const Scenario s = with_edits(edits);
    for (const int position : {0, 6}) {
      const auto a = s.ask(AttributionOf{logit_at(position, TokenRef::of(11))});
      EXPECT_NEAR(a->rounding_error(), 0, 2e-5 * std::max(1.0, std::abs(a->logit)));
      EXPECT_EQ(a->edited(), beside);
      EXPECT_TRUE(beside || a->of({Kind::edits}) == 0);
      const auto sources = s.ask(SourcesOf{3, 2, logit_at(position, TokenRef::of(11))});
      EXPECT_NEAR(sources->sum(), a->of_head(3, 2), 2e-5);
    }
  }
  EXPECT_FALSE(scenario(12).ask(AttributionOf{logit_at(11)})->edited());
}

TEST(SourcesOf, AddUpToTheHeadsPart) {
  const Scenario& s = scenario(40);
  const Textbook textbook(s);
  for (const int position : {0, 39}) {
    const auto a = s.ask(AttributionOf{difference_at(position, TokenRef::best(), TokenRef::best(2))});
    for (int layer = 0; layer < s.config().n_layer; ++layer) {
      for (int head = 0; head < s.config().n_head; ++head) {
        SCOPED_TRACE(head_name(layer, head));
        const auto sources = s.ask(SourcesOf{layer, head, a->measured});
        ASSERT_EQ(std::ssize(sources->parts), position + 1);
        EXPECT_NEAR(sources->sum(), a->of_head(layer, head), 2e-5);
        for (int key = 0; key <= position; ++key)
          EXPECT_NEAR(sources->parts[key],
                      textbook.part(textbook.pass.written(layer, head, position, key), a->measured), 1e-4)
              << key;
      }
    }
  }
}

TEST(SourcesOf, AddUpToThePartOfAnEditedHead) {
  for (const char* edits : {"L3H2.z=0",
                            "L3H2.z[6]*=0.5",
                            "L3.z+=0.25",
                            "L3H2.z=mean",
                            "L3H2.z<-ids(11,12,13,14,15,16,17,18)",
                            "L3H2.result[*][5]+=1.5",
                            "L3H2.v=mean",
                            "L3H2.v[2]=0",
                            "L3H2.v<-{L1H1.z=0}",
                            "L3H2.k*=2",
                            "L3H2.pattern=0",
                            "L3H2.pattern[6,1]=0.5",
                            "L3H2.pattern[6,1]~=0.5",
                            "L3H2.scores[6,2]=null",
                            "L3H2.pattern[6,1]=0.5; L3H2.z[6]*=0.5; L3H2.v[1]=0",
                            "L1H1.z=0 -> L3H2.v",
                            "mask=none",
                            "L3.mask=none; L3H2.z*=2",
                            "L3H2.z=0 -> logits",
                            "L3.attn_out=0",
                            "ln_final_scale*=2"}) {
    const Scenario s = with_edits(edits, {3, 2, -1});
    for (const int position : {2, 6}) {
      const auto a = s.ask(AttributionOf{difference_at(position, TokenRef::of(11), TokenRef::of(12))});
      const auto sources =
          s.ask(SourcesOf{3, 2, difference_at(position, TokenRef::of(11), TokenRef::of(12))});
      EXPECT_NEAR(sources->sum(), a->of_head(3, 2), 2e-5) << edits << " at " << position;
      EXPECT_NEAR(a->rounding_error(), 0, 5e-5) << edits << " at " << position;
    }
  }
}

TEST(SourcesOf, TheDifferenceFromTheUneditedRunHasNoUnmatchedPositions) {
  Scenario s = with_edits("L1H0.z=0", {3, 2, -1});
  s.compare();
  for (int head = 0; head < s.config().n_head; ++head)
    EXPECT_EQ(s.ask_difference(SourcesOf{3, head, logit_at(6, TokenRef::of(11))})->unmatched, 0) << head;
}

TEST(NeuronsOf, AreTheTextbooksAndAddUpToTheMlpsPart) {
  const Scenario& s = scenario(40);
  const Textbook textbook(s);
  for (const int position : {0, 39}) {
    const auto a = s.ask(AttributionOf{difference_at(position, TokenRef::best(), TokenRef::best(2))});
    for (int layer = 0; layer < s.config().n_layer; ++layer) {
      SCOPED_TRACE(layer);
      const auto neurons = s.ask(NeuronsOf{layer, a->measured});
      ASSERT_EQ(std::ssize(neurons->parts), s.config().n_inner);
      ASSERT_EQ(neurons->sizes.size(), neurons->parts.size());
      const Vector& post = textbook.block(layer).mlp_post[position];
      const std::string output = "h." + std::to_string(layer) + ".mlp.c_proj.";
      for (int neuron = 0; neuron < s.config().n_inner; ++neuron) {
        EXPECT_NEAR(neurons->sizes[neuron], post[neuron], 1e-4) << neuron;
        Vector written = textbook.pass.row(output + "weight", neuron);
        for (double& x : written) x *= post[neuron];
        EXPECT_NEAR(neurons->parts[neuron], textbook.part(written, a->measured), 1e-4) << neuron;
      }
      EXPECT_NEAR(neurons->bias, textbook.part(textbook.pass.row(output + "bias"), a->measured), 1e-5);
      EXPECT_FALSE(neurons->edited);
      EXPECT_NEAR(neurons->sum(), a->of({Kind::mlp, layer}), 2e-5);
    }
  }
}

TEST(NeuronsOf, AreAsEditsLeftThemAndThoseOfTheOutputHaveAPartOfTheirOwn) {
  const int position = 6, layer = 3;
  struct Case {
    const char* edits;
    bool of_output;
  };
  for (const auto& [edits, of_output] :
       {Case{"L3.mlp_post[*][17]=2", false}, Case{"L3.mlp_out[*][5]+=1.5", true},
        Case{"L3.mlp_out=0; L1H2.z=0", true}, Case{"L3.resid_post[*][7]*=3", false},
        Case{"L2.mlp_out*=0.5", false}, Case{"ln_final_scale*=1.25; L3.mlp_out[6][*]*=0.5", true}}) {
    SCOPED_TRACE(edits);
    const Scenario s = with_edits(edits);
    const auto a = s.ask(AttributionOf{logit_at(position, TokenRef::of(11))});
    const auto neurons = s.ask(NeuronsOf{layer, logit_at(position, TokenRef::of(11))});
    EXPECT_EQ(neurons->edited, of_output);
    EXPECT_NEAR(neurons->sum(), a->of({Kind::mlp, layer}), 2e-5);
    double sum = neurons->bias;
    for (const double part : neurons->parts) sum += part;
    EXPECT_NEAR(neurons->edits, of_output ? a->of({Kind::mlp, layer}) - sum : 0, 2e-5);
    if (of_output) {
      EXPECT_GT(std::abs(neurons->edits), 1e-3);
    }
  }
  const Scenario set = with_edits("L3.mlp_post[*][17]=2");
  EXPECT_EQ(set.ask(NeuronsOf{layer, logit_at(position, TokenRef::of(11))})->sizes[17], 2);
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
      const double past = f.stream[i] + f.key_biases[i] + f.key_edits[i] - f.sent[i];
      EXPECT_NEAR(past + f.arrived[i] + f.query_biases[i] + f.query_edits[i] + f.mlps[i] +
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
  for (const LogitFlowOf& question : {LogitFlowOf{logit_at(11, TokenRef::of(17))},
                                      LogitFlowOf{difference_at(0, TokenRef::of(17), TokenRef::of(4))}}) {
    SCOPED_TRACE(question.measured.position);
    const LogitFlow f = question.compute(run, {workspace});
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
  const int layers = s.config().n_layer;
  ASSERT_EQ(lens->readings.size(), positions.size() * at(layers + 1));
  EXPECT_EQ(lens->at(11, layers).top.front().id, best);
  for (const int position : {3, 11}) {
    const Vector probabilities = reference(s).probabilities(position);
    EXPECT_NEAR(lens->at(position, layers).next_probability, probabilities[at(best)], 1e-4);
    EXPECT_NEAR(lens->at(position, layers).top.front().probability, std::ranges::max(probabilities), 1e-4);
  }
}

}  // namespace
}  // namespace headscope::app::attribution_test
