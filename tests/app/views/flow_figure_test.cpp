// What a flow's figures say in every medium: how many edges, how their numbers are to be read, which scales
// two of them share, and what has room in a column.
#include <chrono>

#include "app/run/analyses/logit_flow.h"
#include "app/run/analyses/next_token.h"
#include "app/views/export.h"
#include "app/views/output/flow_graph.h"
#include "app/views/parts/names.h"
#include "model/pass/statistics.h"
#include "tests/app/view_fixture.h"
#include "viz/scene/scale.h"

namespace headscope::app::flow_figure_test {
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

/// The layers whose names are drawn.
std::set<int> named_layers(const viz::Scene& scene) {
  std::set<int> layers;
  for (const std::string& text : texts(scene))
    if (text.size() == 2 && text[0] == 'L') layers.insert(text[1] - '0');
  return layers;
}

TEST(FlowFigure, NamesAllLayersOrThoseAtEqualSteps) {
  for (const char* prompt : {kMary, "The", "The king gave the queen a"}) {
    const Scenario s(prompt);
    const ViewContext slide = printed_context(Target::slide, s, "auto");
    EXPECT_EQ(named_layers(export_scene_of(*find_view("flow"), slide, {.target = Target::slide})),
              (std::set{0, 1, 2, 3, 4, 5}))
        << prompt;
    int steps = 0;
    for (float height = 260; height < 700; height += 20) {
      ViewContext c = s.context(340, height);
      c.in_pane = true;
      const std::set<int> named = named_layers(find_view("flow")->build(c).scene);
      if (named.empty()) continue;  // too small
      const auto all = std::set{0, 1, 2, 3, 4, 5}, second = std::set{0, 2, 4}, ends = std::set{0, 5};
      EXPECT_TRUE(named == all || named == second || named == ends) << prompt << ", " << height;
      steps += named == all ? 0 : 1;
    }
    EXPECT_GT(steps, 0) << prompt;
  }
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
    if (text.starts_with("this thick: ")) part = std::stod(text.substr(12));
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

/// Length of the guesses' bars for a probability of 1.
double scale_of_bars(const ViewContext& c, const viz::Scene& scene) {
  const auto next = c.ask(NextAfter{c.selection.query});
  const double best = model::largest_logits(next->logits, 1).front().logit - model::log_sum_exp(next->logits);
  float longest = 0;
  for (const viz::FillRect& rect : items_of<viz::FillRect>(scene))
    if (rect.radius == 1) longest = std::max(longest, rect.rect.w);
  return static_cast<double>(longest) / std::exp(best);
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
      std::vector<double> bars;
      const auto scene = [&](Side side, const Scenario& s) {
        ViewContext c = s.context(1191, 842);
        c.options.set(*find_option("flow-edges"), parse_option(*find_option("flow-edges"), edges));
        c = on_side(side, view, c);
        viz::Scene drawn = view.build(c).scene;
        bars.push_back(scale_of_bars(c, drawn));
        return drawn;
      };
      const viz::Scene run = scene(Side::run, compared), baseline = scene(Side::baseline, compared);
      const double common = scale_of_legend(run);
      EXPECT_GT(bars[0], 0);
      EXPECT_NEAR(bars[0], bars[1], 1e-3 * bars[0]);
      EXPECT_TRUE(scene(Side::difference, compared).items == run.items)
          << "there is no difference: the run is shown";
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

/// Two figures that are compared have one scale, too: each has a page of its own, with as many lines of title
/// and caption as it needs, and may have to grow until all has room.
TEST(FlowFigure, BothFiguresOfAComparisonHaveOneScale) {
  const View& view = *find_view("flow");
  for (const char* edits : {"L2H5.z=0", "L0.mlp_out=0"}) {
    const Scenario compared = edited(edits, {2, 1, -1}, kMary);
    for (const Target target : {Target::screen, Target::column, Target::page, Target::slide})
      for (const Page page : {Page::at_least, Page::exact})
        for (const char* edges : {"auto", "24"}) {
          SCOPED_TRACE(std::string(edits) + ", target " + std::to_string(static_cast<int>(target)) +
                       (page == Page::exact ? ", exact, " : ", ") + edges + " edges");
          const bool given = target == Target::column || target == Target::page;  // its width
          if (given && page == Page::exact) continue;
          std::array<double, 2> widths{}, bars{};
          for (const Side side : {Side::run, Side::baseline}) {
            ViewContext c = on_side(side, view, printed_context(target, compared, edges));
            if (page == Page::exact && target == Target::screen) c.width = 1600, c.height = 900;
            const viz::Scene scene =
                export_scene_of(view, c, {.page = given ? Page::width : page, .target = target});
            widths[side == Side::run] = scale_of_legend(scene);
            bars[side == Side::run] = scale_of_bars(c, scene);
          }
          EXPECT_GT(widths[0], 0);
          EXPECT_NEAR(widths[0], widths[1], 1e-3 * widths[0]);
          EXPECT_NEAR(bars[0], bars[1], 1e-3 * bars[0]);
        }
  }
}

/// Exact sizes, with captions that take lines of their own, and slides whose letters grow.
TEST(FlowFigure, FiguresOfOneSizeHaveOneScale) {
  const View& view = *find_view("flow");
  for (const char* edits :
       {"L2H5.z=0", "L0.mlp_out=0", "L5.mlp_out*=3", "L4H3.z=0; L3H6.z=0; L4H5.z=0; L2H1.z=0"}) {
    const Scenario compared = edited(edits, {2, 1, -1}, kMary);
    for (const auto& [width, height, size] : {std::array{640.F, 480.F, 14.F},
                                              {700.F, 520.F, 14.F},
                                              {800.F, 600.F, 14.F},
                                              {1000.F, 600.F, 14.F},
                                              {1000.F, 700.F, 14.F},
                                              {1280.F, 720.F, 14.F},
                                              {1600.F, 900.F, 14.F},
                                              {3840.F, 2160.F, 14.F},
                                              {1280.F, 720.F, 20.F}})
      for (const bool slide : {false, true}) {
        SCOPED_TRACE(std::string(edits) + ", " + std::to_string(width) + (slide ? ", slide" : ""));
        std::array<double, 2> widths{}, bars{};
        for (const Side side : {Side::run, Side::baseline}) {
          ViewContext c = compared.context(width, height);
          c.font_size = size;
          c = on_side(side, view, c);
          const viz::Scene scene = export_scene_of(
              view, c,
              {.page = Page::exact, .target = slide ? Target::slide : Target::screen, .letters_grow = slide});
          widths[side == Side::run] = scale_of_legend(scene);
          bars[side == Side::run] = scale_of_bars(c, scene);
        }
        EXPECT_GT(widths[0], 0);
        EXPECT_GT(bars[0], 0);
        EXPECT_NEAR(widths[0], widths[1], 1e-3 * widths[0]);
        EXPECT_NEAR(bars[0], bars[1], 1e-3 * bars[0]);
      }
  }
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

/// The numbers below the tokens, what the others come to, and the rest: together they are the logit,
/// whichever tokens have room for their numbers.
TEST(FlowFigure, NumbersBelowTheTokensAndTheRestAreTheLogit) {
  constexpr const char* kLong =
      "Once upon a time there was a king who had a golden crown. Once upon a time there was a queen who had "
      "a "
      "golden";
  const View& view = *find_view("flow");
  int with_others = 0;
  for (const char* prompt : {kMary, kLong, "The"}) {
    const Scenario s(prompt);
    const double logit = s.ask(LogitFlowOf{s.length() - 1})->logit;
    const auto check = [&](const viz::Scene& scene) {
      int numbers = 0;
      double sum = 0;
      float row = 0;  // numbers further up are those of MLPs
      const auto runs = items_of<viz::GlyphRun>(scene);
      for (const viz::GlyphRun& run : runs)
        if (run.text.starts_with("rest ")) row = run.origin.y;
      for (const viz::GlyphRun& run : runs)
        if (const double part = signed_number(run.text); !std::isnan(part) && run.origin.y > row)
          sum += part, ++numbers;
      for (const char* words : {"rest ", "others ", "other tokens ", "tokens and MLPs ", "tokens "}) {
        const double part = number_after(scene, words);
        sum += part;
        with_others += part != 0 && std::string_view(words) != "rest " ? 1 : 0;
      }
      EXPECT_NEAR(sum, logit, 0.006 * (numbers + 2));
    };
    for (const char* edges : {"auto", "24"}) {
      for (const auto& [width, height] : {std::pair{1191.F, 842.F},
                                          {468.F, 560.F},
                                          {1600.F, 900.F},
                                          {900.F, 700.F},
                                          {3840.F, 2160.F},
                                          {640.F, 480.F}}) {
        SCOPED_TRACE(std::string(prompt) + ", " + edges + " edges, " + std::to_string(width));
        const ViewFixture shown("flow", s, width, height, {{"flow-edges", edges}});
        if (shown.picture().readable) check(shown.scene());
      }
      for (const Target target : {Target::column, Target::page, Target::slide}) {
        SCOPED_TRACE(std::string(prompt) + ", " + edges + " edges, target " +
                     std::to_string(static_cast<int>(target)));
        check(
            export_scene_of(view, printed_context(target, s, edges),
                            {.page = target == Target::slide ? Page::exact : Page::width, .target = target}));
      }
    }
  }
  EXPECT_GT(with_others, 0);
}

/// On paper no line is thinner than half a point: widths of weak edges do not say how weak they are.
TEST(FlowFigure, OnPaperTheLegendSaysWhatTheThinnestLinesStandFor) {
  const Scenario s(kMary);
  const View& view = *find_view("flow");
  const ViewContext c = printed_context(Target::column, s, "24");
  const Picture picture = export_picture_of(view, c, {.page = Page::width, .target = Target::column});
  const auto words = texts(picture.scene);
  EXPECT_THAT(words, Contains(StartsWith("this thick: ")));
  const auto said =
      std::ranges::find_if(words, [](const auto& w) { return w.starts_with("thinnest lines: "); });
  ASSERT_NE(said, words.end());
  const double least = std::stod(said->substr(std::string("thinnest lines: ").size()));
  const Table edges = view.table(c);
  EXPECT_TRUE(std::ranges::any_of(edges.rows,
                                  [&](const auto& row) { return std::abs(std::stod(row.back())) < least; }));
  EXPECT_THAT(texts(ViewFixture("flow", s, 1600, 900).scene()), Not(Contains(StartsWith("thinnest"))))
      << "on a screen they are as thin as they are";
}

TEST(FlowFigure, ALowPaneIsForTheDrawing) {
  const Scenario s(kMary);
  for (const auto& [width, height] : {std::pair{345.F, 420.F}, {700.F, 300.F}}) {
    ViewContext c = s.context(width, height);
    c.in_pane = true;
    EXPECT_THAT(edges_words(find_view("flow")->build(c).scene), Not(StartsWith("0 of "))) << width;
  }
}

/// Both sides have one scale, in a layout that may leave the names less room.
TEST(FlowFigure, GuessesKeepTheirNamesBesideTheOtherSide) {
  const Scenario s = testing::edited(
      "L0H0.z=0", {5, 5, -1},
      "Once there was a little girl who lived by the sea with a big black dog. Every morning she");
  for (const float height : {300.F, 330.F, 360.F, 400.F})
    for (const float width : {450.F, 490.F, 530.F}) {
      ViewContext c = on(Side::run, "flow", s, width, height);
      c.in_pane = true;
      const Picture picture = find_view("flow")->build(c);
      if (picture.regions.empty()) continue;  // too small
      EXPECT_THAT(texts(picture.scene), Contains("·was")) << width << " x " << height;
    }
}

TEST(FlowFigure, TheLegendExplainsStubs) {
  const Scenario s(kMary);
  constexpr const char* kWords = "attention to the first token: stubs";
  for (const auto& [width, height] : kSizes) {
    EXPECT_THAT(texts(ViewFixture("flow", s, width, height, {{"flow-edges", "24"}}).scene()),
                Contains(kWords));
    EXPECT_THAT(texts(ViewFixture("flow", s, width, height, {{"flow-first", "edges"}}).scene()),
                Not(Contains(kWords)));
  }
}

/// What is drawn of the edges and their part of the width are on one line.
TEST(FlowFigure, TheShareOfTheWidthStaysWithTheNumberOfEdges) {
  const Scenario s(kMary);
  for (const auto& [width, height] :
       {std::pair{1191.F, 842.F}, {1000.F, 700.F}, {624.F, 700.F}, {468.F, 560.F}}) {
    std::vector<float> y;
    const viz::Scene scene = ViewFixture("flow", s, width, height).scene();
    const std::vector<std::string> all = texts(scene);
    const auto runs = items_of<viz::GlyphRun>(scene);
    ASSERT_EQ(runs.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].ends_with(" edges")) y.push_back(runs[i].origin.y);
    ASSERT_EQ(y.size(), 2U) << width;
    EXPECT_EQ(y[0], y[1]) << width;
  }
}

/// The largest MLPs of the token have their numbers, others if there is room.
TEST(FlowFigure, TheLargestMlpsHaveTheirNumbers) {
  for (const char* prompt : {kMary, "The"}) {
    const Scenario s(prompt);
    const auto flow = s.ask(LogitFlowOf{s.length() - 1});
    for (const auto& [width, height] : {std::pair{1191.F, 842.F}, {1280.F, 640.F}, {900.F, 700.F}}) {
      const std::vector<std::string> all = texts(ViewFixture("flow", s, width, height).scene());
      for (int layer = 0; layer < flow->layers; ++layer) {
        const double value = flow->mlps[flow->at(layer, flow->position)];
        if (std::abs(value) < 0.05 * std::abs(flow->logit)) continue;
        const std::string number = (value > 0 ? "+" : "") + viz::fixed_number(value, 2);
        EXPECT_THAT(all, Contains("MLP " + std::to_string(layer) + " " + number)) << prompt << ", " << width;
      }
    }
  }
}

/// A chosen number of edges takes neither the rest's nor the MLPs' numbers: there are fewer, and the legend
/// says so.
TEST(FlowFigure, ChosenEdgesLeaveRoomForTheSources) {
  const Scenario s(kMary);
  for (const float width : {330.F, 420.F, 500.F}) {
    ViewContext c = s.context(width, 560);
    c.in_pane = true;
    c.options.set(*find_option("flow-edges"), 48);
    const viz::Scene scene = find_view("flow")->build(c).scene;
    EXPECT_THAT(texts(scene), Contains(StartsWith("rest "))) << width;
    EXPECT_THAT(texts(scene), Contains(StartsWith("MLP +"))) << width;
    EXPECT_THAT(edges_words(scene), AnyOf(StartsWith("48 of "), StartsWith("no room for 48: "))) << width;
  }
}

/// A search for the number of edges that fit stays short, however many are wanted.
TEST(FlowFigure, ManyEdgesInLittleRoomAreFoundSoon) {
  const Scenario s(kMary);
  for (const float side : {200.F, 260.F, 320.F}) {
    const auto begin = std::chrono::steady_clock::now();
    static_cast<void>(ViewFixture("flow", s, side, side, {{"flow-edges", "200"}}).picture());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1)) << side;
  }
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
}  // namespace headscope::app::flow_figure_test
