// An option that runs through its values.
#include "app/window/state/view.h"

#include "app/window/sessions.h"
#include "tests/app/core_fixture.h"

namespace headscope::app::playing_test {
namespace {

class PlayingTest : public CoreTest {
 protected:
  CoreOptions with_clock() {
    CoreOptions o = options();
    o.clock = [this] { return time_; };
    return o;
  }
  double stage() { return value<double>(core_, "score-stage"); }
  const OptionSpec& stage_option() { return option("score-stage"); }
  /// Lets time pass as the window does.
  void pass(double seconds) {
    time_ += seconds;
    if (core_.take_results()) core_.draw({});
  }

  double time_ = 5;
  Core core_{with_clock()};
};

TEST_F(PlayingTest, TheButtonRunsThroughTheStagesOnce) {
  core_.apply(ShowView{"scores"});
  shown(core_);
  EXPECT_EQ(stage(), 0);
  click_item(core_, "Play");
  EXPECT_EQ(stage(), 1);
  shown(core_);
  EXPECT_GT(*core_.seconds_until_update(), 0.5) << "it rests: no frames are drawn";
  double before = 1;
  int moved = 0;
  for (int i = 0; i < 200 && core_.state().playing != nullptr; ++i) {
    pass(0.05);
    EXPECT_GE(stage(), before);
    moved += stage() != before;
    before = stage();
  }
  EXPECT_EQ(stage(), 4);
  EXPECT_EQ(moved, 3);
  EXPECT_EQ(core_.state().playing, nullptr);
  shown(core_);
  EXPECT_FALSE(core_.take_results());
  EXPECT_FALSE(core_.seconds_until_update());
}

TEST_F(PlayingTest, StopsWhenThePersonChoosesSomething) {
  core_.apply(ShowView{"scores"});
  const auto play = [&] {
    core_.apply(PlayOption{&stage_option()});
    shown(core_);
    pass(0.3);
    EXPECT_NE(core_.state().playing, nullptr);
  };
  play();
  core_.apply(SetOption{&stage_option(), 2.5});
  EXPECT_EQ(core_.state().playing, nullptr);
  EXPECT_EQ(stage(), 2.5);
  play();
  core_.apply(ShowView{"heatmap"});
  EXPECT_EQ(core_.state().playing, nullptr);
  core_.apply(ShowView{"scores"});
  play();
  core_.apply(PlayOption{&stage_option()});
  EXPECT_EQ(core_.state().playing, nullptr);
}

// Each of these sets the option without SetOption.
TEST_F(PlayingTest, StopsWhenTheOptionIsRestored) {
  const auto play = [&] {
    core_.apply(ShowView{"scores"});
    core_.apply(BeginClick{});
    core_.apply(PlayOption{&stage_option()});
    shown(core_);
    pass(2);
    ASSERT_NE(core_.state().playing, nullptr);
    ASSERT_GT(stage(), 1);
  };
  play();
  core_.apply(UndoClick{});
  ASSERT_EQ(stage(), 0);
  pass(1);
  EXPECT_EQ(stage(), 0);
  EXPECT_EQ(core_.state().playing, nullptr);

  play();
  Recipe recipe{session_of(core_.state(), core_.snapshot()), {}};
  const double of_session = stage();  // opened at that very moment
  core_.apply(OpenSession{.recipe = recipe, .model = bundled_folder()});
  shown(core_);
  pass(5);
  EXPECT_EQ(stage(), of_session);
  EXPECT_EQ(core_.state().playing, nullptr);
}

TEST_F(PlayingTest, StopsWhereNobodySeesIt) {
  apply_and_show(core_, ShowView{"heatmap"});
  core_.apply(ShowView{"scores"});
  core_.apply(PlayOption{&stage_option()});
  shown(core_);
  pass(1.2);
  const double before = stage();
  core_.apply(Revisit{});
  ASSERT_EQ(core_.state().view, "heatmap");
  pass(1);
  EXPECT_EQ(stage(), before);
  EXPECT_EQ(core_.state().playing, nullptr);
  shown(core_);
  EXPECT_FALSE(core_.take_results());
  EXPECT_FALSE(core_.seconds_until_update());
}

TEST_F(PlayingTest, TheSliderAndItsKeysChooseStages) {
  core_.apply(ShowView{"scores"});
  shown(core_);
  const viz::Rect slider = find_item(core_, "Stage")->rect;
  click_and_show(core_, {slider.x + 0.4F * slider.w, slider.center().y});
  EXPECT_EQ(stage(), 2);
  press_and_show(core_, Key::none, {.alt = true}, 'd');
  EXPECT_EQ(stage(), 3);
  click_and_show(core_, "Stage all");
  EXPECT_EQ(stage(), 0);
}

}  // namespace
}  // namespace headscope::app::playing_test
