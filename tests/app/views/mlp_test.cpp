// Neurons of an MLP: the picture compared with the double-precision reference, and the tokens they promote
// with the file's parameters.

#include "app/run/analyses/neuron_tokens.h"
#include "app/run/analyses/token_pass.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::mlp_test {
namespace {

constexpr int kPosition = 5, kLayer = 3;
constexpr int kStripRole = 0, kNeuronRole = 1, kCurveRole = 2;  // roles of the view's regions
enum Strip { input, before, after, output };

Scenario robot() {
  Scenario s(kRobot, {kLayer, 3, kPosition});
  return s;
}

const std::vector<double>& of_reference(const Scenario& s, bool post) {
  const auto& block = reference(s).blocks[kLayer];
  return (post ? block.mlp_post : block.mlp_pre)[kPosition];
}

/// Neurons by descending magnitude of their output in the reference.
std::vector<int> strongest(const Scenario& s) {
  const std::vector<double>& post = of_reference(s, true);
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

TEST(Mlp, TheTableHasTheNeuronsOfTheReferenceStrongestFirst) {
  const Scenario s = robot();
  const Table table = ViewFixture("mlp", s, 900, 700, {{"neurons", "40"}}).table();
  const std::vector<int> expected = strongest(s);
  ASSERT_EQ(table.rows.size(), 40U + 2U);
  EXPECT_NEAR(std::stod(table.rows[40][2]), norm(of_reference(s, false)), 1e-3);
  EXPECT_NEAR(std::stod(table.rows[40][3]), norm(of_reference(s, true)), 1e-3);
  for (std::size_t i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(table.rows[i][0], std::to_string(i + 1));
    EXPECT_EQ(table.rows[i][1], std::to_string(expected[i]));
    const auto neuron = static_cast<std::size_t>(expected[i]);
    EXPECT_NEAR(std::stod(table.rows[i][2]), of_reference(s, false)[neuron], 1e-4);
    EXPECT_NEAR(std::stod(table.rows[i][3]), of_reference(s, true)[neuron], 1e-4);
  }
}

TEST(Mlp, RowsShowTheNumbersOfTheReferenceAndWhatNeuronsPush) {
  const Scenario s = robot();
  const ViewFixture shown("mlp", s, 1600, 1000);
  const std::vector<int> expected = strongest(s);
  DrawnPage page = shown.page();
  for (const int place : {0, 1, 5}) {
    SCOPED_TRACE(place);
    const int neuron = expected[place];
    const auto drawn = page.take(shown.region(shown.find(kNeuronRole, place)).rect);
    ASSERT_EQ(drawn.size(), 4U + 12U) << "neuron, before, after, adds, and six tokens with what they get";
    EXPECT_EQ(drawn[0].text, std::to_string(neuron));
    const double activation = of_reference(s, true)[neuron];
    for (const auto& [text, value] :
         {std::pair{drawn[1].text, of_reference(s, false)[neuron]}, {drawn[2].text, activation}}) {
      const auto number = read_number(text);
      ASSERT_TRUE(number) << text;
      EXPECT_NEAR(number->value, value, 1.001 * number->rounding + 1e-4);
    }
    const std::vector<double> logits = products(kLayer, neuron);
    std::vector<double> pushes;
    for (const double logit : logits) pushes.push_back(activation * logit);
    std::ranges::sort(pushes);
    std::vector<double> written;
    for (std::size_t i = 4; i < drawn.size(); ++i) {
      const std::string& text = drawn[i].text;
      const auto number = read_number(text.starts_with("+") ? text.substr(1) : text);
      if (number && (text.starts_with("+") || text.starts_with("−"))) written.push_back(number->value);
    }
    ASSERT_EQ(written.size(), 6U);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(written[i], pushes[pushes.size() - 1 - i], 0.06 * std::abs(written[i])) << "up";
      EXPECT_NEAR(written[3 + i], pushes[i], 0.06 * std::abs(written[3 + i])) << "down";
    }
  }
}

// A neuron with a negative activation has the opposite effect: it promotes the tokens at its low end.
TEST(Mlp, ANeuronBelowZeroPushesTheOtherWay) {
  Scenario s = robot();
  int tried = 0;
  for (int layer = 0; layer < s.config().n_layer; ++layer) {
    s.select({layer, 0, kPosition});
    const Table table = ViewFixture("mlp", s, 1600, 1000, {{"neurons", "200"}}).table();
    const auto below =
        std::ranges::find_if(table.rows, [](const auto& row) { return row[3].starts_with('-'); });
    if (below == table.rows.end()) continue;
    ++tried;
    const std::string place = std::to_string(below - table.rows.begin());
    const ViewFixture shown("mlp", s, 1600, 1000, {{"neurons", "200"}, {"first-neuron", place}});
    const auto lines = shown.tooltip(shown.find(kNeuronRole, std::stoi(place)));
    const auto tokens = s.ask(TokensOfNeuron{layer, std::stoi((*below)[1])});
    EXPECT_EQ((*below)[4], std::to_string(tokens->down[0].id));
    EXPECT_GT(std::stod((*below)[6]), 0);
    const std::string label = viz::visible(bundled()->tokenizer->bytes(tokens->down[0].id));
    EXPECT_THAT(lines, Contains(HasSubstr("pushes up “" + label + "” +")));
    EXPECT_THAT(lines, Contains(HasSubstr("without ln_f")));
  }
  EXPECT_GT(tried, 0) << "no layer has one";
}

TEST(Mlp, DotsLieOnTheCurveOfGelu) {
  const ViewFixture shown("mlp", robot(), 1600, 1000);
  const auto curves = items_of<viz::Polyline>(shown.scene());
  ASSERT_EQ(curves.size(), 1U);
  int dots = 0;
  for (const viz::FillRect& disc : items_of<viz::FillRect>(shown.scene())) {
    if (disc.color != light().bar || disc.radius <= 0) continue;
    ++dots;
    const viz::Point at = disc.rect.center();
    const auto& points = curves[0].points;
    const auto behind = std::ranges::find_if(points, [&](viz::Point p) { return p.x >= at.x; });
    ASSERT_TRUE(behind != points.begin() && behind != points.end());
    const viz::Point a = *(behind - 1), b = *behind;
    EXPECT_NEAR(at.y, a.y + (b.y - a.y) * (at.x - a.x) / (b.x - a.x), 0.5);
  }
  EXPECT_EQ(dots, 16);
}

TEST(Mlp, ANeuronIsFramedWhereverItStands) {
  const Scenario s = robot();
  const ViewFixture shown("mlp", s, 1600, 1000);
  const int neuron = strongest(s)[0];
  for (const auto& [role, id, row, col] : {std::tuple{kNeuronRole, 0, 0, 0},
                                           {kCurveRole, 0, 0, 199},
                                           {kStripRole, static_cast<int>(before), 1, neuron},
                                           {kStripRole, static_cast<int>(after), 2, neuron}}) {
    SCOPED_TRACE(role);
    const int index = shown.find(role, id);
    ASSERT_GE(index, 0);
    const Facts facts = find_view("mlp")->facts(shown.context(), shown.picture(), {index, row, col});
    EXPECT_EQ(items_of<viz::StrokeRect>(facts.overlay).size(), 4U)
        << "in two strips, on the curve, in the table";
    EXPECT_EQ(facts.tooltip().at(0), "neuron " + std::to_string(neuron));
  }
  const auto lines = shown.tooltip(shown.find(kStripRole, output), output, 9);
  EXPECT_NEAR(number_after(lines, "mlp_out ")->value, reference(s).blocks[kLayer].mlp_out[kPosition][9],
              1e-4);
}

/// Answers everything except the tokens of neurons.
class NoTokens final : public Answers {
 public:
  explicit NoTokens(const Scenario& s) : s_(s) {}
  std::shared_ptr<const Answer> ask(const Question& question) override {
    if (question.name() == TokensOfNeuron::kName) {
      ++asked;
      return nullptr;
    }
    return s_.answers().ask(question);
  }
  int asked = 0;

 private:
  const Scenario& s_;
};

TEST(Mlp, ADifferenceOfNeuronsIsNamedAsOne) {
  EXPECT_EQ(Question(TokensOfNeuron{}).difference().name(), "difference in neuron tokens");
}

TEST(Mlp, AsksForTheTokensOfTheNeuronsThatShowAlone) {
  const Scenario s = robot();
  NoTokens answers(s);
  const ViewFixture shown("mlp", s.context(900, 700, answers));
  const auto rows = static_cast<int>(ids_of_role(shown.picture(), kNeuronRole).size());
  EXPECT_GT(rows, 5);
  EXPECT_LE(answers.asked, 2 * rows) << "and whether it failed";
  EXPECT_THAT(texts(shown.scene()), Contains("computing…"));
}

TEST(Mlp, ScrollsThroughTheNeurons) {
  const Scenario s = robot();
  const ViewFixture shown("mlp", s, 900, 700, {{"neurons", "200"}});
  EXPECT_EQ(in_words(shown.press(Key::down)), "first-neuron 1");
  EXPECT_EQ(in_words(shown.press(Key::left)), "query by -1");
  const ViewFixture later("mlp", s, 900, 700, {{"neurons", "200"}, {"first-neuron", "100"}});
  EXPECT_EQ(ids_of_role(later.picture(), kNeuronRole).front(), 100);
  const ViewFixture last("mlp", s, 900, 700, {{"neurons", "200"}, {"first-neuron", "199"}});
  EXPECT_EQ(ids_of_role(last.picture(), kNeuronRole).back(), 199);
}

TEST(Mlp, SaysThatTheFinalLayerNormIsLeftOut) {
  const Scenario s = robot();
  EXPECT_THAT(texts(ViewFixture("mlp", s, 1600, 1000).scene()), Contains(HasSubstr("without ln_f")));
  EXPECT_THAT(texts(ViewFixture("mlp", s, 800, 600).scene()), Contains(HasSubstr("without ln_f")));
}

}  // namespace
}  // namespace headscope::app::mlp_test
