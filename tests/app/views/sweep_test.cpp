// The picture of a sweep compared with the answer, complete and partial, and the commands of its cells.

#include "app/run/analyses/sweep.h"

#include <numbers>
#include <set>

#include "app/counted.h"
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/next_token.h"
#include "app/run/edits/edit_list.h"
#include "app/run/edits/edit_text.h"
#include "app/views/output/path_receiver.h"
#include "app/views/output/sweep_options.h"
#include "app/views/output/sweep_question.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::sweep_test {
namespace {

constexpr int kGrid = 0;  // index of the region

SweepOf of_heads(const Scenario& s) {
  return {.position = s.selection.query};
}

TEST(SweepView, SaysWhichPositionsAPatchReaches) {
  const auto subtitle = [](Alignment by, const char* metric) {
    const Scenario two = of_two({2, 1, -1}, by);
    return ViewFixture("sweep", two, 1000, 700, {{"sweep-change", "patch"}, {"sweep-metric", metric}})
        .picture()
        .subtitle;
  };
  for (const char* metric : {"logit", "kl"}) {
    EXPECT_THAT(subtitle(Alignment::subsequence, metric),
                EndsWith("; 5 of 6 positions patched, from equal tokens"));
    EXPECT_THAT(subtitle(Alignment::position, metric),
                EndsWith("; 6 of 6 positions patched, from the same positions"));
  }
  EXPECT_THAT(ViewFixture("sweep", of_two(), 1000, 700).picture().subtitle, Not(HasSubstr("patched")));
}

TEST(SweepView, CellsAndTooltipsAreTheAnswers) {
  const Scenario s(kRobot);
  const ViewFixture shown("sweep", s, 1000, 700);
  const auto sweep = s.ask(of_heads(s));
  const viz::Region& grid = shown.region(kGrid);
  ASSERT_EQ(grid.row_count, s.config().n_layer);
  ASSERT_EQ(grid.col_count, s.config().n_head);
  auto page = shown.page();
  const auto bars = upright_bars(shown.scene());
  ASSERT_EQ(bars.size(), 1U);
  const DrawnScale scale(page, bars[0]);
  for (int layer = 0; layer < grid.row_count; ++layer)
    for (int head = 0; head < grid.col_count; ++head) {
      const double difference = sweep->difference(SweepMetric::difference, layer, head);
      EXPECT_TRUE(reads(scale, shown.color_of(kGrid, layer, head), difference));
      const auto lines = shown.tooltip(kGrid, layer, head);
      EXPECT_THAT(lines, Contains(head_name(layer, head) + " off"));
      EXPECT_THAT(lines, Contains(HasSubstr("Δ logit difference " + std::string(difference > 0 ? "+" : "") +
                                            exact(difference))));
      EXPECT_THAT(lines, Contains("from " + exact(sweep->before.of(SweepMetric::difference)) + " to " +
                                  exact(sweep->at(layer, head).of(SweepMetric::difference))));
    }
}

TEST(SweepView, ASiteOfHeadsIsNamedAndAskedFor) {
  const Scenario s(kRobot);
  const ViewFixture shown("sweep", s, 1000, 700, {{"sweep-site", "k"}});
  const auto sweep = s.ask(SweepOf{.site = model::Site::k, .position = s.selection.query});
  EXPECT_THAT(texts(shown.scene()), Contains("Each head's k zeroed"));
  EXPECT_THAT(shown.tooltip(kGrid, 2, 4),
              IsSupersetOf({std::string("L2 H4"), std::string("L2 H4 k off"),
                            "from " + exact(sweep->before.of(SweepMetric::difference)) + " to " +
                                exact(sweep->at(2, 4).of(SweepMetric::difference))}));
  EXPECT_EQ(std::get<ToggleEdit>(shown.choose("Apply “L2 H4 k off”", kGrid, 2, 4).at(0)).edit,
            parse_edits("L2H4.k=0", *bundled()).at(0));
}

TEST(SweepView, HeadsAtPositionsHaveARowEach) {
  const Scenario s(kRobot);
  const ViewFixture shown("sweep", s, 1000, 900, {{"sweep-over", "head-position"}});
  const SweepOf question{.over = SweepOver::head_positions, .position = s.selection.query};
  const auto sweep = s.ask(question);
  const int heads = s.config().n_head, layers = s.config().n_layer;
  const viz::Region& grid = shown.region(kGrid);
  ASSERT_EQ(grid.row_count, layers * heads);
  ASSERT_EQ(grid.col_count, s.selection.query + 1);
  EXPECT_THAT(texts(shown.scene()), IsSupersetOf({"Each head at each position zeroed", "L0 H0", "L5 H7"}));
  const ViewFixture low("sweep", s, 1000, 500, {{"sweep-over", "head-position"}});
  EXPECT_THAT(texts(low.scene()), IsSupersetOf({"L0", "L5"})) << "rows have no room for the names of heads";
  const auto bars = upright_bars(shown.scene());
  ASSERT_EQ(bars.size(), 1U);
  auto page = shown.page();
  const DrawnScale scale(page, bars[0]);
  for (const auto& [layer, head, position] :
       {std::tuple(0, 0, 3), std::tuple(2, 7, 1), std::tuple(5, 3, 6)}) {
    const int row = layer * heads + head;
    const std::size_t cell = static_cast<std::size_t>(row * grid.col_count + position);
    const double difference =
        sweep->readings[cell].of(SweepMetric::difference) - sweep->before.of(SweepMetric::difference);
    EXPECT_TRUE(reads(scale, shown.color_of(kGrid, row, position), difference));
    const std::string edit = head_name(layer, head) + " off at " + std::to_string(position);
    EXPECT_THAT(shown.tooltip(kGrid, row, position),
                IsSupersetOf({head_name(layer, head) + " at " + token_name(s.run->tokens, position),
                              "from " + exact(sweep->before.of(SweepMetric::difference)) + " to " +
                                  exact(sweep->readings[cell].of(SweepMetric::difference))}));
    EXPECT_EQ(
        in_words(shown.click(kGrid, row, position)),
        "head " + std::to_string(layer) + " " + std::to_string(head) + ", key " + std::to_string(position));
  }
  const viz::Hit cell{kGrid, 4 * heads + 3, 2};
  const auto double_click = [&](bool shift) {
    return find_view("sweep")->on(shown.context(), shown.picture(), &cell,
                                  {Gesture::Kind::double_click, {}, {}, {.shift = shift}});
  };
  EXPECT_EQ(std::get<ToggleEdit>(double_click(false).at(0)).edit,
            parse_edits("L4H3.z[2]=0", *bundled()).at(0));
  EXPECT_EQ(std::get<ToggleEdit>(double_click(true).at(0)).edit, parse_edits("L4H3.z=0", *bundled()).at(0))
      << "the head's row";
  const Table table = shown.table();
  ASSERT_EQ(std::ssize(table.rows), std::ptrdiff_t{layers} * heads * grid.col_count + 2);
  EXPECT_THAT(std::vector(table.header.begin(), table.header.begin() + 4),
              ElementsAre("layer", "head", "position", "token"));
}

TEST(SweepView, ManyHeadsAtPositionsAreNamedByLayer) {
  const Scenario s(kRobot);
  const auto named = [&](float height) {
    return texts(ViewFixture("sweep", s, 900, height, {{"sweep-over", "head-position"}}).scene());
  };
  EXPECT_THAT(named(600), AllOf(Contains("L3"), Not(Contains("L3 H2"))));
  EXPECT_THAT(named(1600), AllOf(Contains("L3 H2"), Not(Contains("L3"))));
}

TEST(SweepView, MlpsAreAListByLayer) {
  const Scenario s(kRobot);
  const ViewFixture shown("sweep", s, 900, 600, {{"sweep-over", "mlps"}});
  const SweepOf question{
      .over = SweepOver::mlps, .site = model::Site::mlp_out, .position = s.selection.query};
  const auto sweep = s.ask(question);
  EXPECT_THAT(texts(shown.scene()), IsSupersetOf({"Each MLP zeroed", "L0 MLP", "L5 MLP"}));
  ASSERT_EQ(std::ssize(shown.picture().regions), s.config().n_layer);
  for (int layer = 0; layer < s.config().n_layer; ++layer) {
    EXPECT_THAT(
        shown.tooltip(layer),
        IsSupersetOf({"L" + std::to_string(layer) + " MLP", "L" + std::to_string(layer) + " mlp_out off",
                      "from " + exact(sweep->before.of(SweepMetric::difference)) + " to " +
                          exact(sweep->at(layer, 0).of(SweepMetric::difference))}));
  }
  EXPECT_EQ(std::get<ToggleEdit>(shown.choose("Apply “L2 mlp_out off”", 2).at(0)).edit,
            parse_edits("L2.mlp_out=0", *bundled()).at(0));
  EXPECT_EQ(in_words(shown.click(4)), "head 4 1");
  const Table table = shown.table();
  ASSERT_EQ(std::ssize(table.rows), s.config().n_layer + 2);
  EXPECT_EQ(table.header[1], "edit");
  EXPECT_EQ(std::stod(table.rows[3][2]), sweep->difference(SweepMetric::difference, 3, 0));
}

TEST(SweepView, NeuronsAreAListTheStrongestFirst) {
  const Scenario s(kRobot);
  const NamedOptions options{{"sweep-over", "neurons"}, {"sweep-neurons", "12"}};
  const ViewFixture shown("sweep", s, 900, 600, options);
  const SweepOf question{.over = SweepOver::neurons,
                         .site = model::Site::mlp_post,
                         .position = s.selection.query,
                         .neurons = 12,
                         .estimates = true};
  const auto sweep = s.ask(question);
  const Table table = shown.table();
  ASSERT_EQ(table.rows.size(), 12U + 2U);
  double last = std::numeric_limits<double>::infinity();
  for (std::size_t row = 0; row < 12; ++row) {
    const double change = std::abs(std::stod(table.rows[row][3]));
    EXPECT_LE(change, last);
    last = change;
    const std::string name = neuron_name(std::stoi(table.rows[row][0]), std::stoi(table.rows[row][1]));
    EXPECT_THAT(texts(shown.scene()), Contains(name));
    EXPECT_THAT(shown.tooltip(static_cast<int>(row)).front(), name);
    EXPECT_THAT(shown.tooltip(static_cast<int>(row)), Contains(table.rows[row][2]));
  }
  EXPECT_THAT(texts(shown.scene()), Contains("Neurons with the largest estimated effect, each zeroed"));
  const model::Config& config = s.config();
  EXPECT_THAT(shown.picture().subtitle,
              EndsWith("; 12 of " + counted(std::int64_t{config.n_layer} * config.n_inner, "neuron")));
  // Without the exact differences they are in the order of their estimates.
  Sweep part = *sweep;
  part.known.assign(part.known.size(), false);
  OneAnswer answers(question, part, false);
  const ViewFixture begun("sweep", s.context(900, 600, answers), options);
  EXPECT_THAT(texts(begun.scene()), Contains("computing… 0 of 12"));
  EXPECT_EQ(begun.tooltip(0).front(), neuron_name(part.neurons[0].layer, part.neurons[0].neuron));
  EXPECT_THAT(begun.tooltip(0), Contains("computing…"));
  EXPECT_THAT(
      find_view("sweep")->refuse(
          ViewFixture("sweep", s, 900, 600, {{"sweep-over", "neurons"}, {"sweep-metric", "kl"}}).context()),
      AllOf(StartsWith("neurons are chosen by estimates"), EndsWith("see --metric")));
}

/// The marks of a grid are found by the run's edits; here each of its cells is asked for.
TEST(SweepView, MarksTheCellsThatTheRunEditsAlready) {
  const Scenario plain(kRobot);
  const int length = plain.length();
  const std::vector<int> source(static_cast<std::size_t>(length), 11);
  std::vector<int> aligned(source.size(), -1);
  aligned[1] = 0, aligned[2] = 3, aligned[4] = 4;
  const PatchPrompt same{source, {}}, other{source, aligned};
  const std::pair<SweepOver, int> grids[] = {{SweepOver::heads, 8},
                                             {SweepOver::positions, 5},
                                             {SweepOver::senders, 9},
                                             {SweepOver::head_positions, 40}};
  for (const auto& [over, columns] : grids)
    for (const auto& [kind, from] :
         {std::pair(SweepEdit::zero, PatchPrompt{}), std::pair(SweepEdit::mean, PatchPrompt{}),
          std::pair(SweepEdit::patch, same), std::pair(SweepEdit::patch, other)}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(over)) + " " + std::to_string(static_cast<int>(kind)));
      const SweepOf question{.over = over,
                             .site = sites_of(over).front(),
                             .receiver = {{{model::Site::q, 3}, 2, {}, {}}, 8},
                             .edit = kind,
                             .from = from,
                             .position = 4};
      EditList list;
      for (const model::Edit& edit :
           parse_edits("L1.z=0; L3H1.z[0,2]=0; L2.resid_pre[1,3]=0; L4.resid_pre=0; "
                       "L3H1.q=0; L5H2.z=0; L1H1.z=0 -> L4H2.q",
                       *bundled()))
        list = with_edit(list, edit);
      for (const auto& [layer, column] : {std::pair(2, 2), {2, 4}, {2, 1}, {0, 4}, {1, 2}})
        for (const model::Edit& edit : question.edits(layer, column)) list = with_joined_edit(list, edit);
      const Scenario s(Prompt{kRobot, {}, false, list.active()});
      const ViewContext c = s.context(900, 600);
      const auto numbers = [](const SweepPlace& place) {
        return std::tuple(place.layer, place.head, place.position, place.is_mlp);
      };
      std::set<std::tuple<int, std::optional<int>, std::optional<int>, bool>> expected, found;
      for (int layer = 0; layer < 6; ++layer)
        for (int column = 0; column < columns; ++column)
          if (const SweepPlace place = question.place_of(layer, column); is_applied(c, question, place))
            expected.insert(numbers(place));
      for (const SweepPlace& place : applied_places(c, question)) found.insert(numbers(place));
      EXPECT_EQ(found, expected);
      EXPECT_GE(expected.size(), 4U);
    }
}

TEST(SweepView, ListsMarkWhatIsThereAlreadyAndScroll) {
  const Scenario s(Prompt{kRobot, {}, false, parse_edits("L2.mlp_out=0", *bundled())});
  EXPECT_THAT(texts(ViewFixture("sweep", s, 900, 600, {{"sweep-over", "mlps"}}).scene()),
              IsSupersetOf({::testing::Matcher<std::string>("L2 MLP  •"),
                            ::testing::Matcher<std::string>(EndsWith("• already edited"))}));
  const Scenario plain(kRobot);
  ViewContext c = plain.context(900, 500);
  c.in_pane = true;
  set(c, "sweep-over", "neurons");
  const View& view = *find_view("sweep");
  const Picture picture = view.build(c);
  ASSERT_EQ(view.scrolls(c, picture).size(), 1U);
  const ViewActions down = view.on(c, picture, nullptr, {Gesture::Kind::wheel, {}, {0, -1}, {}});
  ASSERT_EQ(down.size(), 1U);
  EXPECT_EQ(std::get<SetOption>(down[0]).option->name, "first-swept");
  c.in_pane = false;
  c.max_rows = 5;
  EXPECT_EQ(view.refuse(c), "");
  set(c, "sweep-over", "heads");
  EXPECT_EQ(view.refuse(c), "--rows applies only to lists, --sweep-over mlps and neurons");
}

TEST(SweepView, RefusesASiteThatCannotBeEditedSo) {
  const auto refused = [](const NamedOptions& options) {
    const ViewFixture shown("sweep", Scenario(kRobot), 900, 600, options);
    const std::string why = find_view("sweep")->refuse(shown.context());
    EXPECT_THAT(texts(shown.scene()), Contains(why.substr(0, why.find("; see"))));
    EXPECT_TRUE(shown.table().rows.empty());
    return why;
  };
  EXPECT_EQ(refused({{"sweep-site", "mlp_out"}}),
            "heads have no site mlp_out to edit: choose z, q, k, v or pattern; see --site");
  EXPECT_EQ(refused({{"sweep-site", "pattern"}, {"sweep-change", "mean"}}),
            "patterns have no mean over positions: zero or patch them; see --sweep-change");
}

TEST(SweepView, SetsTheMeansOfTheOpenListAndSaysWhose) {
  const Scenario s(kRobot);
  const NamedOptions options{{"sweep-change", "list-mean"}};
  SweepOf question = of_heads(s);
  question.edit = SweepEdit::list_mean;
  const MeansOverList means = question.means_over({s.prompts, false}, s.config());
  question.mean_over = {means.over, s.ask(means)};
  const auto sweep = s.ask(question);
  const ViewFixture shown("sweep", s, 1200, 700, options);
  EXPECT_EQ(shown.picture().title, "Each head replaced by its mean over a list of prompts");
  EXPECT_THAT(shown.picture().subtitle, EndsWith("; means over 10 tokens of 2 prompts of “two.txt”"));
  EXPECT_THAT(caption(*find_view("sweep"), shown.context()),
              EndsWith(" · set to means over the prompts of “two.txt”"));
  EXPECT_THAT(shown.tooltip(kGrid, 2, 4),
              IsSupersetOf({std::string("L2 H4 = mean over the list"),
                            "from " + exact(sweep->before.of(SweepMetric::difference)) + " to " +
                                exact(sweep->at(2, 4).of(SweepMetric::difference))}));
  // What is applied are the numbers.
  const auto applied = shown.choose("Apply “L2 H4 = mean over the list”", kGrid, 2, 4);
  ASSERT_EQ(applied.size(), 1U);
  EXPECT_EQ(std::get<ToggleEdit>(applied[0]).edit,
            model::Edit(s.ask(means)->edit({{model::Site::z, 2}, 4, {}, {}})));
  const auto row = shown.choose("Apply to the whole row: “L2 z = mean over the list”", kGrid, 2, 4);
  ASSERT_EQ(row.size(), 1U) << "one edit, whatever the heads";
  EXPECT_EQ(std::get<ToggleEdit>(row[0]).edit,
            model::Edit(s.ask(means)->edit({{model::Site::z, 2}, {}, {}, {}})));
}

TEST(SweepView, WithoutAListSaysSo) {
  const Scenario s(kRobot);
  ViewContext none = s.context(900, 600);
  none.prompts = nullptr;
  set(none, "sweep-change", "list-mean");
  EXPECT_THAT(texts(find_view("sweep")->build(none).scene),
              Contains(HasSubstr("no list of prompts is open")));
  EXPECT_EQ(find_view("sweep")->refuse(none), "there are no means of a list of prompts; see --sweep-change");
  // Until the means are known, it says how far they are.
  SweepOf question = of_heads(s);
  ActivationMeans part;
  part.progress.done = 1;
  OneAnswer answers(question.means_over({s.prompts, false}, s.config()), part, false);
  ViewContext waiting = s.context(900, 600, answers);
  set(waiting, "sweep-change", "list-mean");
  EXPECT_THAT(texts(find_view("sweep")->build(waiting).scene),
              Contains(HasSubstr("means: computing… 1 of 2 prompts of “two.txt”")));
}

TEST(SweepView, TheTableHasEveryEdit) {
  const Scenario s(kRobot);
  for (const auto& [name, metric] :
       {std::pair("logit", SweepMetric::logit), std::pair("difference", SweepMetric::difference),
        std::pair("probability", SweepMetric::probability), std::pair("kl", SweepMetric::divergence)}) {
    const ViewFixture shown("sweep", s, 900, 600,
                            {{"sweep-metric", name},
                             {"sweep-over", "layer-position"},
                             {"sweep-site", "mlp_out"},
                             {"sweep-change", "mean"}});
    const auto sweep = s.ask(SweepOf{.over = SweepOver::positions,
                                     .site = model::Site::mlp_out,
                                     .edit = SweepEdit::mean,
                                     .position = s.selection.query});
    Table table = shown.table();
    const int places = s.config().n_layer * s.length();
    ASSERT_GT(std::ssize(table.rows), places) << "the unedited metric, too";
    table.rows.resize(static_cast<std::size_t>(places));
    for (const auto& row : table.rows) {
      const int layer = std::stoi(row[0]), position = std::stoi(row[1]);
      EXPECT_EQ(row[2], s.run->tokens.labels[position]);
      const double unit =
          metric == SweepMetric::divergence ? std::numbers::log2e : 1;  // nats are shown as bits
      EXPECT_EQ(std::stod(row[4]), unit * sweep->difference(metric, layer, position));
      EXPECT_EQ(std::stod(row[5]), unit * sweep->at(layer, position).of(metric));
    }
  }
}

TEST(SweepView, ShowsWhatIsThereAlready) {
  const Scenario s(kRobot);
  Sweep part = *s.ask(of_heads(s));
  for (std::size_t i = 12; i < part.known.size(); ++i) part.known[i] = false;
  OneAnswer answers(of_heads(s), part, false);
  EXPECT_TRUE(find_view("sweep")->shows_parts);
  const ViewFixture shown("sweep", s.context(900, 600, answers));
  EXPECT_THAT(texts(shown.scene()), Contains(HasSubstr("computing… 12 of 48; so far strongest: ")));
  EXPECT_THAT(shown.tooltip(kGrid, 1, 3), Contains(HasSubstr("Δ logit difference")));
  EXPECT_THAT(shown.tooltip(kGrid, 1, 4), ElementsAre("L1 H4", "computing…"));
  EXPECT_EQ(std::ssize(shown.table().rows), 12 + 1) << "and the unedited metric";
}

/// The question with estimates, as the view asks it.
SweepOf with_estimates(SweepOf question) {
  question.estimates = true;
  return question;
}

TEST(SweepView, CellsThatAreEstimatedAreHalfAsHighAndSaySo) {
  const Scenario s(kRobot);
  Sweep part = *s.ask(with_estimates(of_heads(s)));
  for (std::size_t i = 12; i < part.known.size(); ++i) part.known[i] = false;
  OneAnswer answers(of_heads(s), part, false);
  const ViewFixture shown("sweep", s.context(900, 600, answers));
  const std::string correlation = viz::fixed_number(part.estimate_correlation(SweepMetric::difference), 2);
  EXPECT_THAT(
      texts(shown.scene()),
      Contains("half-height cells are first-order estimates; rank correlation with the exact differences "
               "so far " +
               correlation));
  // Half of an estimated cell is covered.
  const viz::Region& grid = shown.region(kGrid);
  float covered = 0;
  for (const viz::Item& item : shown.scene().items)
    if (const auto* fill = std::get_if<viz::FillRect>(&item);
        fill != nullptr && fill->color == light().surface && fill->radius == 0 &&
        fill->rect.w < grid.rect.w + 1 && grid.rect.contains(fill->rect.center()))
      covered += fill->rect.w * fill->rect.h;
  EXPECT_NEAR(covered, 0.5F * grid.rect.w * grid.rect.h * 36 / 48, 0.02F * grid.rect.w * grid.rect.h);
  const double estimate = part.estimate(SweepMetric::difference, 1, 4);
  const std::string words =
      "Δ logit difference, estimated " + std::string(estimate > 0 ? "+" : "") + exact(estimate);
  EXPECT_THAT(shown.tooltip(kGrid, 1, 4), ElementsAre("L1 H4", words, "computing…"));
  EXPECT_THAT(shown.tooltip(kGrid, 1, 3), Contains(HasSubstr("Δ logit difference, estimated ")));
  const Table table = shown.table();
  ASSERT_EQ(std::ssize(table.rows), 48 + 2);
  EXPECT_EQ(table.header.back(), "estimated change of difference");
  EXPECT_EQ(std::stod(table.rows[12].back()), part.estimate(SweepMetric::difference, 1, 4));
  EXPECT_EQ(table.rows[12][4], "") << "not known yet";
  EXPECT_NE(table.rows[11][4], "");
}

TEST(SweepView, EstimatesAreRankedWithTheCells) {
  const Scenario s(kRobot);
  const Sweep whole = *s.ask(with_estimates(of_heads(s)));
  const auto said = [&](const char* metric, const Sweep& sweep, bool complete) {
    OneAnswer answers(of_heads(s), sweep, complete);
    return texts(ViewFixture("sweep", s.context(900, 600, answers), {{"sweep-metric", metric}}).scene());
  };
  EXPECT_THAT(said("logit", whole, true),
              Contains("first-order estimates: rank correlation with the exact differences " +
                       viz::fixed_number(whole.estimate_correlation(SweepMetric::logit), 2)));
  Sweep part = whole;
  part.known.assign(part.known.size(), false);
  EXPECT_THAT(said("difference", part, false), Contains("half-height cells are first-order estimates"));
  EXPECT_THAT(said("kl", part, false),
              Contains("no estimates: KL is smallest at the run itself, so its slope is 0 there"));
}

TEST(SweepView, TheStrongestCellHasAColourOfItsOwn) {
  const Scenario s(kRobot);
  const SweepOf question{
      .over = SweepOver::positions, .site = model::Site::resid_pre, .position = s.selection.query};
  Sweep sweep = *s.ask(question);
  const auto difference_becomes = [&](int layer, int column, double difference) {
    SweepReading& reading = sweep.readings[layer * sweep.columns + column];
    reading.logit = sweep.before.logit + difference;
    reading.against = sweep.before.against;
  };
  for (int layer = 0; layer < sweep.layers; ++layer)
    for (int column = 0; column < sweep.columns; ++column) difference_becomes(layer, column, 0.001);
  difference_becomes(2, 3, 1);
  difference_becomes(0, 0, 50);  // the first token's
  OneAnswer answers(question, sweep, true);
  const ViewFixture shown("sweep", s.context(900, 600, answers), {{"sweep-over", "layer-position"}});
  const auto color_at = [&](int layer, int column) { return shown.color_of(kGrid, layer, column); };
  const auto apart = [&](viz::Color a, viz::Color b) { return std::abs(a.r - b.r) + std::abs(a.b - b.b); };
  EXPECT_LT(apart(*color_at(2, 3), *color_at(0, 0)), 32) << "both at the end of the scale";
  EXPECT_GT(apart(*color_at(2, 3), *color_at(1, 1)), 128);
}

TEST(SweepView, ACellSelectsAndGivesItsEdit) {
  Scenario s(kRobot);
  const ViewFixture heads("sweep", s, 900, 600);
  EXPECT_EQ(in_words(heads.click(kGrid, 4, 3)), "head 4 3");
  EXPECT_EQ(in_words(heads.choose("Show L4 H3", kGrid, 4, 3)), "head 4 3");
  const ViewActions copied = heads.choose("Copy the edit “L4 H3 off”", kGrid, 4, 3);
  ASSERT_EQ(copied.size(), 1U);
  EXPECT_EQ(parse_edits(std::get<CopyText>(copied[0]).text, *bundled()), of_heads(s).edits(4, 3));
  const ViewActions applied = heads.choose("Apply “L4 H3 off”", kGrid, 4, 3);
  ASSERT_EQ(applied.size(), 1U);
  EXPECT_EQ(std::get<ToggleEdit>(applied[0]).edit, of_heads(s).edits(4, 3).at(0));
  const viz::Hit cell{kGrid, 4, 3};
  const ViewActions twice = find_view("sweep")->on(heads.context(), heads.picture(), &cell,
                                                   {Gesture::Kind::double_click, {}, {}, {}});
  ASSERT_EQ(twice.size(), 1U);
  EXPECT_EQ(std::get<ToggleEdit>(twice[0]).edit, of_heads(s).edits(4, 3).at(0));
  const ViewActions row = find_view("sweep")->on(heads.context(), heads.picture(), &cell,
                                                 {Gesture::Kind::double_click, {}, {}, {.shift = true}});
  ASSERT_EQ(row.size(), 1U);
  EXPECT_EQ(std::get<ToggleEdit>(row[0]).edit, parse_edits("L4.z=0", *bundled()).at(0))
      << "all heads of the layer";
  EXPECT_EQ(std::get<ToggleEdit>(heads.choose("Apply to the whole row: “L4 z off”", kGrid, 4, 3).at(0)).edit,
            std::get<ToggleEdit>(row[0]).edit);
  const ViewFixture positions("sweep", s, 900, 600, {{"sweep-over", "layer-position"}});
  EXPECT_EQ(in_words(positions.click(kGrid, 3, 5)), "head 3 1, key 5");
  EXPECT_EQ(in_words(heads.press(Key::right)), "head by 0 1");
  EXPECT_EQ(in_words(positions.press(Key::left, true)), in_words(heads.press(Key::left, true)));
}

TEST(SweepView, WhatIsEditedAlreadyHasADot) {
  const std::string words = "already edited";
  const auto dots = [&](const std::string& edits, const NamedOptions& options) {
    const Scenario s(
        Prompt{kRobot, {}, false, edits.empty() ? model::Edits{} : parse_edits(edits, *bundled())});
    const ViewFixture shown("sweep", s, 900, 600, options);
    std::vector<std::pair<int, int>> cells;
    for (const viz::Item& item : shown.scene().items) {
      const auto* dot = std::get_if<viz::FillRect>(&item);
      if (dot == nullptr || dot->radius == 0 || dot->color != light().text) continue;
      const viz::Region& grid = shown.region(kGrid);
      for (int row = 0; row < grid.rows; ++row)
        for (int col = 0; col < grid.cols; ++col)
          if (grid.cell_rect(row, col).contains(dot->rect.center())) cells.emplace_back(row, col);
    }
    EXPECT_EQ(!cells.empty(), std::ranges::any_of(texts(shown.scene()), [&](const std::string& text) {
      return text.find(words) != text.npos;
    }));
    return cells;
  };
  using Cells = std::vector<std::pair<int, int>>;
  EXPECT_EQ(dots("", {}), Cells{});
  EXPECT_EQ(dots("L1H6.z=0; L4H2.z=0; L3H3.z=mean; L2.mlp_out=0", {}), (Cells{{1, 6}, {4, 2}}));
  const NamedOptions positions{{"sweep-over", "layer-position"}};
  EXPECT_EQ(dots("L1.resid_pre[2,4]=0; L3.resid_pre[5]=0", positions), (Cells{{1, 2}, {1, 4}, {3, 5}}));
}

TEST(SweepView, PatchingNeedsSomethingToPatchFrom) {
  const ViewFixture shown("sweep", Scenario(kRobot), 900, 600, {{"sweep-change", "patch"}});
  EXPECT_THAT(texts(shown.scene()), Contains(HasSubstr("nothing to patch from")));
  EXPECT_TRUE(shown.table().rows.empty());
  EXPECT_THAT(find_view("sweep")->refuse(shown.context()), HasSubstr("there is nothing to patch from"));
}

TEST(SweepView, PatchesFromWhatTheRunIsComparedWith) {
  const Scenario s(kRobot);
  std::vector<int> ids = s.run->run->tokens;
  ids[2] = ids[5];
  const Scenario other(Prompt{"", ids});
  auto compared = std::make_shared<PromptRun>(*s.run);
  compared->baseline = other.run;
  compared->aligned = aligned_positions(s.run->run->tokens, other.run->run->tokens, Alignment::position);
  SweepOf question = of_heads(s);
  question.edit = SweepEdit::patch;
  question.from = {other.run->run->tokens, compared->aligned};
  ViewContext c = s.context(900, 600);
  c.run = c.asked = compared;
  set(c, "sweep-change", "patch");
  OneAnswer answers(question, *s.ask(question));
  c.answers = &answers;
  const View& view = *find_view("sweep");
  const Picture picture = view.build(c);
  EXPECT_THAT(texts(picture.scene), Contains("Each head patched from the second prompt"));
  const viz::Hit cell{kGrid, 4, 3};
  EXPECT_EQ(std::get<ToggleEdit>(view.facts(c, picture, cell).menu()[0].actions.at(0)).edit,
            question.edits(4, 3).at(0));
}

TEST(SweepView, IsAskedByTheOptionsOfAQuestion) {
  const Scenario s(kRobot);
  const SweepOf question{.over = SweepOver::positions,
                         .site = model::Site::attn_out,
                         .edit = SweepEdit::mean,
                         .token = TokenChoice::of(11),
                         .against = TokenChoice::best(4),
                         .position = 3};
  ViewContext c = s.context(900, 600);
  c.selection = clamped({0, 0, 3, -1}, *s.run);
  c.options = sweep_options(question, SweepMetric::divergence);
  OneAnswer answers(question, *s.ask(question));
  c.answers = &answers;
  EXPECT_THAT(texts(find_view("sweep")->build(c).scene),
              Contains(HasSubstr("KL(run ‖ edited), bits, after 3")));
}

TEST(SweepView, OptionsOfAQuestionNameItsSite) {
  const Scenario s(kRobot);
  ViewContext c = s.context(900, 600);
  for (const ChoiceOf<SweepOver>& over : kSweepOver)
    for (const model::Site site : sites_of(over.value)) {
      const SweepOf question{.over = over.value, .site = site, .position = s.selection.query, .neurons = 7};
      c.options = sweep_options(question, SweepMetric::logit);
      EXPECT_EQ(sweep_question(c).over, over.value);
      EXPECT_EQ(sweep_question(c).site, site);
      EXPECT_EQ(sweep_question(c).neurons, over.value == SweepOver::neurons ? 7 : 64);
    }
}

TEST(SweepView, RefusesATokenThatIsNone) {
  const ViewFixture shown("sweep", Scenario(kRobot), 900, 600, {{"sweep-id", "4096"}});
  EXPECT_EQ(find_view("sweep")->refuse(shown.context()),
            "there is no token 4096: the vocabulary has ids 0 to 4095; see --token");
}

}  // namespace
}  // namespace headscope::app::sweep_test
