// Transitions between the pictures of a pane.
#include "app/window/transitions.h"

#include "app/desktop/reduced_motion.h"
#include "app/views/parts/edit_menu.h"
#include "system/atomic_file.h"
#include "tests/app/core_fixture.h"
#include "tests/app/view_fixture.h"
#include "viz/players/imgui_compat.h"
#include "viz/scene/blend.h"

namespace headscope::app::transitions_test {
namespace {

namespace fs = std::filesystem;

/// The window with a clock that the test sets.
class TransitionsTest : public CoreTest {
 protected:
  CoreOptions with_clock(double& time) {
    CoreOptions o = options();
    o.clock = [&time] { return time; };
    return o;
  }

  /// The pixels of the last frame.
  viz::Bitmap pixels(const Core& core, MemoryScreen& screen) const {
    core.make_current();
    return viz::rasterize(*ImGui::GetDrawData(), screen.textures().store(),
                          theme_of(core.state().dark).window);
  }
  viz::Bitmap pixels() { return pixels(core_, screen_); }
  static bool equal(const viz::Bitmap& a, const viz::Bitmap& b) {
    return a.width == b.width && a.height == b.height && a.pixels == b.pixels;
  }
  /// Applies an action and draws its pictures, at the same time.
  template <class... Actions>
  void choose(const Actions&... actions) {
    (core_.apply(actions), ...);
    shown(core_);
  }
  const WindowPicture& draw_at(double time) {
    time_ = time;
    return core_.draw(still());
  }
  /// Without timings, which differ from run to run.
  static WindowFrame still() {
    WindowFrame frame;
    frame.still = true;
    return frame;
  }

  double time_ = 10;
  Core core_{with_clock(time_)};
};

constexpr double kEnd = kTransition + 0.001;

TEST_F(TransitionsTest, EndAtTheFrameThatThereIsWithoutThem) {
  MemoryScreen other_screen;
  CoreOptions without = options();
  without.screen = &other_screen;
  Core other(without);
  shown(core_);
  shown(other);
  std::vector<std::pair<std::string, std::vector<Action>>> steps{
      {"heatmap", {SelectHead{1, 2}}},     {"heatmap", {MoveHead{1, 0}}},
      {"heatmap", {SelectQuery{3}}},       {"heatmap", {SelectQuery{4}, SelectKey{2}}},
      {"query", {SelectHead{2, 1}}},       {"query", {MoveQuery{-1}}},
      {"scores", {SelectHead{0, 0}}},      {"lines", {SelectHead{1, 1}}},
      {"head-metrics", {SelectHead{0, 3}}}};
  for (const auto& [view, actions] : steps) {
    SCOPED_TRACE(view);
    time_ += 1;
    core_.apply(ShowView{view});
    other.apply(ShowView{view});
    shown(core_);
    shown(other);
    draw_at(time_);
    const viz::Bitmap before = pixels();
    EXPECT_FALSE(core_.window().moving);
    for (const Action& action : actions) core_.apply(action), other.apply(action);
    shown(core_);
    EXPECT_TRUE(core_.window().moving);
    shown(other);
    other.draw(still());
    const double start = time_;
    const viz::Bitmap after = pixels(other, other_screen);
    ASSERT_FALSE(equal(before, after));
    for (const double part : {0.2, 0.5, 0.8}) {
      draw_at(start + part * kTransition);
      EXPECT_TRUE(core_.window().moving);
      EXPECT_FALSE(equal(pixels(), after)) << part;
    }
    draw_at(start + kEnd);
    EXPECT_FALSE(core_.window().moving);
    EXPECT_TRUE(equal(pixels(), after));
  }
}

TEST_F(TransitionsTest, AreDrawnWithoutInputAndThenTheWindowSleeps) {
  shown(core_);
  EXPECT_FALSE(core_.take_results());
  EXPECT_FALSE(core_.seconds_until_update());
  choose(SelectHead{1, 2});
  for (const double part : {0.3, 0.6, 0.9}) {
    EXPECT_TRUE(core_.take_results());
    EXPECT_EQ(core_.seconds_until_update(), 0);
    draw_at(10 + part * kTransition);
  }
  EXPECT_TRUE(core_.take_results());
  const int built = core_.cache().built();
  draw_at(10 + kEnd);
  EXPECT_EQ(core_.cache().built(), built) << "its pictures are not built again";
  EXPECT_FALSE(core_.take_results());
  EXPECT_FALSE(core_.seconds_until_update());
}

TEST_F(TransitionsTest, InputIsTakenAtOnceAndMeansTheNewPicture) {
  shown(core_);
  choose(SelectHead{1, 2});
  draw_at(10 + 0.3 * kTransition);
  ASSERT_TRUE(core_.window().moving);
  const PlacedPicture& heatmap = picture(core_.window(), "heatmap");
  EXPECT_EQ(heatmap.context.selection.head, 2);
  click(core_, cell(heatmap, 0, 5, 3));
  EXPECT_EQ(core_.state().selection.query, 5);
  EXPECT_EQ(core_.state().selection.key, 3);
  press(core_, Key::down, {.alt = true});
  EXPECT_EQ(core_.state().selection.layer, 2);
  shown(core_);
  EXPECT_EQ(picture(core_.window(), "heatmap").context.selection.layer, 2);
  draw_at(time_ + kEnd);
  EXPECT_FALSE(core_.window().moving);
}

TEST_F(TransitionsTest, AreOnlyForStepsOfTheSelection) {
  const auto moves = [&](const Action& action) {
    time_ += 1;
    choose(action);
    const bool moving = core_.window().moving;
    draw_at(time_ + kEnd);
    return moving;
  };
  shown(core_);
  EXPECT_TRUE(moves(SelectHead{1, 2}));
  EXPECT_TRUE(moves(SelectQuery{5}));
  EXPECT_FALSE(moves(SelectQuery{5})) << "nothing changes";
  EXPECT_FALSE(moves(TypeInField{Field::prompt, Insert{" x", true}}));
  EXPECT_FALSE(moves(SetDark{true}));
  EXPECT_FALSE(moves(SetFontSize{16}));
  EXPECT_FALSE(moves(SetPanes{{400, 300, 0}, true}));
  EXPECT_FALSE(moves(SetOption{find_option("value-scale"), 1}));
  EXPECT_FALSE(moves(ShowView{"query"}));
  EXPECT_FALSE(moves(SetPrompt{"Another prompt", {}, {}}));
  moves(AddEdits{{head_off(1, 2)}});  // the Edits bar opens, so that some panes get smaller
  EXPECT_TRUE(moves(AddEdits{{head_off(2, 1)}}));
  EXPECT_TRUE(moves(SwitchEdits{true}));
  EXPECT_FALSE(moves(SetSide{Side::baseline})) << "comparing needs the change itself";
  EXPECT_TRUE(moves(SelectHead{0, 0}));
}

TEST_F(TransitionsTest, WhatIsDraggedIsFollowedAtOnce) {
  core_.apply(AddEdits{{head_off(0, 0)}});
  core_.apply(SetOption{find_option("paint"), 1});
  shown(core_);
  const PlacedPicture& heatmap = picture(core_.window(), "heatmap");
  const viz::Point from = cell(heatmap, 0, 6, 2), to = cell(heatmap, 0, 6, 4);
  const std::size_t edits = core_.state().edits.list.edits.size();
  core_.handle(MouseDown{from, 0, 1, {}});
  core_.handle(MouseMove{to});
  shown(core_);
  EXPECT_GT(core_.state().edits.list.edits.size(), edits);
  EXPECT_FALSE(core_.window().moving);
  core_.handle(MouseUp{to, 0});
}

TEST_F(TransitionsTest, AreOffWithReducedMotionWhichIsKept) {
  shown(core_);
  core_.apply(SetReduceMotion{true});
  choose(SelectHead{1, 2});
  EXPECT_FALSE(core_.window().moving);
  EXPECT_TRUE(core_.settings().reduce_motion);
  core_.apply(SetReduceMotion{false});
  choose(SelectHead{2, 3});
  EXPECT_TRUE(core_.window().moving);
  EXPECT_FALSE(core_.settings().reduce_motion);
  core_.apply(SetReduceMotion{true});
  core_.draw({});
  EXPECT_FALSE(core_.window().moving) << "also one that has begun";
}

TEST_F(TransitionsTest, AreOffIfTheDesktopWantsLessMotionWhichIsNotKept) {
  CoreOptions given = with_clock(time_);
  given.reduce_motion = true;
  MemoryScreen screen;
  given.screen = &screen;
  Core core(given);
  shown(core);
  apply_and_show(core, SelectHead{1, 2});
  EXPECT_FALSE(core.window().moving);
  EXPECT_FALSE(core.settings().reduce_motion);
  apply_and_show(core, SetReduceMotion{false}, SelectHead{2, 3});
  EXPECT_TRUE(core.window().moving);
}

TEST_F(TransitionsTest, AreNotInPicturesOfTheWindow) {
  shown(core_);
  WindowFrame frame;
  frame.still = true;
  choose(SelectHead{1, 2});
  const viz::Bitmap during = core_.picture(frame);
  draw_at(10 + kEnd);
  EXPECT_TRUE(equal(during, core_.picture(frame)));
}

/// Pictures of a view, one bar each, as the cache has them.
class Shown {
 public:
  explicit Shown(float length, int head) {
    Picture made;
    made.scene.width = made.scene.height = 100;
    made.scene.add(viz::FillRect{{0, 0, length, 10}, {1, 2, 3, 255}});
    picture.picture = std::make_shared<const Picture>(std::move(made));
    picture.context.run = testing::Scenario("A robot").run;
    picture.context.theme = &testing::light();
    picture.context.selection.head = head;
  }
  /// Adds names below each other.
  Shown with(std::vector<std::string> names) && {
    Picture made = *picture.picture;
    static const auto fonts = viz::Fonts::load();
    float y = 30;
    for (const std::string& name : names)
      made.scene.add(viz::make_text(*fonts, name, {0, y}, 12, {0, 0, 0, 255})), y += 16;
    picture.picture = std::make_shared<const Picture>(std::move(made));
    return std::move(*this);
  }
  Shown of_run(std::shared_ptr<const PromptRun> run) && {
    picture.context.run = std::move(run);
    return std::move(*this);
  }
  CachedPicture picture;
};

class OneBar : public ::testing::Test {
 protected:
  /// Length of the bar that is drawn.
  float length(const Shown& shown, double time) {
    moving_ = false;
    const viz::Scene& scene = transitions_.show(*find_view("heatmap"), shown.picture, time, true, moving_);
    return std::get<viz::FillRect>(scene.items.at(0)).rect.w;
  }
  bool moving_ = false;
  Transitions transitions_;
};

TEST_F(OneBar, ANewChoiceDuringATransitionStartsFromWhatIsShown) {
  const auto run = testing::Scenario("A robot").run;
  const Shown a = Shown(10, 0).of_run(run), b = Shown(50, 1).of_run(run), c = Shown(90, 2).of_run(run);
  EXPECT_EQ(length(a, 0), 10);
  EXPECT_EQ(length(b, 0), 10);
  const float half = length(b, kTransition / 2);
  EXPECT_FLOAT_EQ(half, 10 + 40 * progress_of_transition(kTransition / 2));
  EXPECT_FLOAT_EQ(length(c, kTransition / 2), half);
  EXPECT_TRUE(moving_);
  EXPECT_FLOAT_EQ(length(c, kTransition), half + (90 - half) * progress_of_transition(kTransition / 2));
  EXPECT_EQ(length(c, 1.6 * kTransition), 90);
  EXPECT_FALSE(moving_);
}

TEST_F(OneBar, AListThatGetsAnotherOrderIsThereAtOnce) {
  const auto run = testing::Scenario("A robot").run;
  length(Shown(10, 0).with({"the", "cat"}).of_run(run), 0);
  EXPECT_EQ(length(Shown(50, 1).with({"cat", "the"}).of_run(run), 0), 50);
  EXPECT_FALSE(moving_);
  EXPECT_EQ(length(Shown(90, 2).with({"cat", "the"}).of_run(run), 1), 50);
  EXPECT_TRUE(moving_);
}

TEST_F(OneBar, MoreOfTheSamePictureIsWhereATransitionGoesThen) {
  const auto run = testing::Scenario("A robot").run;
  length(Shown(10, 0).of_run(run), 0);
  length(Shown(50, 1).of_run(run), 0);
  const Shown more = Shown(70, 1).of_run(run);
  EXPECT_FLOAT_EQ(length(more, kTransition / 2), 10 + 60 * progress_of_transition(kTransition / 2));
  EXPECT_EQ(length(more, kTransition), 70);
}

TEST_F(OneBar, NothingMovesIfThePictureStaysTheSameOrTheViewWasOutOfSight) {
  const auto run = testing::Scenario("A robot").run;
  length(Shown(10, 0).of_run(run), 0);
  EXPECT_EQ(length(Shown(10, 1).of_run(run), 0), 10);
  EXPECT_FALSE(moving_);
  transitions_.drop_unused();
  transitions_.drop_unused();
  EXPECT_EQ(length(Shown(50, 2).of_run(run), 0), 50);
  EXPECT_FALSE(moving_);
}

TEST(ReducedMotion, IsSaidByAVariableOrByTheDesktopsSettings) {
  const TemporaryFolder folder;
  std::map<std::string, std::string> variables{{"XDG_CONFIG_HOME", folder.path().string()}};
  const auto wanted = [&] {
    return wants_less_motion([&](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
  };
  const auto write = [&](const std::string& name, const std::string& text) {
    fs::create_directories((folder.path() / name).parent_path());
    system::write_file_atomically(folder.path() / name, text);
  };
  EXPECT_FALSE(wanted());
  write("kdeglobals", "[Other]\nX=1\n[KDE]\nAnimationDurationFactor = 0\r\n");
  EXPECT_TRUE(wanted());
  write("kdeglobals", "[KDE]\nAnimationDurationFactor=0.5\n");
  EXPECT_FALSE(wanted());
  write("gtk-3.0/settings.ini", "[Settings]\ngtk-enable-animations=false");
  EXPECT_TRUE(wanted());
  write("gtk-4.0/settings.ini", "[Settings]\ngtk-enable-animations=1\n");
  EXPECT_FALSE(wanted()) << "the newer one decides";
  variables["HEADSCOPE_REDUCE_MOTION"] = "1";
  EXPECT_TRUE(wanted());
  variables["HEADSCOPE_REDUCE_MOTION"] = "0";
  EXPECT_FALSE(wanted());
}

TEST(ReducedMotion, AValueIsFoundOnlyUnderItsWholeKey) {
  EXPECT_EQ(ini_value("a=1\nab = 2 \n#b=3\nb=\n", "ab"), "2");
  EXPECT_EQ(ini_value("a=1\nab=2", "b"), "");
  EXPECT_EQ(ini_value("", "b"), "");
}

}  // namespace
}  // namespace headscope::app::transitions_test
