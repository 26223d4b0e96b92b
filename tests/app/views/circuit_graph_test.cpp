// The picture of a circuit compared with the answer, and what its parts and edges do.
#include "app/views/output/circuit_drawing.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::circuit_graph_test {
namespace {

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
    const double kept = s.ask(CutMetricOf{circuit->measured, {}, rows, expected, false})->value;
    EXPECT_THAT(texts(shown.scene()),
                Contains(HasSubstr(viz::fixed_number(100 * faithfulness(*circuit, kept), 0) + " %")));
  }
}

TEST(CircuitView, SaysNextToWhatTheEdgesKeepHowManyOfThemHaveRoom) {
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
    const double without = s.ask(CutMetricOf{circuit->measured, {}, 1, {std::stoi(place)}, true})->value;
    EXPECT_THAT(texts(chosen.scene()),
                Contains(AllOf(StartsWith(name), HasSubstr(viz::number(without, 4) + " without"))));
    EXPECT_EQ(items_of<viz::StrokeRect>(chosen.scene()), boxes);
  }
}

}  // namespace
}  // namespace headscope::app::circuit_graph_test
