// Means over a list in the window: computed in the background, with progress, until they are no longer
// wanted.
#include "app/views/parts/list_means.h"
#include "app/run/analyses/means_on_list.h"
#include "app/views/output/sweep_question.h"
#include "app/views/parts/prompt_list_words.h"
#include "app/window/sessions.h"
#include "tests/app/window/window_fixture.h"

namespace headscope::app {
namespace {

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
    core.apply(PromptsRead{std::make_shared<const PromptList>(read_prompt_list(list)), ""});
  }
};

TEST_F(ListMeansWindow, AShownViewShowsTheMeanOfAnOpenedListUntilItIsSwitchedOff) {
  CoreFixture core(options("A robot must obey"));
  apply_and_show(core, ShowView{"sweep"});
  EXPECT_TRUE(says(core, "Each head zeroed"));
  open(core, pairs());
  shown(core);
  EXPECT_EQ(core.state().view, "sweep") << "it can show the list";
  EXPECT_TRUE(says(core, "Each head patched")) << "each line names the prompt to patch from";
  apply_and_show(core, SetOption{&kSweptEdit, static_cast<int>(SweepEdit::zero)});
  EXPECT_TRUE(says(core, "mean of 4 prompts of “pairs.jsonl”, ± standard error"));
  const auto means = answer(core, SweepOnList{{core.state().prompts, false}, {}});
  ASSERT_TRUE(means);
  EXPECT_EQ(means->prompts(), 4U);
  click_and_show(core, "Mean over prompts");
  EXPECT_FALSE(says(core, "4 prompts of"));
  EXPECT_TRUE(says(core, "in this run"));
  click_and_show(core, "Mean over prompts");
  EXPECT_TRUE(says(core, "mean of 4 prompts"));
  EXPECT_EQ(answer(core, SweepOnList{{core.state().prompts, false}, {}}), means) << "it was kept";
}

TEST_F(ListMeansWindow, AListOfPairsIsPatchedUnlessAnotherEditIsChosen) {
  CoreFixture core(options("A robot must obey"));
  const auto edit = [&] { return core.state().options[kSweptEdit]; };
  const auto one = folder_.write("one.txt", "The king had a dog\n");
  for (int times = 0; times < 2; ++times) {
    open(core, one);
    EXPECT_EQ(edit(), SweepEdit::zero) << "its prompts have nothing to be patched from";
    open(core, pairs());
    EXPECT_EQ(edit(), SweepEdit::patch);
  }
  core.apply(SetOption{&kSweptEdit, static_cast<int>(SweepEdit::mean)});
  open(core, pairs());
  EXPECT_EQ(edit(), SweepEdit::mean);
}

TEST_F(ListMeansWindow, ControlsThatCannotActOnMeansAreNotOfferedOrPale) {
  CoreFixture core(options("A robot must obey"));
  core.apply(ShowMoreControls{true});
  apply_and_show(core, ShowView{"sweep"});
  const auto can_press = [&](const char* name) {
    const WindowItem* item = find_item(core, name);
    return item != nullptr && item->enabled;
  };
  const auto expect_of_prompt = [&](bool can) {
    for (const char* name : {"Token +", "Against +", "Next ›"}) EXPECT_EQ(can_press(name), can) << name;
  };
  expect_of_prompt(true);
  open(core, pairs());
  shown(core);
  expect_of_prompt(false);
  EXPECT_EQ(find_item(core, "Token +"), nullptr) << "each line names its own";
  EXPECT_TRUE(can_press("Metric KL"));
  click_and_show(core, "Over");
  EXPECT_FALSE(can_press("Neurons"));
  EXPECT_TRUE(can_press("MLPs"));
  press(core, Key::escape);
  apply_and_show(core, ShowView{"attribution"});
  EXPECT_FALSE(can_press("List Sources"));
  EXPECT_FALSE(can_press("List Neurons"));
  EXPECT_TRUE(can_press("List Layers"));
  open(core, folder_.write("plain.txt", "The king had a dog\nA robot must obey\n"));
  shown(core);
  EXPECT_TRUE(can_press("Token +")) << "no line names a token";
  apply_and_show(core, SetOption{&kMeanOverList, false});
  EXPECT_TRUE(can_press("List Sources"));
  EXPECT_TRUE(can_press("Next ›"));
}

TEST_F(ListMeansWindow, APromptThatIsTypedLeavesTheMeansAsTheyAre) {
  CoreFixture core(options("A robot must obey"));
  apply_and_show(core, ShowView{"attribution"});
  open(core, pairs());
  shown(core);
  const auto means = answer(core, AttributionOnList{{core.state().prompts, false}});
  ASSERT_TRUE(means);
  apply_and_show(core, TypeInField{Field::prompt, Replace{"Something else"}});
  EXPECT_TRUE(says(core, "mean of 4 prompts"));
  EXPECT_EQ(answer(core, AttributionOnList{{core.state().prompts, false}}), means);
}

TEST_F(ListMeansWindow, AMeanThatIsNoLongerWantedIsStopped) {
  CoreFixture core(options("A robot must obey"));
  core.apply(ShowView{"sweep"});
  std::string lines;
  for (int i = 0; i < 5000; ++i)
    lines += "The king had a dog and a cat and number " + std::to_string(i) + "\n";
  open(core, folder_.write("many.txt", lines));
  core.draw({});
  const auto part = [&] { return answer(core, SweepOnList{{core.state().prompts, false}, {}}); };
  wait_until(core,
             [&] { return core.snapshot().busy == Busy::answering && part() && part()->prompts() > 0; });
  core.draw({});
  EXPECT_TRUE(says(core, " of 5,000 prompts; so far strongest: "));
  EXPECT_GT(core.snapshot().fraction, 0);
  EXPECT_LT(core.snapshot().fraction, 1);
  core.apply(SetOption{&kMeanOverList, false});
  shown(core);
  EXPECT_FALSE(says(core, "many.txt"));
  EXPECT_LT(part()->progress.done, 5000U) << "what is known of it is kept";
}

TEST_F(ListMeansWindow, TheFigureAndTheSessionHaveTheListWithAllItsMembers) {
  CoreFixture core(options("A robot must obey"));
  core.apply(ShowView{"lens"});
  open(core, pairs());
  shown(core);
  const PromptList& list = *core.state().prompts;
  ASSERT_TRUE(list.prompts[0].second);
  const Recipe figure = recipe_of({}, find_view("lens"), core.state(), core.snapshot(), Figure{});
  EXPECT_EQ(parse_recipe(to_json(figure), "figure").session.prompts, list);
  const Recipe session{session_of(core.state(), core.snapshot()), {}};
  EXPECT_EQ(parse_recipe(to_json(session), "session").session.prompts, list);
}

}  // namespace
}  // namespace headscope::app
