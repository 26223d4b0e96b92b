// The attribution of a logit: the picture against the answer, clicks, and the sums in the table.

#include "app/run/analyses/attribution.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "viz/scene/scale.h"

namespace headscope::app::attribution_test {
namespace {

constexpr int kGrid = 0;  // index of the region: the first one
constexpr int kEndRole = 1, kListRole = 2;

/// The number of a part in the table.
double in_table(const Table& table, const std::string& name) {
  for (const auto& row : table.rows)
    if (row[0] == name && row[3].empty()) return std::stod(row[6]);
  ADD_FAILURE() << "no row " << name;
  return 0;
}

TEST(AttributionView, TheTableHasEveryPartAndAddsUp) {
  const Scenario s(kRobot);
  const ViewFixture shown("attribution", s, 1000, 600);
  const Table table = shown.table();
  const auto a = s.ask(AttributionOf{s.length() - 1});
  const int layers = s.config().n_layer, heads = s.config().n_head;
  ASSERT_EQ(std::ssize(table.rows), layers * (heads + 2) + 3 + 4);
  double sum = 0;
  for (int i = 0; i < layers * (heads + 2) + 3; ++i) sum += std::stod(table.rows[i][6]);
  EXPECT_NEAR(sum, in_table(table, "sum"), 1e-9);
  EXPECT_EQ(in_table(table, "sum"), a->sum());
  EXPECT_EQ(in_table(table, "logit of “" + label_of(shown.context(), a->token) + "”"), a->logit);
  EXPECT_NEAR(in_table(table, "sum") + in_table(table, "rounding error"), a->logit, 1e-9);
  for (int layer = 0; layer < layers; ++layer) {
    const std::string name = "L" + std::to_string(layer);
    EXPECT_EQ(in_table(table, name + " MLP"), a->mlps[layer]);
    EXPECT_EQ(in_table(table, name + " bias"), a->attention_bias[layer]);
    for (int head = 0; head < heads; ++head)
      EXPECT_EQ(in_table(table, head_name(layer, head)), a->head(layer, head));
  }
}

TEST(AttributionView, WhatEditsAddHasAPlaceOfItsOwn) {
  const Scenario s = with_edits("L2.resid_mid[*][3]+=2");
  const auto a = s.ask(AttributionOf{s.length() - 1});
  ASSERT_NE(a->edits, 0);
  for (const char* list : {"parts", "layers"}) {
    const ViewFixture shown("attribution", s, 1200, 2400, {{"attribution-list", list}});
    const Table table = shown.table();
    EXPECT_EQ(in_table(table, "edits"), a->edits);
    EXPECT_NEAR(in_table(table, "rounding error"), 0, 1e-4);
    int places = 0;  // in the grid's margin, and in the list
    for (std::size_t i = 0; i < shown.picture().regions.size(); ++i) {
      if (shown.picture().regions[i].role == 0) continue;
      const auto lines = shown.tooltip(static_cast<int>(i));
      if (lines.front() == "edits") {
        ++places;
        EXPECT_EQ(lines[1], "adds " + exact(a->edits) + " to the logit");
      }
    }
    EXPECT_EQ(places, 2) << list;
  }
  const ViewFixture none("attribution", Scenario(kRobot), 1200, 700);
  EXPECT_THAT(texts(none.scene()), Not(Contains("edits")));
}

TEST(AttributionView, FollowsTheQueryAndTheTokens) {
  Scenario s(kRobot, {1, 2, 5, -1});
  const ViewFixture shown("attribution", s, 1000, 600, {{"logit-rank", "2"}, {"against-rank", "1"}});
  const auto a = s.ask(AttributionOf{5, TokenChoice::best(1), TokenChoice::best(0)});
  EXPECT_LT(a->logit, 0) << "the second guess has less than the first";
  const std::string target =
      "“" + label_of(shown.context(), a->token) + "” − “" + label_of(shown.context(), a->against) + "”";
  EXPECT_THAT(texts(shown.scene()), Contains("Logit of " + target));
  EXPECT_EQ(in_table(shown.table(), "logit of " + target), a->logit);
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

TEST(AttributionView, HeadsAndOtherPartsHaveEachAScaleThatCoversTheLargest) {
  const Scenario s(kRobot);
  const auto a = s.ask(AttributionOf{s.length() - 1});
  double attention = 0, others = 0;
  for (int layer = 0; layer < a->layers; ++layer) {
    for (int head = 0; head < a->n_head(); ++head)
      attention = std::max(attention, std::abs(a->head(layer, head)));
    attention = std::max(attention, std::abs(a->attention_bias[layer]));
    others = std::max(others, std::abs(a->mlps[layer]));
  }
  for (const double end : {a->token_embedding, a->position_embedding, a->final_bias})
    others = std::max(others, std::abs(end));
  for (const auto& [width, height] : {std::pair{1300.F, 700.F}, {700.F, 700.F}}) {
    const ViewFixture shown("attribution", s, width, height);
    const viz::ColorTable of_attention(viz::diverging_scale(attention), light());
    const int mlp = a->n_head() + 1;
    const auto expect_bar = [&](const viz::Rect& cell, double value) {
      const auto bars = bars_in(shown.picture(), cell);
      ASSERT_EQ(bars.size(), 1U);
      EXPECT_NEAR(bars[0].rect.w, std::abs(value) / others * static_cast<double>(cell.w - 2), 0.01);
    };
    for (int layer = 0; layer < a->layers; ++layer) {
      for (int head = 0; head < a->n_head(); ++head)
        EXPECT_LE(channel_difference(*shown.color_of(kGrid, layer, head),
                                     of_attention(static_cast<float>(a->head(layer, head)))),
                  3)
            << layer << " " << head;
      // No colour that could be compared with a head's.
      EXPECT_EQ(*shown.color_of(kGrid, layer, mlp), of_attention(0)) << layer;
      expect_bar(shown.region(kGrid).cell_rect(layer, mlp), a->mlps[layer]);
    }
    const double ends[]{a->token_embedding, a->position_embedding, a->final_bias};
    for (const viz::Region& region : shown.picture().regions)
      if (region.role == kEndRole) expect_bar(region.rect, ends[region.id]);
    EXPECT_EQ(lying_bars(shown.scene()).size(), 1U);
    EXPECT_THAT(texts(shown.scene()),
                ::testing::IsSupersetOf(std::vector<std::string>{
                    "logit of heads and bias", viz::number(attention, 3),
                    "logit of MLPs and other parts, full bar " + viz::number(others, 3)}));
    EXPECT_EQ(text_faults(shown.scene(), *fonts()), "");
  }
}

TEST(AttributionView, InANarrowPaneItsScalesKeepTheirNames) {
  const Scenario s(kRobot);
  ViewContext c = s.context(250, 420);
  c.in_pane = true;
  const Picture picture = find_view("attribution")->build(c);
  EXPECT_EQ(lying_bars(picture.scene).size(), 1U);
  EXPECT_THAT(texts(picture.scene), Contains("heads, bias"));
  EXPECT_THAT(texts(picture.scene), Contains(StartsWith("MLPs, others: full bar ")));
  EXPECT_EQ(text_faults(picture.scene, *c.fonts), "");
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
  const Table table = shown.table();
  EXPECT_EQ(std::ssize(table.rows), a->layers * (a->n_head() + 2) + 7 + s.length());
  EXPECT_THAT(in_words(shown.click(shown.find(kListRole))), HasSubstr("key "));
}

/// Four parts outside the layers need the room that three do and that of a short word.
TEST(AttributionView, ThePartOfEditsFitsBesideTheOthers) {
  for (const float width : {520.F, 620.F, 760.F, 1000.F}) {
    const Picture plain = ViewFixture("attribution", Scenario(kRobot), width, 800).picture();
    const Picture edited =
        ViewFixture("attribution", with_edits("L2.attn_out[*]*=0.5"), width, 800).picture();
    EXPECT_EQ(ids_of_role(plain, kEndRole).size(), 3U) << width;
    EXPECT_EQ(ids_of_role(edited, kEndRole).size(), 4U) << width;
    for (const viz::Region& a : edited.regions)
      for (const viz::Region& b : edited.regions)
        EXPECT_TRUE(a.role != kEndRole || b.role != kEndRole || a.id >= b.id || a.rect.right() < b.rect.x);
  }
}

/// Sources are shown as the head's pattern and values give them; what edits of its output make of that is a
/// row.
TEST(AttributionView, SourcesAndEditsOfTheOutputAddUpToTheHead) {
  for (const char* edits : {"L2H1.z=0", "L2H1.z*=0.5", "L2H1.result[*][7]+=3", "L2.z=0.25"}) {
    SCOPED_TRACE(edits);
    const Scenario s = with_edits(edits);
    const auto a = s.ask(AttributionOf{s.length() - 1});
    const auto sources = s.ask(SourcesOf{2, 1, s.length() - 1, a->token, a->against});
    EXPECT_TRUE(sources->edited);
    EXPECT_NEAR(sources->sum(), a->head(2, 1), 1e-6);
    EXPECT_GT(std::abs(sources->edits), 1e-3);
    const ViewFixture shown("attribution", s, 1000, 1800, {{"attribution-list", "sources"}});
    EXPECT_THAT(texts(shown.scene()), Contains("edits of its output"));
    EXPECT_EQ(in_table(shown.table(), "edits of its output"), sources->edits);
  }
  const Scenario other = with_edits("L2H2.z=0");
  const auto a = other.ask(AttributionOf{other.length() - 1});
  EXPECT_FALSE(other.ask(SourcesOf{2, 1, other.length() - 1, a->token, a->against})->edited);
}

TEST(AttributionView, SaysWhatTheSumIs) {
  const Scenario s(kRobot);
  const ViewFixture shown("attribution", s, 1300, 700);
  const auto a = s.ask(AttributionOf{s.length() - 1});
  EXPECT_THAT(texts(shown.scene()), Contains(HasSubstr("all parts " + viz::fixed_number(a->sum(), 4))));
  EXPECT_THAT(texts(shown.scene()), Contains(HasSubstr(viz::number(a->rounding_error(), 2))));
  EXPECT_THAT(texts(shown.scene()), Contains("token embedding"));
}

TEST(AttributionView, ALogitsDifferenceIsNotThatOfItsProbability) {
  const auto all_words = [](Side side) {
    std::string words;
    const Scenario s = edited("L0H0.z=0");
    const ViewFixture shown("attribution", on(side, "attribution", s, 1300, 900));
    for (const std::string& text : texts(shown.scene())) words += text + " ";
    return words;
  };
  EXPECT_THAT(all_words(Side::difference), HasSubstr("the probability depends on all logits"));
  EXPECT_THAT(all_words(Side::run), Not(HasSubstr("the probability depends")));
}

/// An MLP's bar lists its neurons, and a head its sources.
TEST(AttributionView, AClickOnAnMlpListsItsNeurons) {
  const Scenario s(kRobot);
  const int mlp = s.config().n_head + 1;
  const std::string shows_neurons = "head 3 1, attribution-list neurons",
                    shows_sources = "head 2 3, attribution-list sources";
  const ViewFixture parts("attribution", s, 1300, 700);
  EXPECT_EQ(in_words(parts.click(kGrid, 3, mlp)), shows_neurons);
  EXPECT_EQ(in_words(parts.choose("Show neurons of L3 MLP", kGrid, 3, mlp)), shows_neurons);
  EXPECT_EQ(in_words(parts.click(kGrid, 2, 3)), "head 2 3");
  const ViewFixture neurons("attribution", s, 1300, 700, {{"attribution-list", "neurons"}});
  EXPECT_EQ(in_words(neurons.click(kGrid, 3, mlp)), shows_neurons);
  EXPECT_EQ(in_words(neurons.click(kGrid, 2, 3)), shows_sources);
}

TEST(AttributionView, ListsNeuronsStrongestFirst) {
  Scenario s(kRobot);
  s.select({3, 1, s.length() - 1, -1});
  const auto a = s.ask(AttributionOf{s.length() - 1});
  const auto of = s.ask(NeuronsOf{3, s.length() - 1, a->token, a->against});
  const ViewFixture shown("attribution", s, 1000, 1800, {{"attribution-list", "neurons"}});
  EXPECT_THAT(texts(shown.scene()), Contains("L3 neuron"));
  EXPECT_THAT(texts(shown.scene()), Contains("output bias"));
  EXPECT_THAT(texts(shown.scene()), Contains(viz::fixed_number(of->sum(), 4)));
  const std::vector<int> rows = shown.all_of(kListRole);
  ASSERT_GT(rows.size(), 10U);
  double before = std::numeric_limits<double>::infinity();
  for (const int row : rows) {
    const auto lines = shown.tooltip(row);
    ASSERT_THAT(lines.front(), StartsWith("L3 neuron "));
    const int neuron = std::stoi(lines.front().substr(10));
    EXPECT_EQ(lines[1], "adds " + exact(of->parts[neuron]) + " to the logit");
    EXPECT_EQ(lines[2], "activation " + exact(of->activations[neuron]));
    EXPECT_LE(std::abs(of->parts[neuron]), before);
    before = std::abs(of->parts[neuron]);
    EXPECT_EQ(shown.choose("Turn off neuron " + std::to_string(neuron), row).size(), 1U);
  }
  const Table table = shown.table();
  EXPECT_THAT(table.header, ElementsAre("part", "layer", "head", "neuron", "activation", "logit"));
  ASSERT_EQ(std::ssize(table.rows), a->layers * (a->n_head() + 2) + 7 + 1 + s.config().n_inner);
  for (int neuron = 0; neuron < s.config().n_inner; ++neuron)
    EXPECT_THAT(table.rows[table.rows.size() - s.config().n_inner + neuron],
                ElementsAre("L3 MLP", "3", "", std::to_string(neuron), plain(of->activations[neuron]),
                            plain(of->parts[neuron])));
}

TEST(AttributionView, NeuronsAndEditsOfTheOutputAddUpToTheMlp) {
  const Scenario s = with_edits("L2.mlp_out[*][7]+=3");
  const auto a = s.ask(AttributionOf{s.length() - 1});
  const ViewFixture shown("attribution", s, 1000, 1800, {{"attribution-list", "neurons"}});
  EXPECT_THAT(texts(shown.scene()), Contains("edits of its output"));
  const Table table = shown.table();
  double sum = 0;
  for (const auto& row : table.rows)
    if (row[0] == "L2 MLP" && !row[3].empty()) sum += std::stod(row[5]);
  for (const auto& row : table.rows)
    if (row[0] == "output bias of L2 MLP" || row[0] == "edits of its output") sum += std::stod(row[5]);
  EXPECT_NEAR(sum, a->mlps[2], 2e-5);
}

}  // namespace
}  // namespace headscope::app::attribution_test
