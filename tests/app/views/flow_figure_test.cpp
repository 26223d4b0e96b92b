// What a flow's figures say in every medium: how many edges, how their numbers are to be read, which scales
// two of them share, and what has room in a column.
#include "app/run/analyses/logit_flow.h"
#include "app/views/export.h"
#include "app/views/output/flow_graph.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "viz/scene/scale.h"

namespace headscope::app {
namespace {

using namespace flow_picture;

constexpr const char* kMary = "When Mary and John went to the store, John gave a drink to";

/// A3 across, a column of text, a talk's slide, a pane.
constexpr std::array<std::pair<float, float>, 4> kSizes{{{1191, 842}, {468, 560}, {1600, 900}, {900, 700}}};

/// The legend's "24 of 4,920 edges", with what stands before it.
std::string edges_words(const viz::Scene& scene) {
  for (std::string& text : texts(scene))
    if (text.ends_with(" edges")) return text;
  return "";
}

ViewContext printed_context(Target target, const Scenario& s, const char* edges) {
  const TargetSpec spec = spec_of(target);
  const View& view = *find_view("flow");
  ViewContext c = s.context(spec.width, spec.height);
  c.font_size = spec.font_size;
  c.options.set(*find_option("flow-edges"), parse_option(*find_option("flow-edges"), edges));
  if (spec.height == 0) c.height = height_for_width(view, c, spec.scale, target);
  return c;
}

/// A number that a person gives holds in every medium, whatever the automatic number is.
TEST(FlowFigure, DrawsTheChosenNumberOfEdges) {
  const Scenario s(kMary);
  for (const int edges : {0, 8, 24, 32}) {
    const std::string number = std::to_string(edges), expected = number + " of ";
    for (const auto& [width, height] : kSizes) {
      SCOPED_TRACE(number + " edges, " + std::to_string(width) + " x " + std::to_string(height));
      EXPECT_THAT(edges_words(ViewFixture("flow", s, width, height, {{"flow-edges", number}}).scene()),
                  StartsWith(expected));
    }
    for (const Target target : {Target::column, Target::page, Target::slide}) {
      SCOPED_TRACE(number + " edges, target " + std::to_string(static_cast<int>(target)));
      const ViewContext c = printed_context(target, s, number.c_str());
      ExportOptions options{.page = target == Target::slide ? Page::exact : Page::width, .target = target};
      EXPECT_THAT(edges_words(export_scene_of(*find_view("flow"), c, options)), StartsWith(expected));
    }
  }
}

TEST(FlowFigure, SaysWhyThereAreFewerEdgesThanChosen) {
  const ViewFixture shown("flow", Scenario(kMary), 640, 400, {{"flow-edges", "200"}});
  EXPECT_THAT(edges_words(shown.scene()), StartsWith("no room for 200: "));
}

std::string all_text(const viz::Scene& scene) {
  std::string all;
  for (const std::string& text : texts(scene)) all += text + " ";
  return all;
}
constexpr std::array kReading{"patterns and layer norm scales held fixed", "each MLP is a source of its own",
                              "a contribution is not the effect of removing a head"};

/// Every picture says once how its numbers are to be read, in itself or in its caption.
TEST(FlowFigure, SaysWhatIsHeldFixedAndWhatItIsNot) {
  const Scenario s(kMary);
  const View& view = *find_view("flow");
  for (const auto& [width, height] : kSizes)
    for (const bool in_pane : {false, true}) {
      ViewContext c = s.context(width, in_pane ? 380 : height);
      c.in_pane = in_pane;
      const std::string said = all_text(view.build(c).scene);
      for (const char* words : kReading) EXPECT_THAT(said, HasSubstr(words)) << width << ", " << in_pane;
    }
  const auto occurrences = [](std::string_view text, std::string_view words) {
    int count = 0;
    for (auto at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++count;
    return count;
  };
  for (const Target target : {Target::screen, Target::column, Target::page, Target::slide})
    for (const bool captioned : {false, true})
      for (const bool titled : {false, true}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(target)) + (captioned ? " captioned" : "") +
                     (titled ? " titled" : ""));
        ViewContext c = printed_context(target, s, "auto");
        const ExportOptions options{.caption = captioned,
                                    .title = titled,
                                    .page = target == Target::slide ? Page::exact : Page::width,
                                    .target = target};
        const std::string said = all_text(export_scene_of(view, c, options));
        for (const char* words : kReading) EXPECT_EQ(occurrences(said, words), 1) << words << said;
        c.note_in_caption = captioned && (!titled || target != Target::screen);
        for (const char* words : kReading)
          EXPECT_EQ(occurrences(caption(view, c), words), c.note_in_caption ? 1 : 0);
      }
}

/// Without a chosen number there are as many edges as there is room for names.
TEST(FlowFigure, NamesEveryEdgeToTheTokenByDefault) {
  EXPECT_EQ(values_of(*find_option("flow-edges")), "N|auto");
  const Scenario s(kMary);
  const auto flow = s.ask(LogitFlowOf{s.length() - 1});
  std::set<int> numbers;
  for (const auto& [width, height] :
       {std::pair{1191.F, 1100.F}, {1600.F, 900.F}, {900.F, 500.F}, {900.F, 380.F}}) {
    const ViewFixture shown("flow", s, width, height);
    const int edges = std::stoi(edges_words(shown.scene()));
    numbers.insert(edges);
    EXPECT_GE(edges, 3);
    const Graph graph = graph_of(*flow, {.edges = edges});
    for (const FlowEdge& edge : graph.edges) {
      if (edge.query != graph.target) continue;
      const std::string name = head_name(edge.layer, edge.head);
      EXPECT_THAT(texts(shown.scene()), Contains(StartsWith(name))) << edges << " edges, " << width;
    }
  }
  EXPECT_EQ(*numbers.rbegin(), 24);
  EXPECT_LT(*numbers.begin(), 24);
}

/// The legend's width sample: height in the picture, for a logit of 1.
double scale_of_legend(const viz::Scene& scene) {
  double part = 0;
  for (const std::string& text : texts(scene))
    if (text.starts_with("a width of ")) part = std::stod(text.substr(11));
  const auto rects = items_of<viz::FillRect>(scene);
  const auto sample = std::ranges::find_if(
      rects, [](const viz::FillRect& r) { return r.color == light().bar && r.radius == 0 && r.rect.w > 10; });
  if (part == 0 || sample == rects.end()) return 0;
  return static_cast<double>(sample->rect.h) / part;
}

/// The end of the ribbons' colour scale.
double end_of_colors(const viz::Scene& scene) {
  const std::vector<std::string> all = texts(scene);
  const auto title =
      std::ranges::find_if(all, [](auto& text) { return text.starts_with("probability of "); });
  if (all.end() - title < 3) return 0;
  std::string number = title[2];
  if (number.starts_with("≥ ")) number.erase(0, std::string_view("≥ ").size());
  return std::stod(number);
}

/// Two pictures that are compared have one scale of widths, colours and bars; without a comparison, each has
/// its own.
TEST(FlowFigure, BothSidesOfAComparisonHaveOneScale) {
  int differ = 0;
  for (const char* edits : {"L1H7.z=0", "L0.mlp_out=0", "L5.mlp_out*=3"}) {
    SCOPED_TRACE(edits);
    const View& view = *find_view("flow");
    const Scenario compared = edited(edits, {2, 1, -1}, kMary), alone(kMary);
    for (const char* edges : {"auto", "24"}) {
      const auto scene = [&](Side side, const Scenario& s) {
        ViewContext c = s.context(1191, 842);
        c.options.set(*find_option("flow-edges"), parse_option(*find_option("flow-edges"), edges));
        return view.build(on_side(side, view, c)).scene;
      };
      const viz::Scene run = scene(Side::run, compared), baseline = scene(Side::baseline, compared);
      const double common = scale_of_legend(run);
      EXPECT_GT(common, 0);
      EXPECT_NEAR(common, scale_of_legend(baseline), 1e-3 * common);
      EXPECT_LE(common, scale_of_legend(scene(Side::run, alone)) * 1.001);
      EXPECT_GT(end_of_colors(run), 0);
      EXPECT_EQ(end_of_colors(run), end_of_colors(baseline));
      const Scenario uncompared = with_edits(edits, {2, 1, -1}, kMary);
      differ += end_of_colors(run) != end_of_colors(scene(Side::run, uncompared)) ? 1 : 0;
    }
  }
  EXPECT_GT(differ, 0) << "on its own a side would have another end of colours";
}

/// A figure for a column has its heads' numbers, and strands whose widths can be told apart.
TEST(FlowFigure, IsWorthPrintingInAColumn) {
  const Scenario s(kMary);
  const ViewContext c = printed_context(Target::column, s, "auto");
  const viz::Scene scene =
      export_scene_of(*find_view("flow"), c, {.page = Page::width, .target = Target::column});
  const Graph graph = graph_of(*s.ask(LogitFlowOf{s.length() - 1}), {});
  const FlowEdge& strongest = graph.edges.front();
  EXPECT_THAT(texts(scene),
              Contains("H" + std::to_string(strongest.head) + " +" + viz::fixed_number(strongest.value, 2)));
  EXPECT_GE(scale_of_legend(scene), 4) << "pixels for a logit of 1";
  float widest = 0;
  for (const viz::Polyline& line : items_of<viz::Polyline>(scene)) widest = std::max(widest, line.width);
  EXPECT_GE(widest, 1.5F);
  EXPECT_LE(scene.height, 9 * 96);
  // Bars are as short as the guesses' names need.
  const Scenario bear("The little fox and the old bear ran. The little fox and the old");
  EXPECT_THAT(texts(export_scene_of(*find_view("flow"), printed_context(Target::column, bear, "auto"),
                                    {.page = Page::width, .target = Target::column})),
              Contains("·bear").Times(2));
}

}  // namespace
}  // namespace headscope::app
