// The attribution of a logit: the picture against the answer, clicks, and the sums in the table.

#include "app/run/analyses/attribution.h"

#include <numeric>
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::attribution_test {
namespace {

constexpr int kGrid = 0;  // index of the region: the first one
constexpr int kListRole = 2;

/// The number of a part in the table.
double in_table(const Table& table, const std::string& name) {
  const auto parts = texts_of(table, "part");
  const auto found = std::ranges::find(parts, name);
  EXPECT_NE(found, parts.end()) << name;
  return found == parts.end() ? 0 : numbers_of(table, "logit")[found - parts.begin()];
}

/// The sum of the rows of a kind.
double sum_of(const Table& table, const std::string& kind) {
  const auto kinds = texts_of(table, "kind");
  const auto numbers = numbers_of(table, "logit");
  double sum = 0;
  for (std::size_t row = 0; row < kinds.size(); ++row)
    if (kinds[row] == kind) sum += numbers[row];
  return sum;
}

TEST(AttributionView, TheTableHasEveryPartAndAddsUp) {
  const Scenario s(kRobot);
  const Table table = ViewFixture("attribution", s, 1000, 600).table();
  const auto a = s.ask(AttributionOf{logit_at(s.length() - 1)});
  ASSERT_EQ(std::ssize(text_rows(table)), a->layers * (a->n_head() + 2) + 3);
  EXPECT_NEAR(sum_of(table, "part"), a->sum(), 1e-9);
  EXPECT_EQ(fact_of(table, "sum"), a->sum());
  EXPECT_EQ(fact_of(table, "value"), a->logit);
  EXPECT_EQ(fact_of(table, "rounding error"), a->rounding_error());
  EXPECT_EQ(fact_of(table, "token id"), a->measured.token.id());
  for (int layer = 0; layer < a->layers; ++layer) {
    const std::string name = "L" + std::to_string(layer);
    EXPECT_EQ(in_table(table, name + " MLP"), a->mlps[layer]);
    EXPECT_EQ(in_table(table, name + " bias"), a->attention_bias[layer]);
    for (int head = 0; head < a->n_head(); ++head)
      EXPECT_EQ(in_table(table, head_name(layer, head)), a->head(layer, head));
  }
}

TEST(AttributionView, WhatEditsAddHasARowOfItsOwn) {
  const Scenario s = with_edits("L2.resid_mid[*][3]+=2");
  const auto a = s.ask(AttributionOf{logit_at(s.length() - 1)});
  ASSERT_NE(a->edits, 0);
  const Table table = ViewFixture("attribution", s, 1200, 2400).table();
  EXPECT_EQ(in_table(table, "edits"), a->edits);
  EXPECT_NEAR(fact_of(table, "rounding error"), 0, 1e-4);
}

TEST(AttributionView, FollowsTheQueryAndTheTokens) {
  const Scenario s(kRobot, {1, 2, 5, -1});
  const ViewFixture shown("attribution", s, 1000, 600, {{"token", "rank:2"}, {"against", "rank:1"}});
  const auto a = s.ask(AttributionOf{difference_at(5, TokenRef::best(2), TokenRef::best())});
  EXPECT_LT(a->logit, 0) << "the second guess has less than the first";
  EXPECT_EQ(fact_of(shown.table(), "sum"), a->sum());
  const std::string text = s.run->model->tokenizer->text(a->measured.token.id()),
                    id = std::to_string(a->measured.token.id());
  for (const std::string& token : {"text:" + text, "id:" + id}) {
    const ViewFixture same("attribution", s, 1000, 600, {{"token", token}, {"against", "rank:1"}});
    EXPECT_EQ(texts(same.scene()), texts(shown.scene())) << token;
  }
}

TEST(AttributionView, SaysThatItHasNoSuchToken) {
  const Scenario s(kRobot);
  for (const auto& [token, words] :
       std::vector<std::pair<const char*, const char*>>{{"id:9999999", "there is no token 9999999"},
                                                        {"rank:9999999", "there is no rank"},
                                                        {"a robot", "takes one token"}}) {
    ViewContext c = s.context(1000, 600);
    set(c, "against", token);
    EXPECT_THAT(find_view("attribution")->refuse(c), AllOf(HasSubstr(words), HasSubstr("--other-token")));
    EXPECT_THAT(texts(find_view("attribution")->build(c).scene), Contains(HasSubstr(words)));
  }
}

TEST(AttributionView, NumbersAndNamesAreReadInSmallPanes) {
  const TemporaryFolder folder;
  write_other_model(folder, {.layers = 4, .heads = 4, .width = 24, .positions = 64, .vocabulary = 4096});
  const Scenario s(Prompt{kRobot, {}, false}, {2, 1, -1}, load_model(folder.path(), {}));
  const auto a = s.ask(AttributionOf{logit_at(s.length() - 1)});
  for (const auto& [width, height] : {std::pair{463.F, 317.F}, {668.F, 1300.F}}) {
    ViewContext pane = s.context(width, height);
    pane.in_pane = true;
    const auto words = texts(ViewFixture("attribution", pane).scene());
    for (const double mlp : a->mlps) EXPECT_THAT(words, Contains(viz::fixed_number(mlp, 2))) << width;
    if (width > 600) {
      EXPECT_THAT(words, Contains("token embedding"));
    }
  }
}

TEST(AttributionView, AClickSelectsTheHeadOrListsNeurons) {
  const Scenario s(kRobot);
  const ViewFixture shown("attribution", s, 1300, 700);
  const auto a = s.ask(AttributionOf{logit_at(s.length() - 1)});
  const viz::Region& grid = shown.region(kGrid);
  ASSERT_EQ(grid.row_count, a->layers);
  ASSERT_EQ(grid.col_count, a->n_head() + 2);
  EXPECT_EQ(in_words(shown.click(kGrid, 2, 3)), "head 2 3");
  EXPECT_EQ(in_words(shown.click(kGrid, 2, a->n_head())), "") << "the bias is of no head";
  EXPECT_EQ(in_words(shown.click(kGrid, 3, a->n_head() + 1)), "head 3 1, attribution-list neurons");
  const ViewFixture neurons("attribution", s, 1300, 700, {{"attribution-list", "neurons"}});
  EXPECT_EQ(in_words(neurons.click(kGrid, 2, 3)), "head 2 3, attribution-list sources");
}

/// The contributions in the rows of a list, from the top.
std::vector<double> listed(const Scenario& s, const std::string& list) {
  const ViewFixture shown("attribution", s, 1000, 2600, {{"attribution-list", list}});
  std::vector<double> values;
  for (const int row : shown.all_of(kListRole))
    values.push_back(number_after(shown.tooltip(row), "logit ")->value);
  return values;
}

TEST(AttributionView, ListsPartsSourcesAndNeuronsStrongestFirst) {
  Scenario s(kRobot);
  s.select({3, 1, s.length() - 1, 3});
  const auto a = s.ask(AttributionOf{logit_at(s.length() - 1)});
  const auto magnitude = [](double v) { return std::abs(v); };
  const std::vector<double> parts = listed(s, "parts");
  ASSERT_EQ(std::ssize(parts), a->layers * (a->n_head() + 2) + 3);
  EXPECT_TRUE(std::ranges::is_sorted(parts, std::greater<>(), magnitude));
  const std::vector<double> layers = listed(s, "layers");
  ASSERT_EQ(std::ssize(layers), a->layers + 3);
  for (int layer = 0; layer < a->layers; ++layer) EXPECT_NEAR(layers[layer + 2], a->layer(layer), 1e-6);
  const std::vector<double> sources = listed(s, "sources");
  EXPECT_NEAR(std::accumulate(sources.begin(), sources.end(), 0.0), a->head(3, 1), 1e-4);
  EXPECT_TRUE(std::ranges::is_sorted(listed(s, "neurons"), std::greater<>(), magnitude));
  // The table has them, too.
  const ViewFixture shown("attribution", s, 1000, 2600, {{"attribution-list", "sources"}});
  EXPECT_NEAR(sum_of(shown.table(), "source"), a->head(3, 1), 1e-4);
  EXPECT_THAT(in_words(shown.click(shown.find(kListRole))), HasSubstr("key "));
  const Table table = ViewFixture("attribution", s, 1000, 600, {{"attribution-list", "neurons"}}).table();
  EXPECT_NEAR(sum_of(table, "neuron"), a->mlps[3], 1e-4) << "with the output's bias";
  const auto of = s.ask(NeuronsOf{3, a->measured});
  const auto numbers = numbers_of(table, "neuron"), activations = numbers_of(table, "activation");
  int neuron = 0;
  for (std::size_t row = 0; row < table.rows(); ++row)
    if (!is_no_number(numbers[row])) {
      EXPECT_EQ(static_cast<float>(activations[row]), of->activations[neuron++]);
    }
  EXPECT_EQ(neuron, s.config().n_inner);
}

}  // namespace
}  // namespace headscope::app::attribution_test
