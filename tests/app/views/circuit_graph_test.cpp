// The picture of a circuit compared with the answer, and what its parts and edges do.
#include "app/views/output/circuit_layout.h"
#include "app/views/output/circuit_paint.h"
#include "app/views/output/circuit_question.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::circuit_graph_test {
namespace {

constexpr int kNode = 0, kEdge = 1;  // roles of the regions
constexpr const char* kFox = "The king gave Mr. Fox a horse. Then the king gave Mr.";
constexpr const char* kOther = "The king gave to a Fox a horse. Then the king gave Mr.";

Scenario of_foxes() {
  Scenario s(kFox);
  s.compare(Prompt{kOther, {}, false});
  return s;
}

CircuitOf question(const Scenario& s, CircuitMethod method = CircuitMethod::integrated,
                   CircuitCut cut = CircuitCut::second) {
  CircuitOf of;
  of.metric = {GradientMetric::difference, TokenChoice::best(), TokenChoice::best(1), s.selection.query};
  of.method = method;
  of.cut.cut = cut;
  return of;
}

/// The layout of a picture, whose edges' region begins after the names of layers.
circuit_picture::Layout layout_of(const ViewFixture& shown, const Circuit& circuit, const EdgeList& edges) {
  viz::Rect area = shown.region(shown.find(kEdge)).rect;
  const float names = circuit_picture::lay_out(shown.context(), circuit, edges, area).label_width;
  area.x -= names, area.w += names;
  return circuit_picture::lay_out(shown.context(), circuit, edges, area);
}

/// The names of the edges in a picture's table.
std::vector<std::string> names_in(const Table& table) {
  std::vector<std::string> names;
  for (const auto& row : text_rows(table))
    names.push_back(row[0] + " → " + row[1] + (row.size() > 3 ? " " + row[2] : ""));
  std::ranges::sort(names);
  return names;
}
std::vector<std::string> names_of(const Circuit& circuit, const EdgeList& edges) {
  std::vector<std::string> names;
  const int count = circuit.graph.edge_count();
  for (const int place : edges)
    names.push_back(name_of(circuit.graph.writer(circuit.graph.writer_of(place % count))) + " → " +
                    name_of(circuit.graph.reader(circuit.graph.reader_of(place % count))) +
                    (circuit.rows > 1 ? " " + std::to_string(place / count) : ""));
  std::ranges::sort(names);
  return names;
}

TEST(CircuitView, CutsEdgesToTheMeansOfTheOpenList) {
  const Scenario s(kFox);
  CircuitOf of = question(s, CircuitMethod::integrated, CircuitCut::list_mean);
  const MeansOverList means = CutOf::means_over({s.prompts, false}, s.config());
  of.cut.mean_over = {means.over, s.ask(means)};
  const ViewFixture shown("circuit_graph", s, 1000, 800,
                          {{"circuit-elsewhere", "list-mean"}, {"circuit-edges", "10"}});
  EXPECT_EQ(names_in(shown.table()), names_of(*s.ask(of), strongest_edges(*s.ask(of), 10)));
}

TEST(CircuitView, ShowsTheStrongestEdgesAndSaysWhatTheyKeep) {
  const Scenario s = of_foxes();
  for (const auto& [edges, rows] : {std::pair("10", 1), {"70", 1}, {"30", s.length()}}) {
    const ViewFixture shown("circuit_graph", s, 1200, 900,
                            {{"circuit-edges", edges}, {"circuit-positions", rows > 1 ? "yes" : "no"}});
    CircuitOf of = question(s);
    of.by_position = rows > 1;
    const auto circuit = s.ask(of);
    const EdgeList expected = strongest_edges(*circuit, std::stoi(edges));
    EXPECT_EQ(names_in(shown.table()), names_of(*circuit, expected)) << edges << " " << rows;
    const double kept = s.ask(CutMetricOf{circuit->metric, {}, rows, expected, false})->value;
    EXPECT_THAT(texts(shown.scene()),
                Contains(HasSubstr(viz::fixed_number(100 * faithfulness(*circuit, kept), 0) + " %")));
  }
}

TEST(CircuitView, TheTableHasTheScoresTheStrongestFirst) {
  const Scenario s = of_foxes();
  const auto circuit = s.ask(question(s));
  const Table table = ViewFixture("circuit_graph", s, 1200, 900).table();
  double before = INFINITY;
  for (const double score : numbers_of(table, "score")) {
    EXPECT_LE(std::abs(score), before);
    before = std::abs(score);
    EXPECT_TRUE(std::ranges::count(circuit->ranked, static_cast<float>(score), &RankedEdge::score) > 0);
  }
  EXPECT_EQ(texts_of(table, "from").front(), "embedding");
  EXPECT_EQ(texts_of(table, "to").front(), "L0 H0 v");
  EXPECT_EQ(fact_of(table, "value"), circuit->value);
  EXPECT_EQ(fact_of(table, "value without edges"), circuit->cut_value);
  EXPECT_EQ(fact_of(table, "faithfulness"), faithfulness(*circuit, fact_of(table, "value of circuit")));
  EXPECT_EQ(fact_of(table, "all edges"), circuit->edge_count());
}

TEST(CircuitView, AClickOnAnEdgeShowsItsExactEffect) {
  const Scenario s = of_foxes();
  const ViewFixture shown("circuit_graph", s, 1200, 900);
  const auto circuit = s.ask(question(s));
  const auto layout = layout_of(shown, *circuit, strongest_edges(*circuit, kCircuitEdges));
  const int region = shown.find(kEdge);
  const auto cell_of = [&](viz::Point at) {  // the inverse of the region's cells
    const viz::Region& grid = shown.region(region);
    return std::pair(static_cast<int>((at.y - grid.rect.y) / grid.rect.h * grid.rows),
                     static_cast<int>((at.x - grid.rect.x) / grid.rect.w * grid.cols));
  };
  for (const auto& link : {layout.links.front(), layout.links.back()}) {
    // Where it runs alone.
    const auto alone = std::ranges::find_if(link.points, [&](viz::Point at) {
      const auto [row, col] = cell_of(at);
      const int nearest =
          circuit_picture::nearest_link(layout, shown.region(region).cell_rect(row, col).center());
      return layout.links[nearest].place == link.place;
    });
    ASSERT_NE(alone, link.points.end());
    const auto [row, col] = cell_of(*alone);
    const std::string place = std::to_string(link.place);
    EXPECT_THAT(in_words(shown.click(region, row, col)), HasSubstr("circuit-edge " + place));
    const ViewFixture chosen("circuit_graph", s, 1200, 900, {{"circuit-edge", place}});
    const double without = s.ask(CutMetricOf{circuit->metric, {}, 1, {link.place}, true})->value;
    EXPECT_THAT(texts(chosen.scene()), Contains(AllOf(HasSubstr("estimate"), HasSubstr("exact"),
                                                      HasSubstr(viz::number(without, 4) + " without"))));
  }
}

TEST(CircuitView, AClickOnAHeadChoosesIt) {
  const Scenario s = of_foxes();
  const ViewFixture shown("circuit_graph", s, 1200, 900);
  int heads = 0;
  for (const int region : shown.all_of(kNode)) {
    const std::string name = shown.tooltip(region).front();
    if (!name.starts_with("L")) {
      EXPECT_EQ(in_words(shown.click(region)), "") << name;
      continue;
    }
    ++heads;
    EXPECT_EQ("head " + name.substr(1, 1) + " " + name.substr(4, 1), in_words(shown.click(region))) << name;
  }
  EXPECT_GE(heads, 4);
}

}  // namespace
}  // namespace headscope::app::circuit_graph_test
