// Views of means over a list: what they draw, say and write, and the commands that make the same figures.
#include <nlohmann/json.hpp>

#include "app/run/analyses/means_on_list.h"
#include "app/run/analyses/next_token.h"
#include "app/views/parts/names.h"
#include "model/files/file_io.h"
#include "tests/app/command_runs.h"
#include "tests/app/prompt_lists.h"
#include "tests/app/view_fixture.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::list_means_test {
namespace {

using nlohmann::json;

const std::vector<std::string> kNames{"Fox", "Badger", "Wolf"};

/// The lines of a list, each with a second prompt and two tokens.
std::string lines() {
  std::string all;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const std::string &here = kNames[i], &there = kNames[(i + 1) % kNames.size()];
    all += json{{"prompt", testing::king_gave_to(here)},
                {"second", testing::king_gave_to(there)},
                {"token", " " + there},
                {"other_token", " " + here}}
               .dump() +
           "\n";
  }
  return all;
}

/// A folder with such a list, and a scenario where it is open.
struct OpenList {
  testing::TemporaryFolder folder;
  std::filesystem::path file = folder.write("pairs.jsonl", lines());
  Scenario s{"A robot must obey"};
  OpenList() { s.prompts = std::make_shared<const PromptList>(read_prompt_list(file)); }
  OverPrompts over() const { return {s.prompts, false}; }
  std::string path() const { return file.string(); }
  std::string out(const std::string& name) const { return (folder.path() / name).string(); }
};

/// Answers, also with failures.
class Answering final : public Answers {
 public:
  explicit Answering(const Scenario& s) : s_(s) {}
  std::shared_ptr<const Answer> ask(const Question& question) override {
    return std::make_shared<const Answer>(question.compute(*s_.run, {.workspace = workspace_}));
  }

 private:
  const Scenario& s_;
  model::Workspace workspace_{1};
};

/// "mean x ± y" of a cell as tooltips say it.
std::vector<std::string> said(const std::string& label, const SampleMean& mean, bool with_sign) {
  return {"mean " + label + (with_sign && mean.mean() > 0 ? " +" : " ") + exact(mean.mean()),
          "standard error " + exact(mean.standard_error()), std::to_string(mean.count()) + " prompts"};
}

TEST(ListMeansViews, ASweepShowsTheMeanOfEachHead) {
  const OpenList list;
  const ViewFixture shown("sweep", list.s, 1000, 700, {{"over-list", "yes"}});
  const auto means = list.s.ask(SweepOnList{list.over(), {}});
  const viz::Region& grid = shown.region(0);
  ASSERT_EQ(grid.row_count, list.s.config().n_layer);
  ASSERT_EQ(grid.col_count, list.s.config().n_head);
  auto page = shown.page();
  const auto bars = upright_bars(shown.scene());
  ASSERT_EQ(bars.size(), 1U);
  const DrawnScale scale(page, bars[0]);
  std::size_t cell = 0;
  for (int layer = 0; layer < grid.row_count; ++layer)
    for (int head = 0; head < grid.col_count; ++head, ++cell) {
      const SampleMean& mean = means->means.mean(cell);
      EXPECT_TRUE(reads(scale, shown.color_of(0, layer, head), mean.mean()));
      EXPECT_THAT(shown.tooltip(0, layer, head), IsSupersetOf(said("Δ logit difference", mean, true)));
    }
  EXPECT_EQ(shown.picture().title, "Each head zeroed");
  EXPECT_THAT(shown.picture().subtitle,
              StartsWith("mean of 3 prompts of “pairs.jsonl”, ± standard error; logit difference"));
  EXPECT_THAT(texts(shown.scene()), Contains(AllOf(StartsWith("strongest: L"), HasSubstr(" ± "))));
  EXPECT_EQ(in_words(shown.click(0, 2, 3)), "head 2 3");
  EXPECT_EQ(caption(*find_view("sweep"), shown.context()), "tales · mean over the prompts of “pairs.jsonl”");
}

TEST(ListMeansViews, SayHowManyPromptsCountAndWhyOthersDoNot) {
  OpenList list;
  PromptList with_long = *list.s.prompts;
  with_long.prompts.push_back({{.text = "", .ids = std::vector<int>(list.s.config().n_ctx + 1, 5)}});
  list.s.prompts = std::make_shared<const PromptList>(with_long);
  for (const char* view : {"sweep", "lens", "attribution"})
    EXPECT_THAT(ViewFixture(view, list.s, 1000, 700, {{"over-list", "yes"}}).picture().subtitle,
                StartsWith("mean of 3 of 4 prompts of “pairs.jsonl” (1 skipped: prompt 4: the prompt has "));
}

TEST(ListMeansViews, AFigureIsAboutNoHeadInParticularButAPaneMarksTheSelectedOne) {
  const OpenList list;
  Answering answers(list.s);
  const auto frames = [&](const char* view, bool in_pane) {
    ViewContext c = list.s.context(1000, 700, answers);
    c.in_pane = in_pane;
    const ViewFixture shown(view, c, {{"over-list", "yes"}});
    return std::ranges::count_if(shown.scene().items, [&](const viz::Item& item) {
      const auto* frame = std::get_if<viz::StrokeRect>(&item);
      return frame != nullptr && frame->color == c.theme->accent;
    });
  };
  for (const char* view : {"sweep", "attribution"}) {
    EXPECT_EQ(frames(view, false), 0) << view;
    EXPECT_EQ(frames(view, true), 1) << view;
  }
}

TEST(ListMeansViews, ASweepPatchesFromEachPromptsOwnSecondOne) {
  const OpenList list;
  const ViewFixture shown("sweep", list.s, 1000, 700, {{"over-list", "yes"}, {"sweep-change", "patch"}});
  SweepOf patch;
  patch.edit = SweepEdit::patch;
  const auto means = list.s.ask(SweepOnList{list.over(), patch});
  EXPECT_EQ(shown.picture().title, "Each head patched from each prompt's second one");
  EXPECT_THAT(
      shown.tooltip(0, 1, 6),
      IsSupersetOf(said("Δ logit difference",
                        means->means.mean(static_cast<std::size_t>(list.s.config().n_head) + 6), true)));
}

TEST(ListMeansViews, KlIsInBits) {
  const OpenList list;
  const ViewFixture shown("sweep", list.s, 1000, 700, {{"over-list", "yes"}, {"sweep-metric", "kl"}});
  const auto means = list.s.ask(SweepOnList{list.over(), {}, SweepMetric::divergence});
  EXPECT_THAT(shown.tooltip(0, 0, 0), Contains("mean KL, bits " + exact(bits(means->means.mean(0).mean()))));
  EXPECT_EQ(cells_of(shown.table(), "unit").front(), "nats") << "as the command writes it";
}

TEST(ListMeansViews, MlpsAreBarsWithTheirErrors) {
  const OpenList list;
  const ViewFixture shown("sweep", list.s, 1000, 700, {{"over-list", "yes"}, {"sweep-over", "mlps"}});
  EXPECT_THAT(texts(shown.scene()), IsSupersetOf({"L0 MLP", "L5 MLP", "±"}));
  SweepOf asked;
  asked.over = SweepOver::mlps;
  asked.site = model::Site::mlp_out;
  const auto means = list.s.ask(SweepOnList{list.over(), asked});
  EXPECT_THAT(shown.tooltip(2), IsSupersetOf(said("Δ logit difference", means->means.mean(2), true)));
}

TEST(ListMeansViews, TheLensListsItsPlaces) {
  const OpenList list;
  const ViewFixture shown("lens", list.s, 1000, 700, {{"over-list", "yes"}});
  const auto means = list.s.ask(LensOnList{list.over()});
  const int last = 2 * list.s.config().n_layer;
  EXPECT_THAT(texts(shown.scene()),
              IsSupersetOf({"5 post", "0 pre", "mean probability", "rank", "KL, bits"}));
  EXPECT_THAT(shown.picture().subtitle, EndsWith("of the token that the prompt's line names"));
  EXPECT_THAT(
      shown.tooltip(0),
      IsSupersetOf(said("probability", means->means.mean(static_cast<std::size_t>(last) * 3), false)));
  const ViewFixture ranks("lens", list.s, 1000, 700, {{"over-list", "yes"}, {"lens-color", "rank"}});
  EXPECT_THAT(ranks.tooltip(0),
              IsSupersetOf(said("rank", means->means.mean(static_cast<std::size_t>(last) * 3 + 1), false)));
}

TEST(ListMeansViews, AnAttributionShowsTheMeanOfEachPart) {
  const OpenList list;
  const ViewFixture shown("attribution", list.s, 1200, 900, {{"over-list", "yes"}});
  const auto means = list.s.ask(AttributionOnList{list.over()});
  EXPECT_EQ(shown.picture().title, "Logit difference by part");
  EXPECT_THAT(texts(shown.scene()), Contains("±"));
  const SampleMean& logit = means->means.means().back();
  std::string words;
  for (const std::string& text : texts(shown.scene())) words += text + " ";
  EXPECT_THAT(words, HasSubstr("the model's difference " + viz::fixed_number(logit.mean(), 4) + " ± " +
                               viz::number(logit.standard_error(), 2)));
  const std::size_t cell = 2 + 3 * (static_cast<std::size_t>(list.s.config().n_head) + 2) + 5;  // L3 H5
  ASSERT_EQ(means->means.cell(cell).name, "L3 H5");
  EXPECT_THAT(shown.tooltip(shown.find(0), 3, 5),
              IsSupersetOf(said("contribution to the difference", means->means.mean(cell), false)));
  const ViewFixture layers("attribution", list.s, 1200, 900,
                           {{"over-list", "yes"}, {"attribution-list", "layers"}});
  // Before the layers are the two embeddings.
  const int row = layers.find(2, 6);
  ASSERT_GE(row, 0);
  EXPECT_THAT(
      layers.tooltip(row),
      IsSupersetOf({std::string("layer 4"), "standard error " + exact(means->layers[4].standard_error())}));
  for (const char* one : {"sources", "neurons"})
    EXPECT_THAT(
        texts(ViewFixture("attribution", list.s, 900, 700, {{"over-list", "yes"}, {"attribution-list", one}})
                  .scene()),
        Contains(EndsWith("list parts or layers")));
}

TEST(ListMeansViews, SayWhatIsMissing) {
  OpenList list;
  Answering answers(list.s);
  const auto words = [&](const char* view, const NamedOptions& more) {
    NamedOptions options{{"over-list", "yes"}};
    options.insert(options.end(), more.begin(), more.end());
    const ViewFixture shown(view, list.s.context(1600, 700, answers), options);
    EXPECT_FALSE(shown.picture().whole);
    const std::vector<std::string> all = texts(shown.scene());
    return all.empty() ? std::string() : all.front();
  };
  EXPECT_EQ(words("sweep", {{"sweep-over", "neurons"}}), kNoMeanOfNeurons);
  list.s.prompts = testing::list_of(
      {{.text = "The king", .ids = {}}, {.text = "The king had a dog", .ids = {}}}, "two.txt");
  EXPECT_THAT(words("sweep", {{"sweep-over", "layer-position"}}),
              HasSubstr("need prompts of the same length"));
  EXPECT_EQ(words("sweep", {{"sweep-change", "patch"}}),
            "no prompt of \"two.txt\" can be measured: prompt 1: it has no second prompt to patch from");
  list.s.prompts = nullptr;
  for (const char* view : {"sweep", "lens", "attribution"})
    EXPECT_THAT(words(view, {}), HasSubstr("no list of prompts is open")) << view;
}

/// The mean of each cell in the JSON of a command.
std::vector<double> means_in(const std::string& output, const char* number) {
  std::vector<double> means;
  const json answer = json::parse(output);
  for (const json& cell : answer.at("means")) means.push_back(cell.at(number));
  return means;
}

TEST(ListMeansViews, NumbersAreBitIdenticalToThoseOfTheCommands) {
  const OpenList list;
  const auto expect_same = [](const MeansOnList& found, const std::string& output) {
    const std::vector<double> means = means_in(output, "mean"), errors = means_in(output, "standard_error");
    ASSERT_EQ(found.means.size(), means.size());
    for (std::size_t i = 0; i < means.size(); ++i) {
      EXPECT_EQ(found.means.mean(i).mean(), means[i]);
      EXPECT_EQ(found.means.mean(i).standard_error(), errors[i]);
    }
  };
  const Words of_list{"--prompts", list.path(), "--mean", "--json"};
  SweepOf patch;
  patch.edit = SweepEdit::patch;
  expect_same(*list.s.ask(SweepOnList{list.over(), patch}), succeed(Words{"sweep"} + of_list));
  expect_same(*list.s.ask(SweepOnList{list.over(), {}, SweepMetric::divergence}),
              succeed(Words{"sweep", "--ablate", "zero", "--metric", "kl"} + of_list));
  expect_same(*list.s.ask(LensOnList{list.over()}), succeed(Words{"lens"} + of_list));
  expect_same(*list.s.ask(AttributionOnList{list.over()}), succeed(Words{"attribute"} + of_list));
}

TEST(ListMeansViews, FiguresOfAListAreMadeByTheCommandLine) {
  const OpenList list;
  for (const auto& [view, command] :
       {std::pair(Words{"sweep"}, Words{"sweep"}), std::pair(Words{"lens"}, Words{"lens"}),
        std::pair(Words{"attribution"}, Words{"attribute"})}) {
    const std::string csv = list.out(view[0] + ".csv"), svg = list.out(view[0] + ".svg"),
                      again = list.out(view[0] + "-again.svg"), over = list.out(view[0] + "-over.svg");
    succeed(Words{"plot"} + view + Words{"--prompts", list.path(), "--mean", "--out", csv});
    const Words format = command[0] == "sweep" ? Words{"--out", "-", "--format", "csv"} : Words{"--csv"};
    EXPECT_EQ(model::read_file(csv), succeed(command + Words{"--prompts", list.path(), "--mean"} + format));
    succeed(Words{"plot"} + view + Words{"--prompts", list.path(), "--mean", "--out", svg});
    succeed(Words{"plot"} + view + Words{"--over", list.path(), "--out", over});
    EXPECT_EQ(model::read_file(svg), model::read_file(over));
    succeed({"plot", "--recipe", svg, "--out", again});
    EXPECT_EQ(model::read_file(svg), model::read_file(again))
        << "its recipe has the list with all its members";
  }
}

TEST(ListMeansViews, AListWithSomeSecondPromptsIsMeasuredInOneWayThatIsGiven) {
  const TemporaryFolder folder;
  const std::string list =
      folder.write("mixed.jsonl", "{\"prompt\": \"The king\", \"second\": \"The queen\"}\n\"A dog\"\n")
          .string();
  const Words plot{"plot", "sweep", "--prompts", list, "--mean", "--out", (folder.path() / "a.csv").string()};
  const testing::Ran ran = testing::run_command(plot);
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("mixed.jsonl"), HasSubstr("done to all by --sweep-change")));
  succeed(plot + Words{"--sweep-change", "zero"});
}

TEST(ListMeansViews, WrongUseIsOneSentence) {
  const Words list{"plot", "sweep", "--prompts", "x.jsonl", "--mean", "--out", "a.png"};
  const auto wrong = [](const Words& words) { return testing::wrong_use(words); };
  EXPECT_THAT(wrong(list + Words{"--skip-errors"}), HasSubstr("--skip-errors is for a figure a prompt"));
  EXPECT_THAT(wrong({"plot", "sweep", "--prompts", "-", "--mean", "--out", "a.png"}),
              HasSubstr("--mean draws the prompts of a file"));
  EXPECT_THAT(wrong({"plot", "sweep", "--prompt", "x", "--mean", "--out", "a.png"}),
              HasSubstr("--mean requires --prompts"));
  EXPECT_THAT(wrong({"plot", "heatmap", "--prompts", "x", "--mean", "--out", "a.png"}),
              HasSubstr("--mean applies only to views of means: lens, attribution, sweep"));
}

}  // namespace
}  // namespace headscope::app::list_means_test
