// Inside a block: q, k and v, merged heads, neurons and a token's pass against the pass; targets of clicks.
#include "app/run/analyses/token_pass.h"
#include "app/run/analyses/vocabulary.h"
#include "app/run/edits/edit_text.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "tests/support/textbook.h"

namespace headscope::app::block_test {
namespace {

constexpr double kTolerance = 2e-4;
enum Row { kResidual, kNormed, kBias, kOutput, kQuery, kKey, kValue, kQueryHead, kKeyHead, kValueHead };

TEST(Qkv, IsTheNormalizedStreamTimesTheMatrixPlusTheBias) {
  const Scenario s(kRobot);
  for (int layer = 0; layer < s.config().n_layer; ++layer) {
    const auto input = s.ask(AttentionInputOf{layer, 5});
    const std::string block = "h." + std::to_string(layer) + ".attn.c_attn.";
    const auto& weight = reference_model().parameter(block + "weight");
    const auto& bias = reference_model().parameter(block + "bias");
    ASSERT_EQ(input->output.size(), bias.size());
    for (std::size_t j = 0; j < bias.size(); ++j) {
      double sum = bias[j];
      for (std::size_t i = 0; i < input->normed.size(); ++i)
        sum += static_cast<double>(input->normed[i]) * weight[i * bias.size() + j];
      ASSERT_NEAR(input->output[j], sum, kTolerance) << layer << " " << j;
      ASSERT_NEAR(input->bias[j], bias[j], 1e-6);
    }
  }
}

TEST(Qkv, PiecesAreTheHeads) {
  Scenario s(kRobot, {1, 2, 5});
  const auto rows = text_rows(table_of("qkv", s));
  const auto& head = reference_head(s);
  const std::size_t d_head = head.q[5].size();
  ASSERT_EQ(rows[0].size(), 11U);
  for (std::size_t i = 0; i < d_head; ++i) {
    const auto& of_head = rows[i];
    EXPECT_NEAR(std::stod(of_head[1 + kQueryHead]), head.q[5][i], kTolerance);
    EXPECT_NEAR(std::stod(of_head[1 + kKeyHead]), head.k[5][i], kTolerance);
    EXPECT_NEAR(std::stod(of_head[1 + kValueHead]), head.v[5][i], kTolerance);
    EXPECT_EQ(rows[2 * d_head + i][1 + kQuery], of_head[1 + kQueryHead]);
    EXPECT_EQ(rows[2 * d_head + i][1 + kOutput], of_head[1 + kQueryHead]);
  }
}

constexpr int kPosition = 5;

// Bit-identical, also at the end of a page.
TEST(Merge, IsWhatThePassComputed) {
  const Scenario& s = scenario(100);
  for (const int position : {0, 63, 64, 99}) {
    const auto pass = s.ask(PassOfToken{position});
    for (int layer = 0; layer < s.config().n_layer; ++layer) {
      const auto merged = s.ask(MergedHeadsOf{layer, position});
      EXPECT_EQ(merged->of.out, pass->blocks[layer].attn_out) << layer << " " << position;
      EXPECT_EQ(merged->after, pass->blocks[layer].resid_mid) << layer << " " << position;
    }
  }
}

TEST(Merge, TheTableSaysWhatEachHeadAdds) {
  Scenario s(kRobot, {1, 2, kPosition});
  const Table table = table_of("merge", s);
  const auto rows = text_rows(table);
  const auto heads = static_cast<std::size_t>(s.config().n_head),
             d = static_cast<std::size_t>(s.config().n_embd);
  const std::size_t first = 3 + static_cast<std::size_t>(s.config().d_head());
  ASSERT_EQ(rows.size(), heads + 4);
  ASSERT_EQ(table.columns.size(), first + d);
  EXPECT_EQ(rows[2][0], "L1 H2");
  EXPECT_EQ(rows[heads][0], "bias");
  const auto value = [&](std::size_t row, std::size_t i) { return std::stod(rows[row][first + i]); };
  std::vector<double> sum(d, 0.0);
  double along = 0;
  for (std::size_t row = 0; row <= heads; ++row) {
    double square = 0, dot = 0;
    for (std::size_t i = 0; i < d; ++i) {
      sum[i] += value(row, i);
      square += value(row, i) * value(row, i);
      dot += value(row, i) * value(heads + 1, i);
    }
    EXPECT_NEAR(std::stod(rows[row][1]), std::sqrt(square), 1e-5) << row;
    EXPECT_NEAR(std::stod(rows[row][2]), dot / std::stod(rows[heads + 1][1]), 1e-5) << row;
    along += std::stod(rows[row][2]);
  }
  EXPECT_NEAR(along, std::stod(rows[heads + 1][1]), 1e-5) << "the sum's norm";
  for (std::size_t i = 0; i < d; ++i) {
    EXPECT_NEAR(sum[i], value(heads + 1, i), 1e-5);
    EXPECT_NEAR(value(heads + 2, i) + value(heads + 1, i), value(heads + 3, i), 1e-5) << "residual stream";
  }
}

TEST(Merge, EditsOfTheSumAreAPart) {
  const Scenario s(Prompt{kRobot, {}, false, parse_edits("L1.attn_out[5]*=0.5", *bundled())},
                   {1, 2, kPosition});
  const auto merged = s.ask(MergedHeadsOf{1, kPosition});
  const std::size_t d = merged->bias.size();
  ASSERT_EQ(merged->edits.size(), d);
  for (std::size_t i = 0; i < d; ++i) {
    float sum = merged->bias[i] + merged->edits[i];
    for (std::size_t at = i; at < merged->of.results.size(); at += d) sum += merged->of.results[at];
    EXPECT_NEAR(sum, merged->of.out[i], 1e-4);
  }
  EXPECT_THAT(texts_of(table_of("merge", s), "part"), Contains("edits"));
}

constexpr int kLayer = 3;

Scenario robot() {
  return Scenario(kRobot, {kLayer, 3, kPosition});
}

/// W_out[neuron] · W_U[token] for every token, in double precision.
std::vector<double> products(int layer, int neuron) {
  const auto out = row_of(reference_model(), "h." + std::to_string(layer) + ".mlp.c_proj.weight", neuron);
  std::vector<double> all;
  for (int token = 0; token < bundled()->transformer->config().vocab_size; ++token)
    all.push_back(dot(out, row_of(reference_model(), "wte.weight", token)));
  return all;
}

TEST(NeuronTokens, AreTheLargestAndSmallestProductsOfTheReference) {
  const Scenario s = robot();
  for (const int neuron : {0, 17, 1023}) {
    SCOPED_TRACE(neuron);
    const auto found = s.ask(TokensOfNeuron{kLayer, neuron});
    std::vector<double> expected = products(kLayer, neuron);
    ASSERT_EQ(found->up.size(), static_cast<std::size_t>(NeuronTokens::kMax));
    ASSERT_EQ(found->down.size(), found->up.size());
    for (const auto& list : {found->up, found->down})
      for (const model::Guess& token : list)
        EXPECT_NEAR(static_cast<double>(token.logit), expected[token.id], 1e-5);
    std::ranges::sort(expected);
    for (std::size_t i = 0; i < found->up.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(found->down[i].logit), expected[i], 1e-5);
      EXPECT_NEAR(static_cast<double>(found->up[i].logit), expected[expected.size() - 1 - i], 1e-5);
    }
  }
}

/// The strongest come first, and one below zero pushes the other way.
TEST(Mlp, ANeuronPushesItsTokensByItsOutput) {
  Scenario s = robot();
  int negative = 0;
  for (int layer = 0; layer < s.config().n_layer; ++layer) {
    s.select({layer, 0, kPosition});
    const auto pass = s.ask(PassOfToken{kPosition});
    double last = INFINITY;
    for (const auto& row : text_rows(table_of("mlp", s, {{"neurons", "200"}}))) {
      const int neuron = std::stoi(row[1]);
      EXPECT_EQ(row[2], plain(pass->blocks[layer].mlp_pre[neuron]));
      EXPECT_EQ(row[3], plain(pass->blocks[layer].mlp_post[neuron]));
      const double output = std::stod(row[3]);
      EXPECT_LE(std::abs(output), last);
      last = std::abs(output);
      const auto tokens = s.ask(TokensOfNeuron{layer, neuron});
      for (std::size_t i = 0; i < 3; ++i) {  // an id, a token and a push for each, up before down
        const model::Guess &up = tokens->up[i], &down = tokens->down[i];
        EXPECT_EQ(row[4 + 3 * i], std::to_string(output < 0 ? down.id : up.id));
        EXPECT_NEAR(std::stod(row[6 + 3 * i]),
                    output * static_cast<double>(output < 0 ? down.logit : up.logit), 1e-5);
        EXPECT_NEAR(std::stod(row[15 + 3 * i]),
                    output * static_cast<double>(output < 0 ? up.logit : down.logit), 1e-5);
      }
      negative += output < 0;
    }
  }
  EXPECT_GT(negative, 0);
}

constexpr int kBlock = 2;
// The roles of the view's regions, and the steps in the order of the pass.
constexpr int kStepRole = 0, kStripRole = 1;
enum Step { embedding, before, ln_1, attention, add_attention, ln_2, mlp, add_mlp, after, ln_f, unembedding };

Scenario robot_of_pass() {
  return Scenario(kRobot, {kBlock, 3, kPosition});
}

TEST(PassView, BoxesLeadToTheViewsOfTheirParts) {
  const ViewFixture shown("pass", robot_of_pass(), 1200, 800);
  const auto click = [&](int step) { return in_words(shown.click(shown.find(kStepRole, step))); };
  EXPECT_EQ(click(embedding), "show embedding");
  EXPECT_EQ(click(attention), "show heatmap");
  EXPECT_EQ(click(mlp), "show mlp");
  EXPECT_EQ(click(unembedding), "show predictions");
  EXPECT_EQ(click(ln_1), "");
  EXPECT_EQ(click(add_mlp), "");
  EXPECT_EQ(click(before), "head by -1 0");
  EXPECT_EQ(click(after), "head by 1 0");
  EXPECT_EQ(in_words(shown.choose("Show the view Heatmap", shown.find(kStripRole, attention))),
            "show heatmap");
}

TEST(BlockViews, HaveAllPartsInThePanesOfSmallWindows) {
  const Scenario s = robot_of_pass();
  for (const auto& [width, height] : {std::pair(488.F, 480.F), {690.F, 530.F}})
    for (const char* view : {"pass", "mlp"}) {
      ViewContext c = s.context(width, height);
      c.in_pane = true;
      EXPECT_THAT(find_view(view)->build(c).subtitle,
                  AllOf(Not(HasSubstr("no room for the")), Not(HasSubstr("not shown: vector"))))
          << view << " " << width;
    }
}

}  // namespace
}  // namespace headscope::app::block_test
