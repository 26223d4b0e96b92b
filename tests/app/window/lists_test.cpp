// Lists of prompts and means over them, marked shapes, and patching by dragging over a sweep.
#include "app/run/analyses/search.h"
#include "app/run/analyses/sweep.h"
#include "app/views/parts/attention_maps.h"
#include "app/views/parts/list_means.h"
#include "app/window/sessions.h"
#include "tests/app/window/window_fixture.h"

namespace headscope::app::lists_test {
namespace {

using Lists = HandsTest;

TEST_F(Lists, ThatAreDroppedAreWhatTheViewsOfManyAreAbout) {
  const auto file = folder_.write("kings.txt", "The king had a dog\nThe queen had a cat\n");
  CoreFixture core(options("A robot"));
  drop(core, file);
  ASSERT_TRUE(core.state().prompts);
  EXPECT_EQ(core.state().prompts->prompts.size(), 2U);
  const View* view = find_view(core.state().view);
  EXPECT_TRUE(view->over_list.is_in(core.state().options)) << "a view of many is shown";
  for (const char* option : {"text", "metrics-text"})
    EXPECT_NE(core.state().options.value(*find_option(option)), find_option(option)->default_value) << option;
  EXPECT_EQ(prompt(core), "A robot") << "the prompt stays";
  // A shown view that can show a list stays.
  core.apply(ShowView{"metrics"});
  drop(core, folder_.write("more.txt", "x\ny\nz\n"));
  EXPECT_EQ(core.state().view, "metrics");
  EXPECT_TRUE(says(core, "3 prompts of “more.txt”; "));
}

TEST_F(Lists, ThatCannotBeReadLeaveTheWindowAsItIs) {
  CoreFixture core(options("A robot"));
  drop(core, folder_.write("bad.jsonl", "\"x\"\nnothing\n"));
  EXPECT_THAT(core.state().message.text, HasSubstr("bad.jsonl:2"));
  EXPECT_TRUE(core.state().message.is_error);
  EXPECT_EQ(core.state().prompts, nullptr);
  EXPECT_EQ(core.state().view, "heatmap");
}

TEST_F(Lists, LeadToTheirPromptsAndBack) {
  CoreFixture core(options("A robot"));
  drop(core, folder_.write("kings.jsonl", "\"The king had a dog\"\n{\"ids\": [5, 9, 5, 9]}\n"));
  apply_and_show(core, DoAll{{ShowPrompt{core.state().prompts->prompts[0], {2, 3, 4, 1}}}});
  EXPECT_EQ(prompt(core), "The king had a dog");
  EXPECT_EQ(core.state().selection, (Selection{2, 3, 4, 1}));
  apply_and_show(core, DoAll{{ShowPrompt{core.state().prompts->prompts[1], {1, 1, 3, 2}}}});
  EXPECT_EQ(core.snapshot().run->run->tokens, (std::vector<int>{5, 9, 5, 9}));
  EXPECT_EQ(core.state().selection, (Selection{1, 1, 3, 2}));
  apply_and_show(core, Undo{});
  EXPECT_EQ(prompt(core), "The king had a dog");
}

TEST_F(Lists, AStepThroughWhatWasFoundStaysInTheSameSearch) {
  CoreFixture core(options("The queen and the king and the queen"));
  // The second prompt twice, the third by its ids.
  PromptList list{
      "three",
      {{{.text = "A king and a queen", .ids = {}}}, {{.text = "The king and his queen", .ids = {}}}}};
  list.prompts.push_back(list.prompts[1]);
  list.prompts.push_back(
      {{.text = "",
        .ids = tokenize(*core.snapshot().model, Prompt{"The queen and the king", {}, false}).ids()}});
  core.apply(PromptsRead{std::make_shared<const PromptList>(list)});
  EXPECT_EQ(core.state().view, "search");
  shown(core);
  const auto numbers = [&] {
    apply_and_show(core, CopyNumbers{"search"});
    return clipboard_;
  };
  const std::string before = numbers();
  const PlacedPicture found = picture(core.window(), "search");
  ASSERT_GT(found.picture->regions.size(), 6U);
  std::set<std::tuple<std::vector<int>, int, int, int, int>> seen;
  click(core, cell(found, 0));
  for (int i = 0; i < 6; ++i) {
    shown(core);
    EXPECT_EQ(numbers(), before) << "the search is the same after step " << i;
    const auto& [layer, head, query, key] = core.state().selection;
    EXPECT_TRUE(seen.emplace(core.snapshot().run->run->tokens, layer, head, query, key).second) << i;
    const View* view = find_view("search");
    const PlacedPicture now = picture(core.window(), "search");
    for (const ViewAction& action : view->on(now.context, *now.picture, nullptr,
                                             {Gesture::Kind::key, {}, {}, {.shift = true}, Key::down}))
      core.apply(DoAll{{action}});
  }
  core.apply(SetSide{Side::baseline});
  core.apply(DoAll{{ShowPrompt{list.prompts[0], {0, 0, 1, -1}}}});
  EXPECT_EQ(core.state().side, Side::run) << "what is shown is the prompt that was gone to";
}

TEST_F(Lists, AreKeptBySessionsAndByFiguresOfThem) {
  CoreFixture first(options("A robot"));
  drop(first, folder_.write("kings.txt", std::string("The king \xe9\0 dog\nThe queen\n", 26)));
  ASSERT_TRUE(first.state().prompts);
  const Recipe saved{session_of(first.state(), first.snapshot()), {}};
  CoreFixture second(options("Something else"));
  drop(second, folder_.write("a.headscope", to_json(saved)));
  ASSERT_TRUE(second.state().prompts);
  EXPECT_EQ(*second.state().prompts, *first.state().prompts);
  const auto has_list = [&](const View* view) {
    return recipe_of({}, view, first.state(), first.snapshot(), {}).session.prompts.has_value();
  };
  EXPECT_TRUE(has_list(find_view("search")));
  EXPECT_FALSE(has_list(find_view("heatmap")));
  EXPECT_TRUE(has_list(nullptr)) << "the window, of which one view shows it";
  first.apply(ShowView{"heatmap"});
  EXPECT_FALSE(has_list(nullptr));
}

TEST_F(Lists, AShapeIsMarkedOnTheHeatmapAndTakenOutAgain) {
  CoreFixture core(options("The old king had a daughter, and the old king"));
  apply_and_show(core, SetOption{&kDragAction, static_cast<int>(DragAction::shape)});
  const PlacedPicture map = picture(core.window(), "heatmap");
  drag(core, cell(map, 0, 5, 4), cell(map, 0, 7, 6));
  shown(core);
  const auto shape = [&] { return core.state().options[kShape]; };
  EXPECT_THAT(shape(), ElementsAre(head_number(5, 4), head_number(6, 5), head_number(7, 6))) << "no stairs";
  drag(core, cell(map, 0, 2, 5), cell(map, 0, 2, 8));
  shown(core);
  EXPECT_EQ(shape().size(), 3U) << "what no query sees is no part of a shape";
  EXPECT_TRUE(core.state().edits.edits.empty()) << "nothing of the computation";
  const std::size_t before = shape().size();
  click_and_show(core, cell(map, 0, 6, 5));
  EXPECT_EQ(shape().size(), before - 1);
  apply_and_show(core, SetOption{find_option("search-for"), 1}, ShowView{"search"});
  EXPECT_TRUE(says(core, "Heads with this shape"));
}

TEST_F(Lists, DraggingOverASweepPatchesWhatIsUnderTheMouseAsOneStep) {
  Core core(options("The old king had a daughter"));
  apply_and_show(core, CompareWith{true, Alignment::position},
                 TypeInField{Field::second, Replace{"The old queen had a daughter"}}, ShowView{"sweep"},
                 SetOption{find_option("sweep-over"), 1}, SetOption{find_option("sweep-change"), 2});
  const PlacedPicture sweep = picture(core.window(), "sweep");
  drag(core, cell(sweep, 0, 2, 1), cell(sweep, 0, 2, 3));
  shown(core);
  ASSERT_EQ(core.state().edits.edits.size(), 1U) << "one change of three positions";
  const auto& patch = std::get<model::PatchFrom>(core.state().edits.edits[0].edit);
  EXPECT_EQ(patch.at.point, (model::HookPoint{model::Site::resid_pre, 2}));
  EXPECT_THAT(patch.at.positions, ElementsAre(1, 2, 3));
  EXPECT_EQ(patch.tokens, core.snapshot().run->baseline->run->tokens);
  // Another layer is another edit, and another drag is another step.
  const PlacedPicture again = picture(core.window(), "sweep");
  drag(core, cell(again, 0, 3, 4), cell(again, 0, 4, 4));
  shown(core);
  EXPECT_EQ(core.state().edits.edits.size(), 3U);
  core.apply(Undo{});
  EXPECT_EQ(core.state().edits.edits.size(), 1U);
  core.apply(Undo{});
  EXPECT_TRUE(core.state().edits.edits.empty());
  EXPECT_EQ(core.snapshot().error, "");
}

class ListMeansWindow : public HandsTest {
 protected:
  /// Four prompts with a second one each, whose tokens differ.
  std::filesystem::path pairs() {
    std::string lines;
    for (const char* name : {"Fox", "Wolf", "Lion", "Jack"})
      lines += "{\"prompt\": \"The king gave Mr. " + std::string(name) +
               " a horse. Then the king gave Mr.\", \"second\": \"The king gave Mr. Cat a horse. Then the "
               "king gave Mr.\", \"token\": \" " +
               name + "\", \"other_token\": \"text: horse\", \"position\": -1}\n";
    return folder_.write("pairs.jsonl", lines);
  }
  static void open(Core& core, const std::filesystem::path& list) {
    core.apply(PromptsRead{std::make_shared<const PromptList>(read_prompt_list(list))});
  }
  /// The means of a view as far as they are known.
  static std::shared_ptr<const FoldOverPrompts> means(const Core& core, const char* view) {
    const Selection& at = core.state().selection;
    const bool of_head = find_view(view)->caption.head;
    return answer(core, MeansOfView{find_view(view),
                                    {},
                                    {.layer = of_head ? at.layer : 0, .head = of_head ? at.head : 0},
                                    {core.state().prompts, false}});
  }
};

TEST_F(ListMeansWindow, AShownViewShowsTheMeanOfAnOpenedListUntilItIsSwitchedOff) {
  CoreFixture core(options("A robot must obey"));
  apply_and_show(core, ShowView{"sweep"});
  EXPECT_TRUE(says(core, "Each head zeroed"));
  open(core, pairs());
  shown(core);
  EXPECT_EQ(core.state().view, "sweep") << "it can show the list";
  EXPECT_TRUE(says(core, "mean of 4 prompts of “pairs.jsonl”, ± standard error"));
  const auto found = means(core, "sweep");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->fold.prompts(), 4);
  click_and_show(core, "Mean over prompts");
  EXPECT_FALSE(says(core, "4 prompts of"));
  EXPECT_TRUE(says(core, "; before "));
  click_and_show(core, "Mean over prompts");
  EXPECT_TRUE(says(core, "mean of 4 prompts"));
  apply_and_show(core, TypeInField{Field::prompt, Replace{"Something else"}});
  EXPECT_EQ(means(core, "sweep"), found) << "it was kept";
}

TEST_F(ListMeansWindow, AListOfPairsOpensAViewThatPatches) {
  Core core(options("A robot must obey"));
  core.apply(ShowView{"heatmap"});
  open(core, pairs());
  EXPECT_EQ(core.state().view, "sweep");
  core.apply(ShowView{"heatmap"});
  open(core, folder_.write("one.txt", "The king had a dog\n"));
  EXPECT_EQ(core.state().view, "search");
}

TEST_F(ListMeansWindow, AMeanThatIsNoLongerWantedIsStopped) {
  CoreFixture core(options("A robot must obey"));
  core.apply(ShowView{"sweep"});
  std::string lines;
  for (int i = 0; i < 5000; ++i)
    lines += "The king had a dog and a cat and number " + std::to_string(i) + "\n";
  open(core, folder_.write("many.txt", lines));
  core.draw({});
  const auto part = [&] { return means(core, "sweep"); };
  wait_until(core, [&] { return core.snapshot().fraction > 0 && part() && part()->fold.prompts() > 0; });
  core.draw({});
  EXPECT_TRUE(says(core, " of 5,000 prompts of “many.txt”; mean so far"));
  EXPECT_LT(core.snapshot().fraction, 1);
  core.apply(SetOption{&kMeanOverList, false});
  shown(core);
  EXPECT_FALSE(says(core, "many.txt"));
  EXPECT_LT(part()->progress.done, 5000U) << "what is known of it is kept";
}

}  // namespace
}  // namespace headscope::app::lists_test
