// Neurons of an MLP: the picture compared with the table and the pass, and the tokens they promote with the
// file's parameters.

#include "app/run/analyses/token_pass.h"
#include "app/run/analyses/vocabulary.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::mlp_test {
namespace {

constexpr int kPosition = 5, kLayer = 3;

Scenario robot() {
  Scenario s(kRobot, {kLayer, 3, kPosition});
  return s;
}

/// Neurons by descending magnitude of their output.
std::vector<int> strongest(const Scenario& s) {
  const auto pass = s.ask(PassOfToken{kPosition});
  const std::vector<float>& post = pass->blocks[kLayer]->mlp_post;
  std::vector<int> order(post.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](int i) { return std::abs(post[i]); });
  return order;
}

/// W_out[neuron] · W_U[token] for every token, in double precision.
std::vector<double> products(int layer, int neuron) {
  const auto d = static_cast<std::size_t>(bundled()->transformer->config().n_embd);
  const auto& out = reference_model().parameter("h." + std::to_string(layer) + ".mlp.c_proj.weight");
  const auto& wte = reference_model().parameter("wte.weight");
  std::vector<double> all;
  for (std::size_t token = 0; token * d < wte.size(); ++token) {
    double sum = 0;
    for (std::size_t i = 0; i < d; ++i)
      sum += out[static_cast<std::size_t>(neuron) * d + i] * wte[token * d + i];
    all.push_back(sum);
  }
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
      for (const TokenPush& token : list)
        EXPECT_NEAR(static_cast<double>(token.logit), expected[token.id], 1e-5);
    std::ranges::sort(expected);
    for (std::size_t i = 0; i < found->up.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(found->down[i].logit), expected[i], 1e-5);
      EXPECT_NEAR(static_cast<double>(found->up[i].logit), expected[expected.size() - 1 - i], 1e-5);
    }
  }
}

TEST(NeuronTokens, GoThroughTheUnembeddingOfItsOwnWhereThereIsOne) {
  const TemporaryFolder folder;
  const Gpt2Shape shape{.positions = 64, .vocabulary = 4096};
  write_other_model(folder, shape);
  const auto model = load_model(folder.path(), {});
  const Scenario s(Prompt{"The old king", {}, false}, {0, 0, -1}, model);
  const auto& config = s.config();
  const auto tokens = s.ask(TokensOfNeuron{1, 2});
  // The unembedding is the last parameter of an untied model, and the first of a tied one.
  const auto d = static_cast<std::size_t>(config.n_embd);
  const auto& parameters = model->transformer->parameters();
  const std::size_t unembedding = config.tie_word_embeddings ? 0 : parameters.size() - 1;
  const auto out =
      std::ranges::find(parameters, "h.1.mlp.c_proj.weight", &model::Parameter::name) - parameters.begin();
  std::vector<float> row(d), column(d);
  model->transformer->parameter_rows(static_cast<std::size_t>(out), 2, 1, row);
  for (const TokenPush& token : tokens->up) {
    model->transformer->parameter_rows(unembedding, token.id, 1, column);
    double sum = 0;
    for (std::size_t i = 0; i < d; ++i) sum += static_cast<double>(row[i]) * static_cast<double>(column[i]);
    EXPECT_NEAR(static_cast<double>(token.logit), sum, 1e-5);
  }
}

TEST(Mlp, TheTableHasTheNeuronsOfThePassStrongestFirst) {
  const Scenario s = robot();
  const auto rows = text_rows(ViewFixture("mlp", s, 900, 700, {{"neurons", "40"}}).table());
  const std::vector<int> expected = strongest(s);
  const auto pass = s.ask(PassOfToken{kPosition});
  const BlockPass& block = *pass->blocks[kLayer];
  ASSERT_EQ(rows.size(), 40U);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(rows[i][1], std::to_string(expected[i]));
    EXPECT_EQ(rows[i][2], plain(block.mlp_pre[expected[i]]));
    EXPECT_EQ(rows[i][3], plain(block.mlp_post[expected[i]]));
  }
}

TEST(Mlp, ANeuronPushesTokensByItsOutputTimesTheReferencesProducts) {
  const auto rows = text_rows(ViewFixture("mlp", robot(), 1600, 1000).table());
  for (const int place : {0, 1, 5}) {
    SCOPED_TRACE(place);
    const auto& row = rows[place];
    std::vector<double> pushes = products(kLayer, std::stoi(row[1]));
    for (double& push : pushes) push *= std::stod(row[3]);
    std::ranges::sort(pushes);
    for (std::size_t i = 0; i < 3; ++i) {  // an id, a token and a push for each, up before down
      EXPECT_NEAR(std::stod(row[6 + 3 * i]), pushes[pushes.size() - 1 - i], 1e-4) << "up";
      EXPECT_NEAR(std::stod(row[15 + 3 * i]), pushes[i], 1e-4) << "down";
    }
  }
}

TEST(Mlp, ANeuronBelowZeroPushesTheOtherWay) {
  Scenario s = robot();
  int tried = 0;
  for (int layer = 0; layer < s.config().n_layer; ++layer) {
    s.select({layer, 0, kPosition});
    const auto rows = text_rows(ViewFixture("mlp", s, 1600, 1000, {{"neurons", "200"}}).table());
    const auto below = std::ranges::find_if(rows, [](const auto& row) { return row[3].starts_with('-'); });
    if (below == rows.end()) continue;
    ++tried;
    const auto tokens = s.ask(TokensOfNeuron{layer, std::stoi((*below)[1])});
    EXPECT_EQ((*below)[4], std::to_string(tokens->down[0].id));
    EXPECT_GT(std::stod((*below)[6]), 0);
  }
  EXPECT_GT(tried, 0) << "no layer has one";
}

}  // namespace
}  // namespace headscope::app::mlp_test
