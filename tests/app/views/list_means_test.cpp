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
  EXPECT_EQ(in_words(shown.click(0, 2, 3)), "head 2 3");
}

TEST(ListMeansViews, KlIsInBits) {
  const OpenList list;
  const ViewFixture shown("sweep", list.s, 1000, 700, {{"over-list", "yes"}, {"sweep-metric", "kl"}});
  const auto means = list.s.ask(SweepOnList{list.over(), {}, SweepMetric::divergence});
  EXPECT_THAT(shown.tooltip(0, 0, 0), Contains("mean KL, bits " + exact(means->means.mean(0).mean())));
  EXPECT_EQ(cells_of(shown.table(), "unit").front(), "bits") << "as the command writes it";
}

TEST(ListMeansViews, TheLensListsItsPlaces) {
  const OpenList list;
  const auto means = list.s.ask(LensOnList{list.over()});
  const auto last = 2 * static_cast<std::size_t>(list.s.config().n_layer);
  for (const auto& [color, quantity] : {std::pair("probability", 0), {"rank", 1}}) {
    const ViewFixture shown("lens", list.s, 1000, 700, {{"over-list", "yes"}, {"lens-color", color}});
    EXPECT_THAT(shown.tooltip(0), IsSupersetOf(said(color, means->means.mean(last * 3 + quantity), false)));
  }
}

TEST(ListMeansViews, AnAttributionShowsTheMeanOfEachPart) {
  const OpenList list;
  const ViewFixture shown("attribution", list.s, 1200, 900, {{"over-list", "yes"}});
  const auto means = list.s.ask(AttributionOnList{list.over()});
  const std::size_t cell = 2 + 3 * (static_cast<std::size_t>(list.s.config().n_head) + 2) + 5;  // L3 H5
  ASSERT_EQ(means->means.cell(cell).name, "L3 H5");
  EXPECT_THAT(shown.tooltip(shown.find(0), 3, 5),
              IsSupersetOf(said("contribution to the difference", means->means.mean(cell), false)));
  const ViewFixture layers("attribution", list.s, 1200, 900,
                           {{"over-list", "yes"}, {"attribution-list", "layers"}});
  const int row = layers.find(2, 6);  // before the layers are the two embeddings
  ASSERT_GE(row, 0);
  EXPECT_THAT(layers.tooltip(row), Contains("standard error " + exact(means->layers[4].standard_error())));
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
    const Words format{"--out", "-", "--format", "csv"};
    EXPECT_EQ(model::read_file(csv), succeed(command + Words{"--prompts", list.path(), "--mean"} + format));
    succeed(Words{"plot"} + view + Words{"--prompts", list.path(), "--mean", "--out", svg});
    succeed(Words{"plot"} + view + Words{"--over", list.path(), "--out", over});
    EXPECT_EQ(model::read_file(svg), model::read_file(over));
    succeed({"plot", "--recipe", svg, "--out", again});
    EXPECT_EQ(model::read_file(svg), model::read_file(again))
        << "its recipe has the list with all its members";
  }
}

}  // namespace
}  // namespace headscope::app::list_means_test
