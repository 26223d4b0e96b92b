// The effect of mouse and keyboard on the window, and what the panels show.
#include <thread>

#include "app/run/analyses/patterns.h"
#include "app/run/analyses/predictions.h"
#include "app/views/parts/attention_maps.h"
#include "app/window/picture_cache.h"
#include "tests/app/core_fixture.h"
#include "tests/viz/text_boxes.h"

namespace headscope::app::window_test {
namespace {

class WindowTest : public CoreTest {
 protected:
  static std::string long_text() {
    std::string text;
    while (text.size() < 300) text += "The wolf came to the door. ";
    return text;
  }
};

TEST_F(WindowTest, AClickChoosesWhenTheButtonIsReleased) {
  Core core(options(long_text()));
  const viz::Point at = cell(picture(shown(core), "heatmap"), 0, 20, 10);
  core.handle(MouseDown{at, 0, 1, {}});
  core.handle(MouseMove{{at.x + 1, at.y + 2}});  // the mouse moves slightly
  EXPECT_EQ(core.state().selection.query, -1);
  core.handle(MouseUp{{at.x + 1, at.y + 2}, 0});
  EXPECT_EQ(core.state().selection.query, 20);
  EXPECT_EQ(core.state().options[kZoom], Zoom{});
}

TEST_F(WindowTest, ADragMovesTheHeatmapAndChoosesNothingWithEitherButton) {
  for (const int button : {0, 2}) {
    Core core(options(long_text()));
    const viz::Point at = cell(picture(shown(core), "heatmap"), 0, 20, 10);
    handle_and_show(core, MouseWheel{at, 0, 3, {}});
    const Zoom before = core.state().options[kZoom];
    const viz::Region region = picture(core.window(), "heatmap").picture->regions.front();
    drag(core, at, {at.x - 40, at.y - 80}, button);
    const Zoom after = core.state().options[kZoom];
    EXPECT_EQ(core.state().selection.query, -1);
    EXPECT_NEAR(after.col - before.col, 40 * region.cols / static_cast<double>(region.rect.w), 1e-3);
    EXPECT_NEAR(after.row - before.row, 80 * region.rows / static_cast<double>(region.rect.h), 1e-3);
    EXPECT_EQ(after.rows, before.rows);
    EXPECT_EQ(after.cols, before.cols);
    EXPECT_FALSE(core.moment().press);
  }
}

TEST_F(WindowTest, NothingIsLostOfWhatComesBetweenTwoFrames) {
  Core core(options(long_text()));
  const viz::Point at = cell(picture(shown(core), "heatmap"), 0, 20, 10);
  core.handle(MouseWheel{at, 0, 3, {}});
  const Zoom at_once = core.state().options[kZoom];
  apply_and_show(core, SetOption{&kZoom, Zoom{}});
  for (int i = 0; i < 3; ++i) core.handle(MouseWheel{at, 0, 1, {}});
  const Zoom in_steps = core.state().options[kZoom];
  EXPECT_NEAR(in_steps.rows, at_once.rows, 1e-6);
  EXPECT_NEAR(in_steps.col, at_once.col, 1e-6);

  apply_and_show(core, ShowView{"positions"});
  const auto first = core.snapshot().model->readable_dimensions;
  for (int i = 0; i < 2; ++i) press(core, Key::d, {.alt = true}, 'd');
  const auto second = value<std::vector<int>>(core, "curves");
  ASSERT_EQ(second.size(), first.size());
  EXPECT_EQ(second.front(), first.front() + 2 * static_cast<int>(first.size()));
}

TEST_F(WindowTest, AQueryThatIsChosenWhileGeneratingDoesNotSteerIt) {
  std::vector<std::string> texts;
  for (const int query : {-1, 1, 0}) {
    CoreFixture core(options("Once upon a time"));
    core.apply(Generate{true});  // the first token is drawn at once
    while (core.state().generation.running && core.state().generation.token_count < 12) {
      core.apply(SelectQuery{query});
      core.draw({});
      while (!core.take_results()) std::this_thread::yield();
    }
    core.apply(Generate{false});
    texts.push_back(prompt(core));
    apply_and_show(core, SelectQuery{query});
    EXPECT_NE(answer(core, NextAfter{query}), nullptr) << "and it is answered, too";
    EXPECT_GT(texts.back().size(), std::string("Once upon a time").size());
    EXPECT_EQ(texts.back(), texts.front()) << "nothing is drawn from what follows another query";
  }
}

TEST_F(WindowTest, AViewThatIsNoLongerShownKeepsNoRun) {
  CoreFixture core(options("The old king"));
  const std::weak_ptr<const PromptRun> previous = core.snapshot().run;
  apply_and_show(core, ShowView{"positions"});
  apply_and_show(core, TypeInField{Field::prompt, Replace{"Another"}});
  EXPECT_TRUE(previous.expired());
  apply_and_show(core, ShowView{"heatmap"});
  EXPECT_EQ(picture(core.window(), "heatmap").picture->regions.front().row_count,
            core.snapshot().run->run->length())
      << "and it shows the new one when it comes back";
}

// --- between two runs ---

/// Checks that a picture is complete and from one run.
void expect_whole(const PlacedPicture& placed) {
  EXPECT_THAT(viz::testing::texts(placed.picture->scene), Not(Contains("computing…"))) << placed.view->id;
  EXPECT_FALSE(placed.picture->regions.empty()) << placed.view->id;
  if (placed.view->id == "heatmap") {
    EXPECT_EQ(placed.picture->regions.front().row_count, placed.context.run->run->length());
  }
}

TEST_F(WindowTest, AFormerPictureStaysUntilTheNextIsWhole) {
  Core core(options(long_text()));
  for (const View& view : some_tabs()) {
    apply_and_show(core, ShowView{std::string(view.id)});
    for (const Event& event :
         {Event(TextTyped{" x"}), Event(TextTyped{"y z"}), Event(KeyDown{Key::backspace, {}})}) {
      core.handle(event);
      bool settled = false;
      while (!settled) {
        const WindowPicture& window = core.draw({});
        for (const PlacedPicture& placed : window.pictures) expect_whole(placed);
        settled = core.snapshot().run->prompt == prompt_of(core.state()) && !window.stale;
        while (!settled && !core.take_results()) std::this_thread::yield();
      }
      const PlacedPicture& placed = picture(shown(core), view.id);  // even if answers are slow
      EXPECT_EQ(placed.context.run, core.snapshot().run) << view.id << ": and then the new one is shown";
    }
  }
}

TEST_F(WindowTest, AFormerPictureTellsNothingOfTheNextRun) {
  Core core(options("The old king had a dog"));
  apply_and_show(core, ShowView{"lens"});
  const auto previous = std::make_shared<const Snapshot>(core.snapshot());
  apply_and_show(core, ShowView{"heatmap"});  // the lens is no longer asked for
  handle_and_show(core, TextTyped{" and"});
  const auto next = std::make_shared<const Snapshot>(core.snapshot());
  ASSERT_NE(next->run, previous->run);
  // The next run's lens is pending, but its patterns are known.
  const View& lens = *find_view("lens");
  PictureCache cache;
  const auto get = [&](const std::shared_ptr<const Snapshot>& now) {
    const auto answers = std::make_shared<SnapshotAnswers>(now);
    return cache.get(lens, make_context(&lens, core.state(), *now, *answers, *fonts_, 900, 600, 1), answers);
  };
  get(previous);
  const CachedPicture placed = get(next);
  ASSERT_EQ(placed.context.run, previous->run);
  const PatternOf pattern{core.state().selection.layer, core.state().selection.head};
  ASSERT_TRUE(answer(core, pattern));
  EXPECT_EQ(placed.context.ask(pattern), nullptr);
}

TEST_F(WindowTest, AnotherHeadOrQueryKeepsTheFormerPictureUntilItsOwnIsThere) {
  CoreFixture core(options(long_text()));
  const auto previous = picture(core.window(), "heatmap").picture;
  core.apply(SelectHead{1, 1});
  core.apply(SelectQuery{9});
  const WindowPicture& at_once = core.draw({});  // no result has been taken since
  EXPECT_TRUE(at_once.stale);
  EXPECT_EQ(picture(at_once, "heatmap").picture, previous);
  EXPECT_EQ(picture(at_once, "heatmap").context.selection,
            Selection({0, 0, previous->regions.front().row_count - 1}))
      << "what the mouse says is of the picture that is shown";
  shown(core);
  EXPECT_FALSE(core.window().stale);
  EXPECT_TRUE(says(core, "Attention pattern of L1 H1"));
  EXPECT_EQ(picture(core.window(), "heatmap").context.selection, (Selection{1, 1, 9}));
}

TEST_F(WindowTest, NoPictureWaitsForWhatTakesItsTime) {
  CoreFixture core(options(long_text()));
  core.handle(TextTyped{" x"});
  while (core.snapshot().run->prompt != prompt_of(core.state()))
    if (!core.take_results()) std::this_thread::yield();
  // The thumbnails may still be missing: nothing else waits for them.
  const WindowPicture& window = core.draw({});
  EXPECT_FALSE(window.stale);
  for (const char* id : {"heatmap", "tokens", "next"})
    EXPECT_EQ(picture(window, id).context.run, core.snapshot().run) << id;
}

}  // namespace
}  // namespace headscope::app::window_test
