// Attribution, saliency, circuits and composition: pictures against answers, clicks, and sums in tables.

#include "app/run/analyses/attribution.h"
#include "app/run/analyses/head_circuit.h"
#include "app/run/analyses/saliency.h"
#include "app/run/analyses/score_sources.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::attribution_test {
namespace {

using Kind = StreamSource::Kind;

constexpr int kGrid = 0;  // index of the region: the first one
constexpr int kListRole = 1;

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

TEST(AttributionView, TheTableHasEveryPartAndWhatEditsAdd) {
  const Scenario s = with_edits("L2.resid_mid[*][3]+=2");
  const Table table = table_of("attribution", s);
  const auto a = s.ask(AttributionOf{logit_at(s.length() - 1)});
  ASSERT_EQ(std::ssize(text_rows(table)), s.config().n_layer * (s.config().n_head + 2) + 4);
  EXPECT_NE(a->of({Kind::edits}), 0);
  EXPECT_EQ(in_table(table, "edits"), a->of({Kind::edits}));
  EXPECT_NEAR(sum_of(table, "part"), a->sum(), 1e-9);
  EXPECT_EQ(fact_of(table, "sum"), a->sum());
  EXPECT_EQ(fact_of(table, "value"), a->logit);
  EXPECT_EQ(fact_of(table, "rounding error"), a->rounding_error());
  EXPECT_EQ(fact_of(table, "token id"), a->measured.token.id());
  for (int layer = 0; layer < s.config().n_layer; ++layer) {
    const std::string name = "L" + std::to_string(layer);
    EXPECT_EQ(in_table(table, name + " MLP"), a->of({Kind::mlp, layer}));
    EXPECT_EQ(in_table(table, name + " bias"), a->of({Kind::attention_bias, layer}));
    for (int head = 0; head < s.config().n_head; ++head)
      EXPECT_EQ(in_table(table, head_name(layer, head)), a->of_head(layer, head));
  }
}

TEST(AttributionView, AClickSelectsTheHeadOrListsNeurons) {
  const Scenario s(kRobot);
  const ViewFixture shown("attribution", s, 1300, 700);
  const auto a = s.ask(AttributionOf{logit_at(s.length() - 1)});
  const viz::Region& grid = shown.region(kGrid);
  ASSERT_EQ(grid.row_count, s.config().n_layer);
  ASSERT_EQ(grid.col_count, s.config().n_head + 2);
  EXPECT_EQ(in_words(shown.click(kGrid, 2, 3)), "head 2 3");
  EXPECT_EQ(in_words(shown.click(kGrid, 2, s.config().n_head)), "") << "the bias is of no head";
  EXPECT_EQ(in_words(shown.click(kGrid, 3, s.config().n_head + 1)), "head 3 1, attribution-list neurons");
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
  ASSERT_EQ(std::ssize(parts), s.config().n_layer * (s.config().n_head + 2) + 3);
  EXPECT_TRUE(std::ranges::is_sorted(parts, std::greater<>(), magnitude));
  const std::vector<double> layers = listed(s, "layers");
  ASSERT_EQ(std::ssize(layers), s.config().n_layer + 3);
  for (int layer = 0; layer < s.config().n_layer; ++layer) {
    double sum = 0;
    for (std::size_t i = 0; i < a->parts.size(); ++i) sum += a->sources[i].layer == layer ? a->parts[i] : 0;
    EXPECT_NEAR(layers[layer + 2], sum, 1e-6);
  }
  EXPECT_TRUE(std::ranges::is_sorted(listed(s, "neurons"), std::greater<>(), magnitude));
  const ViewFixture sources("attribution", s, 1000, 2600, {{"attribution-list", "sources"}});
  EXPECT_NEAR(sum_of(sources.table(), "source"), a->of_head(3, 1), 1e-4);
  EXPECT_THAT(in_words(sources.click(sources.find(kListRole))), HasSubstr("key "));
  const Table table = table_of("attribution", s, {{"attribution-list", "neurons"}});
  EXPECT_NEAR(sum_of(table, "neuron"), a->of({Kind::mlp, 3}), 1e-4) << "with the output's bias";
  const auto of = s.ask(NeuronsOf{3, a->measured});
  const auto numbers = numbers_of(table, "neuron"), activations = numbers_of(table, "activation");
  int neuron = 0;
  for (std::size_t row = 0; row < table.rows(); ++row)
    if (!is_no_number(numbers[row])) {
      EXPECT_EQ(static_cast<float>(activations[row]), of->sizes[neuron++]);
    }
  EXPECT_EQ(neuron, s.config().n_inner);
}

TEST(AttributionView, ListsWhatTheGridHasNotInALowPaneToo) {
  const Scenario s(kRobot);
  for (const char* list : {"layers", "sources", "neurons"}) {
    const ViewFixture shown("attribution", s, 500, 400, {{"attribution-list", list}});
    EXPECT_FALSE(shown.all_of(kListRole).empty()) << list;
  }
}

/// With few parts the grid has them all; else the strongest, and all others together.
TEST(ScoreSourcesView, TheGridAddsUpToTheScore) {
  for (const int layer : {0, 1, 5}) {
    Scenario s(kRobot);
    s.select({layer, 1, 6, 3});
    const auto a = s.ask(ScoreSourcesOf{layer, 1, 6, 3});
    for (const auto& [width, height] : {std::pair{1600.F, 1000.F}, {900.F, 700.F}}) {
      const ViewFixture shown("score_sources", s, width, height);
      const viz::Region& grid = shown.region(kGrid);
      const bool all = grid.row_count == a->count();
      EXPECT_TRUE(all || layer > 0);
      EXPECT_LE(grid.row_count, 24);
      EXPECT_EQ(std::ranges::count(texts(shown.scene()), "others"), all ? 0 : 2);
      double sum = 0;
      for (int row = 0; row < grid.row_count; ++row)
        for (int col = 0; col < grid.col_count; ++col)
          sum += app::testing::number_after(shown.tooltip(kGrid, row, col), "scaled score ")->value;
      EXPECT_NEAR(sum, a->sum(), 1e-4);
      const Table table = shown.table();
      EXPECT_EQ(fact_of(table, "scaled score"), a->score);
      EXPECT_NEAR(fact_of(table, "sum") + fact_of(table, "rounding error"), a->score, 1e-9);
    }
  }
}

TEST(ScoreSourcesView, TheRowsThatAreSeenAndTheOthersAddUp) {
  const Scenario s(kRobot, {5, 1, 6, 3});
  const ViewFixture shown("score_sources", s, 900, 480);
  const std::vector<int> rows = ids_of_role(shown.picture(), kListRole);
  const auto of = s.ask(ScoreSourcesOf{5, 1, 6, 3});
  ASSERT_FALSE(rows.empty());
  ASSERT_LT(rows.size(), 30U) << "there is room for few";
  double others = of->sum();
  for (const int index : shown.all_of(kListRole))
    others -= app::testing::number_after(shown.tooltip(index), "scaled score ")->value;
  EXPECT_TRUE(shown.page().place_of(grouped(std::ssize(of->products) - std::ssize(rows)) + " others"));
  EXPECT_TRUE(shown.page().place_of(viz::fixed_number(others, 4)));
}

TEST(ScoreSourcesView, AClickGoesToTheHeadThatWroteThePart) {
  Scenario s(kRobot, {1, 2, 6, 3});
  const ViewFixture shown("score_sources", s, 1600, 1000);
  ASSERT_EQ(shown.region(kGrid).row_count, 14);
  EXPECT_EQ(in_words(shown.click(kGrid, 3, 5)), "head 0 3, query 3") << "that of k, which wrote at the key";
  EXPECT_EQ(in_words(shown.click(kGrid, 3, 0)), "head 0 1, query 6") << "an embedding is no head";
  EXPECT_TRUE(shown.click(kGrid, 0, 0).empty());
  const std::string at_query = "Show L0 H1 at query " + token_name(s.run->tokens, 6);
  EXPECT_EQ(in_words(shown.choose(at_query, kGrid, 3, 5)), "head 0 1, query 6");
}

constexpr int kRow = 0, kChip = 1;  // roles of the regions

SaliencyOf question(const Scenario& s, SaliencyMethod method, Metric metric = Metric::logit) {
  return {.measured = {.metric = metric, .position = s.selection.query}, .method = method};
}

TEST(SaliencyView, TheTableIsTheAnswer) {
  const Scenario s(kRobot);
  for (const auto& [name, method] : {std::pair("gradient-input", SaliencyMethod::gradient_input),
                                     std::pair("gradient-norm", SaliencyMethod::gradient_norm),
                                     std::pair("integrated", SaliencyMethod::integrated)}) {
    SCOPED_TRACE(name);
    const ViewFixture shown("saliency", s, 900, 700, {{"saliency-method", name}});
    const auto answer = s.ask(question(s, method));
    const Table table = shown.table();
    EXPECT_EQ(numbers_of(table, "share"), answer->parts);
    if (method != SaliencyMethod::integrated) continue;
    EXPECT_EQ(fact_of(table, "sum"), answer->sum());
    EXPECT_EQ(fact_of(table, "value"), answer->value);
    EXPECT_EQ(fact_of(table, "baseline value"), answer->start);
    EXPECT_EQ(fact_of(table, "error"), answer->error());
    EXPECT_EQ(fact_of(table, "gradients"), answer->gradients);
  }
}

TEST(SaliencyView, AClickChoosesTheTokenAndLaterOnesHaveNoRow) {
  Scenario s(kRobot);
  s.select({2, 1, 4});
  const ViewFixture logit("saliency", s, 900, 700);
  EXPECT_EQ(in_words(logit.click(logit.find(kChip, 2))), "key 2");
  EXPECT_EQ(in_words(logit.click(logit.find(kRow, 3))), "key 3");
  EXPECT_EQ(in_words(logit.click(logit.find(kChip, 5))), "query 5");
  EXPECT_EQ(logit.find(kRow, 5), -1);
  const ViewFixture loss("saliency", s, 900, 700, {{"saliency-metric", "loss"}});
  EXPECT_EQ(in_words(loss.click(loss.find(kRow, 4))), "query 4") << "the loss has no query";
}

constexpr int kRaised = 0;

/// Compares the ids and numbers of the highest and lowest tokens.
void expect_rows(const Table& table, const auto& tokens) {
  EXPECT_EQ(fact_of(table, "rank"), tokens.own_rank + 1);
  EXPECT_EQ(fact_of(table, "token id"), tokens.own.id);
  EXPECT_EQ(fact_of(table, table.columns[3].name.ends_with("logit") ? "logit" : "score"),
            decimal(tokens.own.logit));
  const auto rows = text_rows(table);
  ASSERT_EQ(rows.size(), tokens.up.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][1], std::to_string(tokens.up[i].id));
    EXPECT_EQ(rows[i][3], plain(tokens.up[i].logit));
    EXPECT_EQ(rows[i][6], plain(tokens.down[i].logit));
  }
}

TEST(Circuits, ShowWhatTheHeadWritesAtTheChosenKey) {
  Scenario s("A robot must obey the orders");
  const std::vector<int> ids = s.run->tokens.ids();
  for (const int key : {-1, 1}) {
    s.select({3, 2, 4, key});
    const auto tokens = s.ask(TokensOfHead{3, 2, {}, ids[key < 0 ? 4 : key]});
    const ViewFixture shown("circuits", s, 900, 600);
    EXPECT_EQ(ids_of_role(shown.picture(), kRaised).size(), tokens->up.size());
    expect_rows(shown.table(), *tokens);
    std::array<float, 2> longest{};  // bars of what is raised, and of what is lowered
    for (const auto& rect : items_of<viz::FillRect>(shown.scene()))
      for (const int down : {0, 1})
        if (rect.color == viz::sign_color(light(), down == 1 ? -1 : 1))
          longest[down] = std::max(longest[down], rect.rect.w);
    EXPECT_NEAR(longest[0] / longest[1], -tokens->up[0].logit / tokens->down[0].logit, 0.05);
  }
}

TEST(Circuits, ShowWhatTheHeadLooksFor) {
  const Scenario s("A robot must obey the orders", {3, 2, 4, 1});
  for (const bool mlp : {false, true}) {
    const auto keys = s.ask(KeysOfToken{3, 2, {mlp, true}, s.run->tokens.ids()[4]});
    const ViewFixture shown("circuits", s, 900, 600,
                            {{"circuit", "keys"}, {"first-mlp", mlp ? "yes" : "no"}});
    expect_rows(shown.table(), *keys);
  }
}

TEST(Circuits, ShowTheStrongestPairs) {
  Scenario s("A robot must obey the orders", {1, 3, 4, -1});
  const auto pairs = s.ask(PairsOfHead{1, 3, {false, false}});
  const ViewFixture shown("circuits", s, 1000, 600, {{"circuit", "pairs"}, {"token-norm", "no"}});
  const auto rows = text_rows(shown.table());
  ASSERT_EQ(rows.size(), pairs->size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][1], std::to_string((*pairs)[i].row));
    EXPECT_EQ(rows[i][3], std::to_string((*pairs)[i].col));
    EXPECT_EQ(rows[i][5], plain((*pairs)[i].value));
  }
}

TEST(CompositionView, TheTableHasEveryPairWithTheBaseline) {
  const Scenario s(kRobot);
  for (const auto& [name, kind] :
       {std::pair("q", CompositionKind::q), {"k", CompositionKind::k}, {"v", CompositionKind::v}}) {
    const Table table = table_of("composition", s, {{"composition", name}});
    const auto rows = text_rows(table);
    const auto c = s.ask(CompositionOf{kind});
    ASSERT_EQ(rows.size(), 8U * 8U * 15U) << "pairs of layers times pairs of heads";
    EXPECT_EQ(std::get<std::string>(std::ranges::find(table.facts, "kind", &TableFact::name)->value), name);
    EXPECT_EQ(fact_of(table, "random"), c->baseline);
    for (const auto& row : rows) {
      const int sender = 8 * std::stoi(row[0]) + std::stoi(row[1]),
                receiver = 8 * std::stoi(row[2]) + std::stoi(row[3]);
      ASSERT_TRUE(c->is_pair(sender, receiver));
      ASSERT_EQ(std::stof(row[4]), c->value(sender, receiver));
      ASSERT_EQ(std::stod(row[5]), c->excess(sender, receiver));
    }
  }
}

TEST(CompositionView, ListsTheStrongestPairsOfAllOrOfTheChosenHead) {
  Scenario s(kRobot, {2, 3, -1});
  const auto c = s.ask(CompositionOf{});
  for (const bool chosen : {false, true}) {
    const ViewFixture shown("composition", s, 1300, 4000, {{"composition-pairs", chosen ? "chosen" : "all"}});
    const auto expected = strongest_pairs(*c, chosen ? 0 : 60, false, chosen ? 19 : -1);
    const std::vector<int> rows = shown.all_of(kListRole);
    ASSERT_EQ(rows.size(), expected.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_EQ(shown.tooltip(rows[i])[0], head_name(expected[i].sender / 8, expected[i].sender % 8) + " → " +
                                               head_name(expected[i].receiver / 8, expected[i].receiver % 8));
    EXPECT_EQ(expected.size(), chosen ? 16U + 24U : 60U) << "16 senders, 24 receivers";
    EXPECT_THAT(texts(shown.scene()), ::testing::IsSupersetOf({"L0", "L1", "L2", "L3", "L4", "L5"}));
  }
}

TEST(NotFinite, NumbersAreDrawnAsWhatTheyAre) {
  for (const auto& [view, tensor, number] :
       {std::tuple{"score_sources", "h.1.attn.c_attn.bias", "scaled score"},
        {"composition", "h.0.attn.c_proj.weight", "composition"}}) {
    const TemporaryFolder folder;
    write_model_with_nan(folder, tensor);
    const Scenario s(Prompt{kRobot, {}, false}, {1, 0, 6, 3}, load_model(folder.path(), {}));
    const ViewFixture shown(view, s, 1600, 1000);
    EXPECT_EQ(senseless_item(shown.scene()), -1) << view;
    EXPECT_THAT(numbers_of(shown.table(), number), Contains(::testing::IsNan())) << view;
  }
}

}  // namespace
}  // namespace headscope::app::attribution_test
