// The attribution of a logit: the picture against the answer, clicks, and the sums in the table.

#include "app/run/analyses/attribution.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "viz/scene/scale.h"

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
  const auto a = s.ask(AttributionOf{s.length() - 1});
  const int layers = s.config().n_layer, heads = s.config().n_head;
  ASSERT_EQ(std::ssize(text_rows(table)), layers * (heads + 2) + 3);
  EXPECT_NEAR(sum_of(table, "part"), a->sum(), 1e-9);
  EXPECT_EQ(fact_of(table, "sum"), a->sum());
  EXPECT_EQ(fact_of(table, "value"), a->logit);
  EXPECT_EQ(fact_of(table, "rounding error"), a->rounding_error());
  EXPECT_EQ(fact_of(table, "token id"), a->token);
  for (int layer = 0; layer < layers; ++layer) {
    const std::string name = "L" + std::to_string(layer);
    EXPECT_EQ(in_table(table, name + " MLP"), a->mlps[layer]);
    EXPECT_EQ(in_table(table, name + " bias"), a->attention_bias[layer]);
    for (int head = 0; head < heads; ++head)
      EXPECT_EQ(in_table(table, head_name(layer, head)), a->head(layer, head));
  }
}

TEST(AttributionView, WhatEditsAddHasARowOfItsOwn) {
  const Scenario s = with_edits("L2.resid_mid[*][3]+=2");
  const auto a = s.ask(AttributionOf{s.length() - 1});
  ASSERT_NE(a->edits, 0);
  const Table table = ViewFixture("attribution", s, 1200, 2400).table();
  EXPECT_EQ(in_table(table, "edits"), a->edits);
  EXPECT_NEAR(fact_of(table, "rounding error"), 0, 1e-4);
}

TEST(AttributionView, FollowsTheQueryAndTheTokens) {
  const Scenario s(kRobot, {1, 2, 5, -1});
  const ViewFixture shown("attribution", s, 1000, 600, {{"token", "rank:2"}, {"against", "rank:1"}});
  const auto a = s.ask(AttributionOf{5, TokenChoice::best(1), TokenChoice::best(0)});
  EXPECT_LT(a->logit, 0) << "the second guess has less than the first";
  EXPECT_EQ(fact_of(shown.table(), "sum"), a->sum());
  const std::string text = s.run->model->tokenizer->text(a->token), id = std::to_string(a->token);
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

/// The bars within an area, from the picture's bottom up: of MLPs and of the parts outside the layers.
std::vector<viz::FillRect> bars_in(const Picture& picture, const viz::Rect& area) {
  std::vector<viz::FillRect> bars;
  for (const viz::FillRect& fill : items_of<viz::FillRect>(picture.scene)) {
    const bool is_signed =
        fill.color == viz::sign_color(light(), 1) || fill.color == viz::sign_color(light(), -1);
    if (is_signed && area.encloses(fill.rect)) bars.push_back(fill);
  }
  return bars;
}

TEST(AttributionView, ColoursAreSignedAndTheMouseTellsTheNumber) {
  const Scenario s(kRobot);
  const ViewFixture shown("attribution", s, 1300, 700);
  const auto a = s.ask(AttributionOf{s.length() - 1});
  const viz::Region& grid = shown.region(kGrid);
  ASSERT_EQ(grid.row_count, a->layers);
  ASSERT_EQ(grid.col_count, a->n_head() + 2);
  const viz::ColorScale sign = viz::diverging_scale(1);
  for (int layer = 0; layer < a->layers; ++layer) {
    for (int col = 0; col < grid.col_count; ++col) {
      const double value = col < a->n_head()    ? a->head(layer, col)
                           : col == a->n_head() ? a->attention_bias[layer]
                                                : a->mlps[layer];
      EXPECT_THAT(shown.tooltip(kGrid, layer, col), Contains(HasSubstr("adds " + exact(value))));
      if (std::abs(value) < 0.5) continue;
      auto color = shown.color_of(kGrid, layer, col);
      if (col > a->n_head()) {
        const auto bars = bars_in(shown.picture(), grid.cell_rect(layer, col));
        ASSERT_EQ(bars.size(), 1U);
        color = bars[0].color;
      }
      ASSERT_TRUE(color);
      const viz::Color end = sign.color(light(), value);
      EXPECT_EQ(color->r > color->b, end.r > end.b) << layer << " " << col << ": " << value;
    }
  }
  EXPECT_EQ(in_words(shown.click(kGrid, 2, 3)), "head 2 3");
  EXPECT_EQ(in_words(shown.click(kGrid, 2, a->n_head())), "") << "the bias is of no head";
  EXPECT_EQ(in_words(shown.choose("Copy contribution " + exact(a->head(2, 3)), kGrid, 2, 3)),
            "copy " + plain(a->head(2, 3)));
}

TEST(AttributionView, ListsPartsStrongestFirstLayersAndSources) {
  Scenario s(kRobot);
  s.select({2, 1, s.length() - 1, 3});
  const auto a = s.ask(AttributionOf{s.length() - 1});
  const auto values_of = [&](const std::string& list) {
    const ViewFixture shown("attribution", s, 1000, 1800, {{"attribution-list", list}});
    std::vector<double> values;
    for (const int i : shown.all_of(kListRole)) {
      const auto lines = shown.tooltip(i);
      EXPECT_GE(lines.size(), 2U);
      if (lines.size() >= 2) values.push_back(viz::testing::number_after(lines[1], "adds ")->value);
    }
    return values;
  };
  const std::vector<double> parts = values_of("parts");
  ASSERT_EQ(std::ssize(parts), a->layers * (a->n_head() + 2) + 3);
  EXPECT_TRUE(std::ranges::is_sorted(parts, std::greater<>(), [](double v) { return std::abs(v); }));
  const std::vector<double> layers = values_of("layers");
  ASSERT_EQ(std::ssize(layers), a->layers + 3);
  for (int layer = 0; layer < a->layers; ++layer) EXPECT_NEAR(layers[layer + 2], a->layer(layer), 1e-6);
  double sum = 0;
  for (const double part : values_of("sources")) sum += part;
  EXPECT_NEAR(sum, a->head(2, 1), 1e-4);
  // The table contains the sources, too, and clicking one selects the key.
  const ViewFixture shown("attribution", s, 1000, 1800, {{"attribution-list", "sources"}});
  EXPECT_NEAR(sum_of(shown.table(), "source"), a->head(2, 1), 1e-4);
  EXPECT_THAT(in_words(shown.click(shown.find(kListRole))), HasSubstr("key "));
}

TEST(AttributionView, AClickOnAnMlpListsItsNeurons) {
  const Scenario s(kRobot);
  const int mlp = s.config().n_head + 1;
  const ViewFixture parts("attribution", s, 1300, 700);
  EXPECT_EQ(in_words(parts.click(kGrid, 3, mlp)), "head 3 1, attribution-list neurons");
  EXPECT_EQ(in_words(parts.click(kGrid, 2, 3)), "head 2 3");
  const ViewFixture neurons("attribution", s, 1300, 700, {{"attribution-list", "neurons"}});
  EXPECT_EQ(in_words(neurons.click(kGrid, 2, 3)), "head 2 3, attribution-list sources");
}

TEST(AttributionView, ListsNeuronsStrongestFirst) {
  Scenario s(kRobot);
  s.select({3, 1, s.length() - 1, -1});
  const auto a = s.ask(AttributionOf{s.length() - 1});
  const auto of = s.ask(NeuronsOf{3, s.length() - 1, a->token, a->against});
  const ViewFixture shown("attribution", s, 1000, 1800, {{"attribution-list", "neurons"}});
  const std::vector<int> rows = shown.all_of(kListRole);
  ASSERT_GT(rows.size(), 10U);
  double before = std::numeric_limits<double>::infinity();
  for (const int row : rows) {
    const auto lines = shown.tooltip(row);
    ASSERT_THAT(lines.front(), StartsWith("L3 neuron "));
    const int neuron = std::stoi(lines.front().substr(10));
    EXPECT_EQ(lines[1], "adds " + exact(of->parts[neuron]) + " to the logit");
    EXPECT_LE(std::abs(of->parts[neuron]), before);
    before = std::abs(of->parts[neuron]);
  }
  const Table table = shown.table();
  EXPECT_NEAR(sum_of(table, "neuron"), a->mlps[3], 1e-4) << "with the output's bias";
  const auto numbers = numbers_of(table, "neuron"), activations = numbers_of(table, "activation"),
             logits = numbers_of(table, "logit");
  int neuron = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (is_no_number(numbers[row])) continue;
    EXPECT_EQ(numbers[row], neuron);
    EXPECT_EQ(static_cast<float>(activations[row]), of->activations[neuron]);
    EXPECT_EQ(logits[row], of->parts[neuron++]);
  }
  EXPECT_EQ(neuron, s.config().n_inner);
}

}  // namespace
}  // namespace headscope::app::attribution_test
