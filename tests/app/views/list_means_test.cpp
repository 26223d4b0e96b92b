// Means over a list in place of a view's own picture: the tables of its prompts, folded.
#include "app/views/parts/list_means.h"

#include <nlohmann/json.hpp>

#include "app/views/parts/names.h"
#include "model/files/error.h"
#include "tests/app/prompt_lists.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::list_means_test {
namespace {

const std::vector<std::string> kNames{"Fox", "Badger", "Wolf"};

/// Lines with a second prompt and two tokens each.
std::shared_ptr<const PromptList> pairs() {
  PromptList list{"pairs.jsonl", {}};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const std::string &here = kNames[i], &there = kNames[(i + 1) % kNames.size()];
    ListedPrompt& line = list.prompts.emplace_back();
    line.text = testing::king_gave_to(here);
    line.second = testing::king_gave_to(there);
    line.token = {TokenRef::By::text, " " + there, 0};
    line.other_token = {TokenRef::By::text, " " + here, 0};
  }
  return std::make_shared<const PromptList>(std::move(list));
}

Scenario with_list(std::shared_ptr<const PromptList> list = pairs()) {
  Scenario s("A robot must obey");
  s.prompts = std::move(list);
  return s;
}

/// The answer with these options, by its question.
std::shared_ptr<const FoldOverPrompts> means(const Scenario& s, const char* view,
                                             const NamedOptions& options = {}) {
  ViewContext c = s.context(1000, 700);
  for (const auto& [name, value] : options) set(c, name, value);
  return s.ask(means_of(*find_view(view), c));
}

/// The means of the tables that a view has of each prompt alone.
Table by_hand(const View& view, const MeansOfView& question) {
  TableFold fold;
  for (const ListedPrompt& line : question.over.list->prompts) {
    Scenario one{line};
    if (view.with_second.option != nullptr || view.on_baseline != nullptr)
      one.compare(Prompt{*line.second, {}, false});
    ViewContext c = one.context(1000, 700);
    c.options = question.options;
    c.selection = question.selection;
    measure_as(line, view, c.options, c.selection);
    c.chosen_query = c.selection.query;
    c.selection = clamped(c.selection, *one.run);
    fold.add(TableFold(view.table(c), ""), "");
  }
  return fold.means();
}

TEST(ListMeans, AreThoseOfEachPromptForEveryView) {
  const Scenario s = with_list();
  int count = 0;
  for (const View& view : views()) {
    if (!can_show_means(view)) continue;
    SCOPED_TRACE(view.id);
    ++count;
    const MeansOfView question = means_of(view, s.context(1000, 700));
    const auto found = s.ask(question);
    EXPECT_EQ(found->progress.skipped, 0U) << found->progress.problem;
    EXPECT_EQ(found->fold.prompts(), 3);
    EXPECT_EQ(table_json(*found->means), table_json(by_hand(view, question)));
  }
  EXPECT_GT(count, 10);
}

TEST(ListMeans, SweepsPatchFromTheSecondPromptOfEachLine) {
  const Scenario s = with_list();
  const MeansOfView question = [&] {
    ViewContext c = s.context(1000, 700);
    set(c, "sweep-change", "patch");
    return means_of(*find_view("sweep"), c);
  }();
  EXPECT_EQ(table_json(*s.ask(question)->means), table_json(by_hand(*find_view("sweep"), question)));
}

TEST(ListMeans, SkipAndCountPromptsThatCannotBeMeasured) {
  PromptList list = *pairs();
  list.prompts.insert(list.prompts.begin() + 1, ListedPrompt{{.text = "The king", .ids = {}}});
  list.prompts.push_back({{.text = testing::king_gave_to("Fox"), .ids = {}}, "too short"});
  list.prompts.push_back({{.text = testing::king_gave_to("Fox"), .ids = {}}});
  list.prompts.back().second = testing::king_gave_to("Wolf");
  list.prompts.back().position = 500;
  const Scenario s = with_list(std::make_shared<const PromptList>(list));
  const auto found = means(s, "sweep", {{"sweep-change", "patch"}});
  EXPECT_EQ(found->fold.prompts(), 3);
  EXPECT_EQ(found->progress.skipped, 3U);
  EXPECT_EQ(found->progress.problem, "prompt 2: it has no second prompt to patch from");
  const auto without = means(with_list(), "sweep", {{"sweep-change", "patch"}});
  EXPECT_EQ(table_json(*found->means), table_json(*without->means));
  for (const auto& [line, why] : {std::pair(4, "its second prompt has "), {5, "there is no position 500"}}) {
    const Scenario one = with_list(std::make_shared<const PromptList>(
        PromptList{"one", {list.prompts[static_cast<std::size_t>(line)]}}));
    EXPECT_THROW(means(one, "sweep", {{"sweep-change", "patch"}}), model::RunError) << why;
  }
}

TEST(ListMeans, AreListed) {
  const Scenario s = with_list();
  const ViewFixture shown("attribution", s, 1400, 3000, {{"over-list", "yes"}});
  const Table table = shown.table();
  EXPECT_EQ(table_json(table), table_json(*means(s, "attribution")->means));
  const std::vector<double> mean = numbers_of(table, "logit mean"), layers = numbers_of(table, "layer"),
                            heads = numbers_of(table, "head");
  const auto rows = shown.all_of(1000);
  ASSERT_EQ(rows.size(), table.rows());
  for (const int region : rows) {
    const auto row = static_cast<std::size_t>(shown.region(region).id);
    EXPECT_TRUE(std::ranges::any_of(shown.page().take(shown.region(region).rect), [&](const TextBox& box) {
      const auto drawn = read_number(box.text);
      return drawn && std::abs(drawn->value - mean[row]) <= drawn->rounding;
    })) << row;
    if (!std::isnan(heads[row])) {
      EXPECT_EQ(in_words(shown.click(region)),
                in_words({SelectHead{static_cast<int>(layers[row]), static_cast<int>(heads[row])}}));
    }
  }
}

TEST(ListMeans, SayOverWhatTheyAreTaken) {
  const Scenario s = with_list();
  const ViewFixture shown("lens", s, 1000, 700, {{"over-list", "yes"}});
  EXPECT_THAT(shown.picture().subtitle, StartsWith("mean of 3 prompts of “pairs.jsonl”, ± standard error"));
  EXPECT_THAT(caption(*find_view("lens"), shown.context()), HasSubstr("mean over"));
}

TEST(ListMeans, StopAndGoOn) {
  const Scenario s = with_list();
  const MeansOfView question = means_of(*find_view("lens"), s.context(1000, 700));
  model::Workspace workspace(1);
  MeansOfView of_first = question;
  of_first.over.list =
      std::make_shared<const PromptList>(PromptList{"one", {question.over.list->prompts[0]}});
  const FoldOverPrompts part = *s.ask(of_first);
  const FoldOverPrompts rest = question.compute(*s.run, {workspace, {}, &part});
  EXPECT_EQ(table_json(*rest.means), table_json(*s.ask(question)->means));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(question.compute(*s.run, {workspace, stop.get_token()}), model::Stopped);
}

}  // namespace
}  // namespace headscope::app::list_means_test
