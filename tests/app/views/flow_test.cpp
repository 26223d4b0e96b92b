// Paths to a logit as pictures: what a flow draws and the rest add up to it; edges lead to their cells.
#include "app/run/analyses/logit_flow.h"
#include "app/run/analyses/predictions.h"
#include "app/views/output/circuit_drawing.h"
#include "app/views/output/flow_drawing.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "viz/scene/scale.h"

namespace headscope::app::flow_test {
namespace {

using namespace flow_picture;

constexpr const char* kMary = "When Mary and John went to the store, John gave a drink to";

double drawn_and_rest(const Graph& graph) {
  double sum = graph.rest;
  for (const TokenColumn& column : graph.columns) sum += column.sources();
  return sum;
}

Graph graph_of(const LogitFlow& flow, int edges = 24) {
  return graph_with(flow, leading_edges(flow, edges));
}

/// At every layer of every column, what is drawn and the rest make the one width of the other.
void expect_balanced(const Graph& graph) {
  for (const TokenColumn& column : graph.columns) {
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
  for (const char* edits :
       {"L0.attn_out=0", "L2.resid_mid[*][3]+=2", "L4H1.z=0", "L3.resid_pre*=0.5", "mask=none"}) {
    SCOPED_TRACE(edits);
    const Scenario s = with_edits(edits, {2, 1, 7}, kMary);
    const auto flow = s.ask(LogitFlowOf{logit_at(7)});
    for (const int edges : {0, 1, 24, 100}) {
      const Graph graph = graph_of(*flow, edges);
      EXPECT_NEAR(drawn_and_rest(graph), flow->logit, 1e-5 * std::max(1.0, std::abs(flow->logit))) << edges;
      expect_balanced(graph);
      EXPECT_EQ(std::ssize(graph.edges), edges);
      if (edges > 1) {
        EXPECT_EQ(graph.columns.back().position > 7, std::string_view(edits) == "mask=none");
      }
    }
  }
}

TEST(FlowGraph, DrawsTheStrongestEdgesThatLeadOn) {
  const Scenario& s = scenario(40);
  const auto flow = s.ask(LogitFlowOf{logit_at(39)});
  const Graph graph = graph_of(*flow, 60);
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
}

/// What is said and done at points of the drawing, where there is something.
struct Said {
  std::vector<std::string> tooltip;
  ViewActions click;
};
std::vector<Said> said_at(const ViewFixture& shown, const std::vector<viz::Point>& points) {
  std::vector<Said> all;
  const int drawing = shown.find(kDrawing);
  const viz::Region& region = shown.region(drawing);
  for (const viz::Point at : points) {
    const auto row = static_cast<int>((at.y - region.rect.y) / region.rect.h * region.rows),
               col = static_cast<int>((at.x - region.rect.x) / region.rect.w * region.cols);
    if (region.rect.contains(at))
      all.push_back({shown.tooltip(drawing, row, col), shown.click(drawing, row, col)});
  }
  return all;
}

TEST(FlowView, AnEdgeTellsWhatItCarriesAndLeadsToItsCell) {
  const Scenario s(kMary);
  const ViewFixture shown("flow", s, 1191, 842, {{"flow-edges", "24"}});
  const Graph graph = graph_of(*s.ask(LogitFlowOf{logit_at(s.length() - 1)}));
  std::vector<viz::Point> middles;
  for (const viz::Polyline& line : items_of<viz::Polyline>(shown.scene()))
    middles.push_back(line.points[line.points.size() / 2]);
  const std::vector<Said> all = said_at(shown, middles);
  int edges = 0;
  for (const FlowEdge& edge : graph.edges) {
    const std::string place = "head " + std::to_string(edge.layer) + " " + std::to_string(edge.head) +
                              ", query " + std::to_string(edge.query) + ", key " + std::to_string(edge.key);
    const auto found =
        std::ranges::find(all, place + ", show heatmap", [](const Said& one) { return in_words(one.click); });
    if (found == all.end()) continue;  // another one is over its middle
    ++edges;
    EXPECT_THAT(found->tooltip, Contains(HasSubstr(viz::fixed_number(std::abs(edge.value), 2))));
  }
  EXPECT_GT(edges, 20);
}

TEST(FlowView, ClicksSelectTokensAndLayers) {
  const Scenario s(kMary);
  const ViewFixture shown("flow", s, 1191, 842, {{"flow-edges", "24"}});
  EXPECT_EQ(in_words(shown.click(shown.find(kToken, 5))), "query 5");
  const viz::Region& label = shown.region(shown.find(kToken, 1));
  const float up = label.rect.y - shown.region(shown.find(kDrawing)).rect.y;
  const auto streams = said_at(shown, {{label.rect.center().x, label.rect.y - up / 2}});
  EXPECT_THAT(streams.at(0).tooltip.at(0),
              AllOf(StartsWith(token_name(s.run->tokens, 1)), HasSubstr("into layer")));
  EXPECT_THAT(in_words(streams.at(0).click), ::testing::MatchesRegex("head [0-5] 1, key 1"));
  const viz::Rect band = shown.region(shown.find(kDrawing)).rect;
  EXPECT_THAT(said_at(shown, {{band.x + 1, band.center().y}}).at(0).tooltip, IsEmpty()) << "nothing is there";
  const int guess = ids_of_role(shown.picture(), kGuess).at(1);
  EXPECT_EQ(in_words(shown.click(shown.find(kGuess, guess))), "token id:" + std::to_string(guess));
}

/// Sorted by size, and the sources are the logit.
TEST(FlowView, TheTableHasEveryEdgeAndSource) {
  const Scenario s(kMary);
  const Table table = table_of("flow", s);
  const auto flow = s.ask(LogitFlowOf{logit_at(s.length() - 1)});
  const auto kinds = texts_of(table, "kind");
  const auto layers = numbers_of(table, "layer"), heads = numbers_of(table, "head"),
             from = numbers_of(table, "from position"), to = numbers_of(table, "to position"),
             values = numbers_of(table, "contribution"), shares = numbers_of(table, "share");
  double sources = 0, last = INFINITY;
  std::int64_t edges = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    EXPECT_LE(std::abs(values[row]), last);
    last = std::abs(values[row]);
    EXPECT_EQ(shares[row], values[row] / flow->logit);
    if (kinds[row] == "edge") {
      const FlowEdge edge{static_cast<int>(layers[row]), static_cast<int>(heads[row]),
                          static_cast<int>(to[row]), static_cast<int>(from[row]), values[row]};
      EXPECT_EQ(edge, flow->edges[static_cast<std::size_t>(edges++)]);
    } else {
      EXPECT_EQ(kinds[row], "source");
      EXPECT_TRUE(is_no_number(to[row])) << "a source has one place";
      sources += values[row];
    }
  }
  EXPECT_EQ(edges, flow->edge_count);
  EXPECT_EQ(fact_of(table, "all edges"), static_cast<double>(edges));
  EXPECT_EQ(fact_of(table, "value"), flow->logit);
  EXPECT_NEAR(sources + fact_of(table, "rounding error"), flow->logit, 1e-9 * std::abs(flow->logit));
}

/// The legend's width sample: thickness in the picture, for a logit of 1.
double scale_of_legend(const viz::Scene& scene) {
  double part = 0;
  for (const std::string& text : texts(scene))
    if (text.starts_with("this thickness = ")) part = std::stod(text.substr(17));
  for (const viz::Polyline& line : items_of<viz::Polyline>(scene))
    if (line.color == light().bar && part > 0) return static_cast<double>(line.width) / part;
  return 0;
}

TEST(FlowView, BothSidesOfAComparisonHaveOneScale) {
  const View& view = *find_view("flow");
  const Scenario compared = edited("L5.mlp_out*=3", {2, 1, -1}, kMary), alone(kMary);
  const auto scene = [&](Side side, const Scenario& s) {
    return view.build(on_side(side, view, s.context(1191, 842))).scene;
  };
  const viz::Scene run = scene(Side::run, compared), baseline = scene(Side::baseline, compared);
  const double common = scale_of_legend(run);
  EXPECT_GT(common, 0);
  EXPECT_NEAR(common, scale_of_legend(baseline), 1e-3 * common);
  EXPECT_LE(common, scale_of_legend(scene(Side::run, alone)) * 1.001);
}

/// "−0.37" or "+0.37"; NaN: it is no such number.
double signed_number(std::string text) {
  constexpr std::string_view kMinus = "−";
  if (text.starts_with(kMinus)) text = "-" + text.substr(kMinus.size());
  if (!text.starts_with('+') && !text.starts_with('-')) return NAN;
  return text.find_first_not_of("+-.0123456789") == text.npos ? std::stod(text) : NAN;
}

/// "+0.37" at the end of a text that begins so; 0: there is none.
double number_after(const viz::Scene& scene, std::string_view words) {
  for (const std::string& text : texts(scene))
    if (text.starts_with(words))
      if (const double number = signed_number(text.substr(words.size())); !std::isnan(number)) return number;
  return 0;
}

TEST(FlowView, NumbersBelowTheTokensAndTheRestAreTheLogit) {
  constexpr const char* kLong =
      "Once upon a time there was a king who had a golden crown. Once upon a time there was a queen who had "
      "a golden";
  int with_others = 0;
  for (const char* prompt : {kMary, kLong, "The"}) {
    const Scenario s(prompt);
    const double logit = s.ask(LogitFlowOf{logit_at(s.length() - 1)})->logit;
    for (const auto& [width, height] : {std::pair{1191.F, 842.F}, {468.F, 560.F}, {3840.F, 2160.F}}) {
      SCOPED_TRACE(std::string(prompt) + ", " + std::to_string(width));
      const ViewFixture shown("flow", s, width, height, {{"flow-edges", "24"}});
      if (!shown.picture().readable) continue;
      int numbers = 0;
      double sum = 0;
      float row = 0;  // numbers further up are those of MLPs
      const auto runs = items_of<viz::GlyphRun>(shown.scene());
      for (const viz::GlyphRun& run : runs)
        if (run.text.starts_with("rest ")) row = run.origin.y;
      for (const viz::GlyphRun& run : runs)
        if (const double part = signed_number(run.text); !std::isnan(part) && run.origin.y > row)
          sum += part, ++numbers;
      for (const char* words : {"rest ", "other tokens ", "all tokens "}) {
        const double part = number_after(shown.scene(), words);
        sum += part;
        with_others += part != 0 && std::string_view(words) != "rest " ? 1 : 0;
      }
      EXPECT_NEAR(sum, logit, 0.006 * (numbers + 2));
    }
  }
  EXPECT_GT(with_others, 0);
}

constexpr const char* kFox = "The king gave Mr. Fox a horse. Then the king gave Mr.";
constexpr const char* kOther = "The king gave to a Fox a horse. Then the king gave Mr.";

Scenario of_foxes() {
  Scenario s(kFox);
  s.compare(Prompt{kOther, {}, false});
  return s;
}

CircuitOf question(const Scenario& s) {
  CircuitOf of;
  of.measured = difference_at(s.selection.query, TokenRef::best(), TokenRef::best(2));
  return of;
}

/// The table has these edges, the strongest first, and what was measured.
void expect_edges(const Table& table, const Circuit& circuit, const EdgeList& edges) {
  std::vector<std::string> found, expected;
  for (const auto& row : text_rows(table))
    found.push_back(row[0] + " → " + row[1] + (circuit.rows > 1 ? " " + row[2] : ""));
  const int count = circuit.graph.edge_count();
  for (const int place : edges)
    expected.push_back(name_of(circuit.graph.writer(circuit.graph.writer_of(place % count))) + " → " +
                       name_of(circuit.graph.reader(circuit.graph.reader_of(place % count))) +
                       (circuit.rows > 1 ? " " + std::to_string(place / count) : ""));
  EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(expected));
  std::vector<double> scores = numbers_of(table, "score");
  for (double& score : scores) score = std::abs(score);
  EXPECT_TRUE(std::ranges::is_sorted(scores, std::greater()));
  EXPECT_EQ(fact_of(table, "value"), circuit.value);
  EXPECT_EQ(fact_of(table, "value without edges"), circuit.cut_value);
  EXPECT_EQ(fact_of(table, "faithfulness"), faithfulness(circuit, fact_of(table, "value of circuit")));
  EXPECT_EQ(fact_of(table, "all edges"), circuit.edge_count());
}

TEST(CircuitView, ShowsTheStrongestEdgesAndSaysWhatTheyKeep) {
  const Scenario s = of_foxes();
  for (const auto& [edges, rows] : {std::pair("10", 1), {"70", 1}, {"30", s.length()}}) {
    SCOPED_TRACE(edges);
    const ViewFixture shown("circuit_graph", s, 1200, 900,
                            {{"circuit-edges", edges}, {"circuit-positions", rows > 1 ? "yes" : "no"}});
    CircuitOf of = question(s);
    of.by_position = rows > 1;
    const auto circuit = s.ask(of);
    const EdgeList expected = strongest_edges(*circuit, std::stoi(edges));
    expect_edges(shown.table(), *circuit, expected);
    const double kept = *s.ask(CutMetricOf{circuit->measured, {}, rows, expected, false});
    EXPECT_THAT(texts(shown.scene()),
                Contains(HasSubstr(viz::fixed_number(100 * faithfulness(*circuit, kept), 0) + " %")));
  }
}

TEST(CircuitView, SaysHowManyOfTheEdgesHaveRoom) {
  const ViewFixture shown("circuit_graph", of_foxes(), 460, 330, {{"circuit-edges", "30"}});
  ASSERT_FALSE(shown.picture().whole);
  EXPECT_THAT(texts(shown.scene()), Contains(HasSubstr(" of 30 edges drawn; ")));
}

/// The first line of the tooltip at a point of the drawing, and what a click does there.
std::pair<std::string, std::string> said_at(const ViewFixture& shown, viz::Point at) {
  const viz::Region& region = shown.region(0);
  const auto row = static_cast<int>((at.y - region.rect.y) / region.rect.h * region.rows),
             col = static_cast<int>((at.x - region.rect.x) / region.rect.w * region.cols);
  return {shown.tooltip(0, row, col).at(0), in_words(shown.click(0, row, col))};
}

TEST(CircuitView, AClickOnAnEdgeShowsItsExactEffectAndMovesNothing) {
  const Scenario s = of_foxes();
  ViewContext pane = s.context(1200, 500);
  pane.in_pane = true;
  const ViewFixture shown("circuit_graph", pane);
  const auto circuit = s.ask(question(s));
  std::map<std::string, std::string> edges;  // by name: what a click does
  for (const viz::Polyline& line : items_of<viz::Polyline>(shown.scene()))
    if (shown.region(0).rect.contains(line.points[line.points.size() / 2]))
      edges.insert(said_at(shown, line.points[line.points.size() / 2]));
  std::erase_if(edges, [](const auto& edge) { return edge.first.find("→") == edge.first.npos; });
  EXPECT_GE(edges.size(), 20U);
  const auto boxes = items_of<viz::StrokeRect>(shown.scene());
  for (const auto& name : {edges.begin()->first, edges.rbegin()->first}) {
    const std::string place = edges[name].substr(edges[name].rfind(' ') + 1);
    const ViewFixture chosen("circuit_graph", pane, {{"circuit-edge", place}});
    const double without = *s.ask(CutMetricOf{circuit->measured, {}, 1, {std::stoi(place)}, true});
    EXPECT_THAT(texts(chosen.scene()),
                Contains(AllOf(StartsWith(name), HasSubstr(viz::number(without, 4) + " without"))));
    EXPECT_EQ(items_of<viz::StrokeRect>(chosen.scene()), boxes);
  }
}

}  // namespace
}  // namespace headscope::app::flow_test
