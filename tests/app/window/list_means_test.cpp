// Means over a list in the window: computed in the background, with progress, until they are no longer
// wanted.
#include "app/views/parts/list_means.h"
#include "tests/app/window/window_fixture.h"

namespace headscope::app::list_means_test {
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
  wait_until(core, [&] { return core.snapshot().busy == Busy::answering && part() && part()->means; });
  core.draw({});
  EXPECT_TRUE(says(core, " of 5,000 prompts of “many.txt”; mean so far"));
  EXPECT_GT(core.snapshot().fraction, 0);
  EXPECT_LT(core.snapshot().fraction, 1);
  core.apply(SetOption{&kMeanOverList, false});
  shown(core);
  EXPECT_FALSE(says(core, "many.txt"));
  EXPECT_LT(part()->progress.done, 5000U) << "what is known of it is kept";
}

}  // namespace
}  // namespace headscope::app::list_means_test
