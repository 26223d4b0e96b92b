// Direct logit attribution: each part against the definition in double precision, and their sum.
#include "app/run/analyses/attribution.h"

#include "app/views/parts/names.h"
#include "model/files/error.h"
#include "tests/app/run/frozen_pass.h"
#include "tests/app/run/run_of_model.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::attribution_test {
namespace {

using Vector = std::vector<double>;

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
  EXPECT_NEAR(a.token_embedding, part(pass.row("wte.weight", s.run->tokens.ids()[position])), slack);
  EXPECT_NEAR(a.position_embedding, part(pass.row("wpe.weight", position)), slack);
  EXPECT_NEAR(a.final_bias, pass.final_bias(token, other), slack);
  ASSERT_EQ(a.layers, s.config().n_layer);
  ASSERT_EQ(a.n_head(), s.config().n_head);
  for (int layer = 0; layer < a.layers; ++layer) {
    const auto l = static_cast<std::size_t>(layer);
    const Vector bias = pass.row("h." + std::to_string(layer) + ".attn.c_proj.bias");
    EXPECT_NEAR(a.mlps[l], part(textbook.block(layer).mlp_out[position]), slack) << layer;
    EXPECT_NEAR(a.attention_bias[l], part(bias), slack) << layer;
    for (int head = 0; head < a.n_head(); ++head) {
      const Vector& z = pass.result().heads[l][head].z[position];
      EXPECT_NEAR(a.head(layer, head), part(head_output(reference_model(), layer, head, z)), slack)
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

/// An edit of one unit at every position, x -> factor * x + added, and the part it has in the reference.
struct UnitEdit {
  model::HookPoint point;
  int unit = 0;
  double factor = 1, added = 0;

  model::Edits edits() const {
    const model::EditSite at{point, {}, {}, {unit}};
    return {model::ScaleValues{at, static_cast<float>(factor)},
            model::AddVector{at, {static_cast<float>(added)}, 1}};
  }
};

/// The reference's edit parts, besides the others.
struct EditedTextbook {
  double logit = 0, edits = 0;
};

EditedTextbook edited_textbook(const Scenario& s, const std::vector<UnitEdit>& edits, int position,
                               int token) {
  const auto d = static_cast<std::size_t>(s.config().n_embd), at = static_cast<std::size_t>(position);
  Vector on_stream(d), normalized(d);
  double of_logits = 0, scale = 0;
  ReferenceGpt2::Edits reference_edits;
  reference_edits.edit = [&](const std::string& hook, int, ReferenceGpt2::Rows& rows) {
    for (const UnitEdit& edit : edits) {
      if (model::hook_name(edit.point) != hook) continue;
      const auto unit = static_cast<std::size_t>(edit.unit);
      for (std::size_t pos = 0; pos < rows.size(); ++pos) {
        const double before = rows[pos][unit];
        rows[pos][unit] = edit.factor * before + edit.added;
        if (pos != at) continue;
        const double difference = rows[pos][unit] - before;
        const model::Site site = edit.point.site;
        if (site == model::Site::logits && edit.unit == token) of_logits += difference;
        if (site == model::Site::ln_final_normalized) normalized[unit] += difference;
        if (site == model::Site::resid_pre || site == model::Site::attn_out ||
            site == model::Site::resid_mid || site == model::Site::resid_post)
          on_stream[unit] += difference;
      }
    }
    if (hook == "ln_final.hook_scale") scale = rows[at][0];
  };
  const auto result = reference_model().run(s.run->tokens.ids(), reference_edits);
  const Vector &gain = reference_model().parameter("ln_f.weight"),
               &wte = reference_model().parameter("wte.weight");
  double mean = 0;
  for (const double v : on_stream) mean += v / static_cast<double>(d);
  EditedTextbook textbook{result.logits[at][token], of_logits};
  for (std::size_t i = 0; i < d; ++i) {
    const double u = gain[i] * wte[static_cast<std::size_t>(token) * d + i];
    textbook.edits += u * ((on_stream[i] - mean) / scale + normalized[i]);
  }
  return textbook;
}

TEST(AttributionOf, EditsBesideThePartsHaveARowOfTheirOwn) {
  using model::Site;
  const std::vector<UnitEdit> all{
      {{Site::embed}, 2, 1, 1.5},           {{Site::resid_pre, 0}, 5, 1, 1},
      {{Site::attn_out, 1}, 7, 0.5, 0},     {{Site::resid_mid, 2}, 3, 1, 2},
      {{Site::resid_post, 3}, 7, 3, 0},     {{Site::mlp_out, 4}, 11, 0, 0},
      {{Site::ln_final_scale}, 0, 1.25, 0}, {{Site::ln_final_normalized}, 9, 1.5, 1},
      {{Site::logits}, 11, 1, 1.5}};
  std::vector<std::vector<UnitEdit>> lists{all};
  for (const UnitEdit& one : all) lists.push_back({one});
  for (const std::vector<UnitEdit>& edits : lists) {
    SCOPED_TRACE(edits.size() > 1 ? "all" : model::hook_name(edits.front().point));
    Prompt prompt{kRobot, {}, false};
    for (const UnitEdit& edit : edits)
      for (const model::Edit& one : edit.edits()) prompt.edits.push_back(one);
    const Scenario s(prompt);
    for (const int position : {0, 6}) {
      const auto a = s.ask(AttributionOf{logit_at(position, TokenRef::of(11))});
      const EditedTextbook expected = edited_textbook(s, edits, position, 11);
      EXPECT_NEAR(a->logit, expected.logit, 2e-4);
      EXPECT_NEAR(a->edits, expected.edits, 2e-4);
      EXPECT_NEAR(a->rounding_error(), 0, 2e-5 * std::max(1.0, std::abs(a->logit)));
      const Site site = edits.front().point.site;
      EXPECT_EQ(a->edited, edits.size() > 1 || (site != Site::embed && site != Site::mlp_out));
      const auto sources = s.ask(SourcesOf{3, 2, logit_at(position, TokenRef::of(11))});
      EXPECT_NEAR(sources->sum(), a->head(3, 2), 2e-5);
    }
  }
  EXPECT_FALSE(scenario(12).ask(AttributionOf{logit_at(11, TokenRef::best())})->edited);
}

TEST(SourcesOf, AddUpToTheHeadsPart) {
  const Scenario& s = scenario(40);
  const Textbook textbook(s);
  for (const int position : {0, 39}) {
    const auto a = s.ask(AttributionOf{difference_at(position, TokenRef::best(), TokenRef::best(2))});
    for (int layer = 0; layer < a->layers; ++layer) {
      for (int head = 0; head < a->n_head(); ++head) {
        SCOPED_TRACE(head_name(layer, head));
        const auto sources = s.ask(SourcesOf{layer, head, a->measured});
        ASSERT_EQ(std::ssize(sources->parts), position + 1);
        EXPECT_NEAR(sources->sum(), a->head(layer, head), 2e-5);
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
      EXPECT_NEAR(sources->sum(), a->head(3, 2), 2e-5) << edits << " at " << position;
      EXPECT_NEAR(a->rounding_error(), 0, 5e-5) << edits << " at " << position;
    }
  }
}

TEST(NeuronsOf, AreTheTextbooksAndAddUpToTheMlpsPart) {
  const Scenario& s = scenario(40);
  const Textbook textbook(s);
  for (const int position : {0, 39}) {
    const auto a = s.ask(AttributionOf{difference_at(position, TokenRef::best(), TokenRef::best(2))});
    for (int layer = 0; layer < a->layers; ++layer) {
      SCOPED_TRACE(layer);
      const auto neurons = s.ask(NeuronsOf{layer, a->measured});
      ASSERT_EQ(std::ssize(neurons->parts), s.config().n_inner);
      ASSERT_EQ(neurons->activations.size(), neurons->parts.size());
      const Vector& post = textbook.block(layer).mlp_post[position];
      const std::string output = "h." + std::to_string(layer) + ".mlp.c_proj.";
      for (int neuron = 0; neuron < s.config().n_inner; ++neuron) {
        EXPECT_NEAR(neurons->activations[neuron], post[neuron], 1e-4) << neuron;
        Vector written = textbook.pass.row(output + "weight", neuron);
        for (double& x : written) x *= post[neuron];
        EXPECT_NEAR(neurons->parts[neuron], textbook.part(written, a->measured), 1e-4) << neuron;
      }
      EXPECT_NEAR(neurons->bias, textbook.part(textbook.pass.row(output + "bias"), a->measured), 1e-5);
      EXPECT_FALSE(neurons->edited);
      EXPECT_NEAR(neurons->sum(), a->mlps[layer], 2e-5);
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
    EXPECT_NEAR(neurons->sum(), a->mlps[layer], 2e-5);
    double sum = neurons->bias;
    for (const double part : neurons->parts) sum += part;
    EXPECT_NEAR(neurons->edits, of_output ? a->mlps[layer] - sum : 0, 2e-5);
    if (of_output) {
      EXPECT_GT(std::abs(neurons->edits), 1e-3);
    }
  }
  const Scenario set = with_edits("L3.mlp_post[*][17]=2");
  EXPECT_EQ(set.ask(NeuronsOf{layer, logit_at(position, TokenRef::of(11))})->activations[17], 2);
}

}  // namespace
}  // namespace headscope::app::attribution_test
