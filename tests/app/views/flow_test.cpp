// The flow to a logit as a picture: what is drawn and the rest add up to the logit, widths are what the
// numbers say, no text covers another, and the mouse tells the numbers.

#include "app/run/analyses/logit_flow.h"

#include <numeric>

#include "app/run/analyses/next_token.h"
#include "app/views/output/flow_paint.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/names.h"
#include "model/pass/statistics.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "tests/viz/color_science.h"
#include "tests/viz/text_boxes.h"

namespace headscope::app::flow_test {
namespace {

using namespace flow_picture;

constexpr const char* kMary = "When Mary and John went to the store, John gave a drink to";

const viz::Style& style() {
  static const viz::Style all{light(), *viz::testing::fonts()};
  return all;
}

double drawn_and_rest(const Graph& graph) {
  double sum = graph.rest;
  for (const Column& column : graph.columns) sum += column.sources();
  return sum;
}

/// At every layer of every column, what is drawn and the rest make the one width of the other.
void expect_balanced(const Graph& graph) {
  for (const Column& column : graph.columns) {
    EXPECT_NEAR(column.stream[0], column.embedding, 1e-5 * std::max(1.0, std::abs(graph.logit)));
    for (int layer = 0; layer < graph.layers; ++layer) {
      const auto l = static_cast<std::size_t>(layer);
      EXPECT_NEAR(column.stream[l + 1],
                  column.stream[l] - column.sent[l] + column.arrived[l] + column.mlps[l] + column.rest[l],
                  1e-5 * std::max(1.0, std::abs(graph.logit)))
          << "position " << column.position << ", layer " << layer;
    }
  }
}

TEST(FlowGraph, WhatIsDrawnAndTheRestAreTheLogit) {
  for (const char* text : {kMary, "The little fox and the old bear ran. The little fox and the old"}) {
    const Scenario s(text);
    const int position = s.length() - 1;
    const auto flow = s.ask(LogitFlowOf{position});
    const double logit = reference(s).logits[static_cast<std::size_t>(position)][flow->token];
    for (const int edges : {0, 1, 24, 200}) {
      for (const FirstToken first : {FirstToken::stubs, FirstToken::edges, FirstToken::hidden}) {
        const Graph graph = graph_of(*flow, {edges, 0, first});
        EXPECT_NEAR(drawn_and_rest(graph), logit, 1e-5 * std::abs(logit)) << edges;
        expect_balanced(graph);
        EXPECT_EQ(std::ssize(graph.edges), edges);
      }
    }
  }
}

TEST(FlowGraph, HoldsWithEditsAndForAModelOfAnotherShape) {
  for (const char* edits : {"L2.resid_mid[*][3]+=2", "L4H1.z=0", "L3.resid_pre*=0.5", "L0.attn_out=0"}) {
    const Scenario s = with_edits(edits);
    const auto flow = s.ask(LogitFlowOf{s.length() - 1});
    const Graph graph = graph_of(*flow, {});
    EXPECT_NEAR(drawn_and_rest(graph), flow->logit, 1e-5 * std::max(1.0, std::abs(flow->logit))) << edits;
    expect_balanced(graph);
  }
  const TemporaryFolder folder;
  write_other_model(folder, {.layers = 5, .heads = 3, .width = 24, .positions = 64, .vocabulary = 4096});
  const Scenario s(Prompt{kMary, {}, false}, {}, load_model(folder.path(), {}));
  const ReferenceGpt2 model(folder.path());
  const int position = s.length() - 1;
  const auto flow = s.ask(LogitFlowOf{position});
  const double logit = model.run(s.run->tokens.ids()).logits[static_cast<std::size_t>(position)][flow->token];
  EXPECT_NEAR(drawn_and_rest(graph_of(*flow, {})), logit, 1e-5 * std::abs(logit));
}

TEST(FlowGraph, DrawsTheStrongestEdgesThatLeadOn) {
  const Scenario& s = scenario(40);
  const auto flow = s.ask(LogitFlowOf{39});
  const Graph graph = graph_of(*flow, {60, 0, FirstToken::edges});
  ASSERT_EQ(std::ssize(graph.edges), 60);
  double least = INFINITY;
  for (const FlowEdge& edge : graph.edges) {
    EXPECT_LE(std::abs(edge.value), least);
    least = std::abs(edge.value);
    EXPECT_TRUE(edge.query == 39 || std::ranges::any_of(graph.edges, [&](const FlowEdge& next) {
                  return next.key == edge.query && next.layer > edge.layer;
                }));
    EXPECT_GE(graph.column_of(edge.query), 0);
    EXPECT_GE(graph.column_of(edge.key), 0);
  }
  // None to the target was passed over for a weaker one.
  for (const FlowEdge& edge : flow->edges) {
    if (edge.query == 39 && std::abs(edge.value) > least) {
      EXPECT_TRUE(std::ranges::count(graph.edges, edge) == 1);
    }
  }
  for (const FlowEdge& edge : graph_of(*flow, {60, 0.05, FirstToken::hidden}).edges) {
    EXPECT_GE(std::abs(edge.value), 0.05);
    EXPECT_NE(edge.key, 0);
  }
}

// ---- the layout ----

Poster poster_of(const Graph& graph, FirstToken first = FirstToken::stubs) {
  Poster poster;
  poster.graph = graph;
  poster.first = first;
  for (int i = 0; i <= graph.columns.back().position; ++i) poster.tokens.push_back("t" + std::to_string(i));
  for (std::size_t i = 0; i < graph.edges.size(); ++i) poster.edges.push_back("L0 H0 +0.00");
  poster.mlps.assign(graph.columns.size(), std::vector<std::string>(graph.layers, "MLP 0 +0.00"));
  poster.rest = "rest";
  return poster;
}

TEST(FlowLayout, WidthsAreWhatTheStreamsCarry) {
  const Scenario s(kMary);
  const Graph graph = graph_of(*s.ask(LogitFlowOf{s.length() - 1}), {});
  const Layout layout = lay_out(poster_of(graph), {20, 20, 1100, 760}, 80, style());
  ASSERT_TRUE(layout.fits);
  int compared = 0;
  for (const Slice& slice : layout.slices) {
    EXPECT_GE(slice.right0 - slice.left0, -1e-3F);
    EXPECT_GE(slice.right1 - slice.left1, -1e-3F);
    for (int layer = 0; layer <= graph.layers; ++layer) {
      if (slice.y1 != layout.levels[static_cast<std::size_t>(layer)] || slice.y0 <= slice.y1) continue;
      const double stream = graph.columns[static_cast<std::size_t>(slice.column)].stream[layer];
      EXPECT_NEAR(slice.right1 - slice.left1, std::abs(stream) * layout.scale, 0.02);
      ++compared;
    }
  }
  EXPECT_GT(compared, graph.layers * 3);
  for (const Strand& strand : layout.strands) {
    if (strand.edge < 0) continue;
    const double value = graph.edges[static_cast<std::size_t>(strand.edge)].value;
    EXPECT_NEAR(strand.width, std::max(1.0, std::abs(value) * layout.scale), 1e-3);
    EXPECT_EQ(strand.negative, value < 0);
  }
  EXPECT_EQ(std::ranges::count_if(layout.strands, [](const Strand& strand) { return strand.edge >= 0; }),
            std::ssize(graph.edges));
}

/// The ribbon that ends in the logit is as wide as the logit.
TEST(FlowLayout, TheTargetsRibbonEndsInTheLogit) {
  const Scenario s(kMary);
  const Graph graph = graph_of(*s.ask(LogitFlowOf{s.length() - 1}), {});
  const Layout layout = lay_out(poster_of(graph), {20, 20, 1100, 760}, 80, style());
  const int target = graph.column_of(graph.target);
  const auto last = std::ranges::find_if(layout.slices.rbegin(), layout.slices.rend(),
                                         [&](const Slice& slice) { return slice.column == target; });
  EXPECT_NEAR(last->right1 - last->left1, std::abs(graph.logit) * layout.scale, 0.02);
}

float ink_of_ribbons(const Layout& layout) {
  float ink = 0;
  for (const Slice& slice : layout.slices)
    ink += (slice.y0 - slice.y1) * (slice.right0 - slice.left0 + slice.right1 - slice.left1) / 2;
  return ink;
}

/// Stubs keep attention to the first token below a third of the ink, even where most edges go there.
TEST(FlowLayout, TheFirstTokenTakesLessThanAThirdOfTheInk) {
  const Scenario s(kMary);
  LogitFlow flow = *s.ask(LogitFlowOf{s.length() - 1});
  for (const bool most : {false, true}) {
    if (most) {  // as in larger models
      int number = 0;
      for (FlowEdge& edge : flow.edges)
        if (edge.query == flow.position && number++ % 5 != 0) edge.key = 0;
    }
    const auto share = [&](FirstToken first) {
      const Graph graph = graph_of(flow, {24, 0, first});
      const Layout layout = lay_out(poster_of(graph, first), {20, 20, 1100, 760}, 80, style());
      EXPECT_TRUE(layout.fits);
      float of_first = 0, strands = 0;
      for (const Strand& strand : layout.strands) {
        if (strand.edge < 0) continue;
        const FlowEdge& edge = graph.edges[static_cast<std::size_t>(strand.edge)];
        strands += area_of(strand);
        if (edge.key == 0 && edge.query != 0) of_first += area_of(strand);
      }
      return std::pair{of_first / strands, of_first / (strands + ink_of_ribbons(layout))};
    };
    const auto [of_strands, of_all] = share(FirstToken::stubs);
    EXPECT_LT(of_strands, 1.F / 3) << most;
    EXPECT_LT(of_all, 1.F / 3) << most;
    EXPECT_GT(of_all, 0);
    EXPECT_GT(share(FirstToken::edges).first, 2 * of_strands);
    EXPECT_EQ(share(FirstToken::hidden).first, 0);
  }
}

// ---- the picture ----

/// The sizes: A3 across, a column of text, a talk's slide, a pane.
constexpr std::array<std::pair<float, float>, 4> kSizes{{{1191, 842}, {468, 560}, {1600, 900}, {900, 700}}};

TEST(FlowView, NoTextCoversAnother) {
  for (const int length : {1, 12, 17, 50, 100}) {
    for (const auto& [width, height] : kSizes) {
      for (const char* edges : {"24", "200"}) {
        SCOPED_TRACE(std::to_string(length) + " tokens, " + std::to_string(width) + " x " +
                     std::to_string(height) + ", " + edges + " edges");
        const ViewFixture shown("flow", scenario(length), width, height, {{"flow-edges", edges}});
        EXPECT_EQ(text_faults(shown.scene(), *viz::testing::fonts()), "");
        if (std::string_view(edges) == "24") {
          EXPECT_TRUE(shown.picture().readable);
        }
      }
    }
  }
}

TEST(FlowView, FitsModelsOfFourToTwelveLayers) {
  for (const int layers : {4, 12}) {
    const TemporaryFolder folder;
    write_other_model(folder,
                      {.layers = layers, .heads = 4, .width = 32, .positions = 64, .vocabulary = 4096});
    const Scenario s(Prompt{kMary, {}, false}, {}, load_model(folder.path(), {}));
    for (const auto& [width, height] : kSizes) {
      SCOPED_TRACE(std::to_string(layers) + " layers, " + std::to_string(width) + " x " +
                   std::to_string(height));
      const ViewFixture shown("flow", s, width, height);
      EXPECT_EQ(text_faults(shown.scene(), *viz::testing::fonts()), "");
      EXPECT_TRUE(shown.picture().readable);
      EXPECT_FALSE(shown.all_of(kEdge).empty());
    }
  }
}

/// Edits may let the target see later tokens, which then stand to its right.
TEST(FlowView, DrawsEdgesFromLaterTokens) {
  const Scenario s = with_edits("mask=none", {2, 1, 7}, kMary);
  const auto flow = s.ask(LogitFlowOf{7});
  const Graph graph = graph_of(*flow, {});
  EXPECT_NEAR(drawn_and_rest(graph), flow->logit, 1e-5 * std::max(1.0, std::abs(flow->logit)));
  expect_balanced(graph);
  EXPECT_GT(graph.columns.back().position, 7);
  const Layout layout = lay_out(poster_of(graph), {20, 20, 1100, 760}, 80, style());
  for (const ColumnPlace& column : layout.columns) EXPECT_LE(column.rect.right(), layout.rest.x);
  for (const auto& [width, height] : kSizes)
    EXPECT_EQ(text_faults(ViewFixture("flow", s, width, height).scene(), *viz::testing::fonts()), "");
}

TEST(FlowView, ElidesTokensWithoutFlowAndSaysHowMany) {
  const ViewFixture shown("flow", scenario(100), 1600, 900);
  int elided = 0;
  for (const std::string& text : texts(shown.scene())) {
    if (text.ends_with(" more")) elided += std::stoi(text);
  }
  std::set<int> named;
  for (const int region : shown.all_of(kToken)) named.insert(shown.region(region).id);
  EXPECT_EQ(std::ssize(named) + elided, 100);
}

TEST(FlowView, TheMouseTellsWhatAnEdgeCarries) {
  const Scenario s(kMary);
  const ViewFixture shown("flow", s, 1191, 842, {{"flow-edges", "24"}});
  const Graph graph = graph_of(*s.ask(LogitFlowOf{s.length() - 1}), {});
  for (const int id : {0, 5, 23}) {
    const FlowEdge& edge = graph.edges[static_cast<std::size_t>(id)];
    const int region = shown.find(kEdge, id);
    ASSERT_GE(region, 0);
    const auto lines = shown.tooltip(region);
    EXPECT_EQ(lines[0], head_name(edge.layer, edge.head) + ": from " + token_name(s.run->tokens, edge.key) +
                            " to " + token_name(s.run->tokens, edge.query));
    EXPECT_EQ(lines[1], edge.value < 0 ? "takes " + viz::fixed_number(-edge.value, 2) + " from the logit"
                                       : "adds " + viz::fixed_number(edge.value, 2) + " to the logit");
    EXPECT_EQ(in_words(shown.choose("Copy contribution " + exact(edge.value), region)),
              "copy " + plain(edge.value));
    EXPECT_THAT(lines[2], HasSubstr("% of the logit"));
    EXPECT_EQ(in_words(shown.click(region)),
              "head " + std::to_string(edge.layer) + " " + std::to_string(edge.head) + ", query " +
                  std::to_string(edge.query) + ", key " + std::to_string(edge.key) + ", show heatmap");
  }
}

TEST(FlowView, ClicksSelectTokensLayersAndTheTokenOfTheLogit) {
  const Scenario s(kMary);
  const ViewFixture shown("flow", s, 1191, 842, {{"flow-edges", "24"}});
  const Graph graph = graph_of(*s.ask(LogitFlowOf{s.length() - 1}), {});
  EXPECT_EQ(in_words(shown.click(shown.find(kToken, 5))), "query 5");
  const int column = graph.column_of(1);
  const int stream = shown.find(kStream, column * (graph.layers + 1) + 3);
  ASSERT_GE(stream, 0);
  EXPECT_EQ(in_words(shown.click(stream)), "head 3 1, key 1");
  EXPECT_THAT(shown.tooltip(stream)[0], HasSubstr("1 “·Mary” into layer 3"));
  const int mlp = shown.find(kMlp, column * graph.layers);
  ASSERT_GE(mlp, 0);
  const double added = graph.columns[static_cast<std::size_t>(column)].mlps[0];
  ASSERT_GT(added, 0.01);
  EXPECT_EQ(shown.tooltip(mlp)[1], "adds " + viz::fixed_number(added, 2) + " to the logit");
  const auto guesses = ids_of_role(shown.picture(), kGuess);
  ASSERT_EQ(guesses.size(), 5U);
  EXPECT_THAT(in_words(shown.click(shown.find(kGuess, guesses[2]))), HasSubstr("3"));
}

/// What comes in equals what goes out, in the tooltip, too.
TEST(FlowView, TheNumbersOfARibbonBalance) {
  const Scenario s(kMary);
  const ViewFixture shown("flow", s, 1191, 842, {{"flow-edges", "24"}});
  const Graph graph = graph_of(*s.ask(LogitFlowOf{s.length() - 1}), {});
  int compared = 0;
  for (int column = 0; column < std::ssize(graph.columns); ++column)
    for (const int layer : {0, 1, graph.layers - 1}) {
      const int region = shown.find(kStream, column * (graph.layers + 1) + layer);
      if (region < 0) continue;
      double flow = 0, next = 0;
      for (const std::string& line : shown.tooltip(region)) {
        const auto number = [&](std::string_view label) {
          if (!line.starts_with(label)) return 0.0;
          std::string digits = line.substr(line.find_last_of(' ') + 1);
          constexpr std::string_view kMinus = "−";
          for (auto at = digits.find(kMinus); at != digits.npos; at = digits.find(kMinus))
            digits.replace(at, kMinus.size(), "-");
          return std::stod(digits);
        };
        flow += number("flow") + number("edges in") - number("edges out") + number("MLP") + number("rest");
        next += number("into the next layer");
      }
      EXPECT_NEAR(flow, next, 0.03) << ::testing::PrintToString(shown.tooltip(region));
      ++compared;
    }
  EXPECT_GT(compared, 6);
}

/// An MLP's flow is not the number that Attribution has for it: the place where it is shown says so.
TEST(FlowView, TheMouseTellsHowAnMlpsNumberDiffersFromAttributions) {
  const Scenario s(kMary);
  const int position = s.length() - 1;
  const ViewFixture shown("flow", s, 1191, 842, {{"flow-edges", "24"}});
  const auto flow = s.ask(LogitFlowOf{position});
  const double direct = s.ask(AttributionOf{position})->mlps[0], all = flow->mlps[flow->at(0, position)];
  const Graph graph = graph_of(*flow, {});
  EXPECT_THAT(shown.tooltip(shown.find(kMlp, graph.column_of(position) * graph.layers)),
              Contains(viz::fixed_number(direct, 2) + " directly, as in Attribution, and " +
                       viz::fixed_number(all - direct, 2) + " through later attention"));
  EXPECT_THAT(shown.tooltip(shown.find(kMlp, graph.column_of(1) * graph.layers)),
              Contains("all through later attention, which Attribution does not count"));
}

TEST(FlowView, HeadsTogetherAreOneEdge) {
  const Scenario s(kMary);
  const ViewFixture shown("flow", s, 1191, 842, {{"flow-together", "yes"}});
  const auto lines = shown.tooltip(shown.find(kEdge, 0));
  EXPECT_THAT(lines[0], HasSubstr(", all heads: from "));
}

/// Sorted by size, and the sources are the logit.
TEST(FlowView, TheTableHasEveryEdgeAndSource) {
  const Scenario s(kMary);
  const Table table = ViewFixture("flow", s, 900, 700).table();
  const auto flow = s.ask(LogitFlowOf{s.length() - 1});
  ASSERT_EQ(table.header,
            (std::vector<std::string>{"kind", "part", "layer", "head", "from position", "from token",
                                      "to position", "to token", "contribution", "share"}));
  double sources = 0, last = INFINITY;
  std::int64_t edges = 0;
  EXPECT_EQ(table.rows[0][0], "logit");
  EXPECT_EQ(std::stod(table.rows[0][8]), flow->logit);
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    const std::vector<std::string>& row = table.rows[i];
    const double value = std::stod(row[8]);
    EXPECT_LE(std::abs(value), last);
    last = std::abs(value);
    if (row[0] == "edge") {
      const FlowEdge edge{std::stoi(row[2]), std::stoi(row[3]), std::stoi(row[6]), std::stoi(row[4]), value};
      EXPECT_EQ(edge, flow->edges[static_cast<std::size_t>(edges++)]);
      EXPECT_EQ(row[5], s.run->tokens.labels[static_cast<std::size_t>(edge.key)]);
      EXPECT_EQ(row[7], s.run->tokens.labels[static_cast<std::size_t>(edge.query)]);
    } else {
      EXPECT_EQ(row[0], "source");
      EXPECT_EQ(row[6], "") << "a source has one place";
      sources += value;
    }
  }
  EXPECT_EQ(edges, flow->edge_count);
  EXPECT_NEAR(sources, flow->logit, 1e-9 * std::abs(flow->logit)) << "with the rounding error";
  EXPECT_EQ(table.rows[1][9], plain(std::stod(table.rows[1][8]) / flow->logit));
}

/// Remembers what is asked.
class AskedQuestions final : public Answers {
 public:
  explicit AskedQuestions(Answers& answers) : answers_(answers) {}
  std::shared_ptr<const Answer> ask(const Question& question) override {
    asked.insert(question);
    return answers_.ask(question);
  }
  QuestionSet asked;

 private:
  Answers& answers_;
};

/// A picture's size changes how many edges are drawn, but not what is asked: nothing is computed while a pane
/// is resized.
TEST(FlowView, ResizingAsksNothingNew) {
  const Scenario s(kMary);
  AskedQuestions asked(s.answers());
  std::set<std::size_t> regions;
  for (const auto& [width, height] : {std::pair{1191.F, 842.F}, {640.F, 400.F}, {420.F, 330.F}})
    regions.insert(find_view("flow")->build(s.context(width, height, asked)).regions.size());
  EXPECT_GT(regions.size(), 1U);
  EXPECT_EQ(asked.asked.size(), 3U) << "the flow, the lens and the next token";
}

/// Fewer edges are the first of more.
TEST(FlowGraph, FewerEdgesAreTheFirstOfMore) {
  const auto flow = scenario(40).ask(LogitFlowOf{39});
  std::vector<FlowEdge> before;
  for (const int edges : {3, 8, 30, 100}) {
    const std::vector<FlowEdge> drawn = graph_of(*flow, {edges, 0, FirstToken::edges}).edges;
    for (const FlowEdge& edge : before) EXPECT_TRUE(std::ranges::find(drawn, edge) != drawn.end());
    before = drawn;
  }
}

/// What takes away differs without colour: it is dashed or hatched.
TEST(FlowView, NegativeEdgesAreDashed) {
  const Scenario s(kMary);
  const ViewFixture shown("flow", s, 1191, 842, {{"flow-edges", "24"}});
  const Graph graph = graph_of(*s.ask(LogitFlowOf{s.length() - 1}), {});
  const auto negative = std::ranges::count_if(graph.edges, [](const FlowEdge& e) { return e.value < 0; });
  ASSERT_GT(negative, 0);
  int dashed = 0;
  for (const viz::Polyline& line : items_of<viz::Polyline>(shown.scene()))
    dashed += line.dashes.empty() ? 0 : 1;
  EXPECT_GE(dashed, negative);
}

/// On both themes all that carries data stands out from the ground by 3:1, hairlines too: these are of whole
/// pixels.
TEST(FlowView, ThinAndGreyPartsAreVisible) {
  const Scenario s(kMary);
  for (const viz::Theme* theme : {&light(), &dark()}) {
    const ViewContext c = s.context(1191, 842, *theme);
    for (const viz::Color color : {edge_color(c, true), edge_color(c, false), rest_color(c)})
      EXPECT_GE(contrast(color, theme->surface), 3) << theme->dark;
  }
  const Graph graph = graph_of(*s.ask(LogitFlowOf{s.length() - 1}), {});
  const Layout layout = lay_out(poster_of(graph), {20, 20, 1100, 760}, 80, style());
  int thin = 0;
  for (const Strand& strand : layout.strands) {
    if (strand.edge < 0 || strand.width > 1) continue;
    ++thin;
    for (const auto& line : strand.lines)
      for (std::size_t i = 1; i < line.size(); ++i) {
        if (line[i].y != line[i - 1].y) continue;
        const float top = line[i].y - strand.width / 2;
        EXPECT_NEAR(top, std::round(top), 1e-3);
      }
  }
  EXPECT_GT(thin, 0);
}

TEST(FlowView, RibbonsHaveTheLensProbabilityOfTheToken) {
  const Scenario s(kMary);
  const ViewFixture token("flow", s, 1191, 842), top("flow", s, 1191, 842, {{"flow-color", "top"}});
  EXPECT_NE(token.scene().items, top.scene().items);
  const auto next = s.ask(NextAfter{s.length() - 1});
  const int best = model::largest_logits(next->logits, 1).front().id;
  EXPECT_THAT(texts(token.scene()),
              Contains("probability of “" + label_of(token.context(), best) + "” by the logit lens"));
  EXPECT_THAT(texts(top.scene()), Contains("probability of the best guess by the logit lens"));
}

}  // namespace
}  // namespace headscope::app::flow_test
