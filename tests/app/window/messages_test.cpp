// The window's messages: how long they stay, and that they neither cover nor move anything.
#include "tests/app/window/window_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::messages_test {
namespace {

class MessagesTest : public HandsTest {
 protected:
  /// Rectangles of items by name.
  static std::map<std::string, viz::Rect> places(const Core& core) {
    std::map<std::string, viz::Rect> found;
    for (const WindowItem& item : core.window().items) {
      std::string name = item.label;
      while (found.contains(name)) name += "'";
      found[name] = item.rect;
    }
    return found;
  }

  static bool overlap(const viz::Rect& a, const viz::Rect& b) {
    constexpr float kTouch = 0.5F;
    return a.x < b.right() - kTouch && b.x < a.right() - kTouch && a.y < b.bottom() - kTouch &&
           b.y < a.bottom() - kTouch;
  }

  /// Checks that no item overlaps another or is outside the window. A scroll bar belongs to its picture.
  static void expect_apart(const Core& core, float width, float height) {
    const auto& items = core.window().items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].layer != 0 || items[i].hidden) continue;
      const viz::Rect& r = items[i].rect;
      EXPECT_GT(r.w, 4) << items[i].label;
      EXPECT_GT(r.h, 4) << items[i].label;
      EXPECT_TRUE(r.x >= -0.5F && r.right() <= width + 0.5F && r.y >= -0.5F && r.bottom() <= height + 0.5F)
          << items[i].label << " at " << r.x << "," << r.y << " to " << r.right() << "," << r.bottom();
      for (std::size_t j = 0; j < i; ++j) {
        const bool bar = items[i].label.find("scroll bar") != std::string::npos ||
                         items[j].label.find("scroll bar") != std::string::npos;
        if (items[j].layer != 0 || items[j].hidden || bar) continue;
        EXPECT_FALSE(overlap(r, items[j].rect)) << items[i].label << " on " << items[j].label;
      }
    }
  }
};

TEST_F(MessagesTest, InformationLeavesByItselfInItsTime) {
  for (const bool is_over : {false, true}) {
    CoreOptions o = options();
    o.message_time = is_over ? std::chrono::hours(0) : std::chrono::hours(1);
    CoreFixture core(std::move(o));
    EXPECT_FALSE(core.seconds_until_update());
    core.apply(ShowMessage{"for information"});
    core.draw(frame_);
    EXPECT_TRUE(says(core, "for information"));
    ASSERT_TRUE(core.seconds_until_update());
    EXPECT_EQ(*core.seconds_until_update() <= 0, is_over);
    EXPECT_EQ(core.take_results(), is_over) << "worth drawing";
    core.draw(frame_);
    EXPECT_EQ(says(core, "for information"), !is_over);
    EXPECT_EQ(core.seconds_until_update().has_value(), !is_over);
  }
}

TEST_F(MessagesTest, AnErrorStaysUntilItIsClosed) {
  CoreOptions o = options();
  o.message_time = std::chrono::milliseconds(0);
  CoreFixture core(std::move(o));
  apply_and_show(core, ShowMessage{"an error", true});
  EXPECT_TRUE(says(core, "an error"));
  EXPECT_FALSE(core.seconds_until_update());
  type_and_show(core, "x");
  EXPECT_TRUE(says(core, "an error"));
  click_item(core, "Close the message");
  EXPECT_FALSE(says(core, "an error"));
}

TEST_F(MessagesTest, AnErrorOfALoadGoesWhenTheNextOneGoesWell) {
  const testing::TemporaryFolder other;
  testing::write_other_model(other);
  CoreFixture core(options());
  apply_and_show(core, OpenModel{folder_.path()});
  EXPECT_TRUE(core.state().message.is_error);
  apply_and_show(core, OpenModel{other.path()});
  EXPECT_EQ(core.state().message.text, "");
  // An error with another cause stays.
  apply_and_show(core, ShowMessage{"another error", true}, OpenModel{bundled_folder()});
  EXPECT_EQ(core.state().message.text, "another error");
}

TEST_F(MessagesTest, NothingCoversAnything) {
  for (const auto& [width, height] : {std::pair{800.F, 560.F}, {1600.F, 1000.F}}) {
    Core core(options());
    core.apply(
        ShowMessage{"The file /some/where/with/a/long/name.png cannot be written: no space left.", true});
    for (const View& view : all_tabs()) {
      SCOPED_TRACE(std::string(view.id) + " at " + std::to_string(width));
      core.apply(ShowView{std::string(view.id)});
      if (width > 1000)
        core.apply(ShowView{view.id == std::string_view("heatmap") ? "query" : "heatmap", true});
      shown(core, width, height);
      expect_apart(core, width, height);
      core.apply(change(&UiState::second_view, ""));
    }
  }
}

TEST_F(MessagesTest, WarningsOfAModelStayUntilTheyAreClosed) {
  const testing::TemporaryFolder odd;
  testing::write_model_with_warnings(odd);
  CoreFixture core(options());
  EXPECT_FALSE(find_item(core, "Close the warnings"));
  apply_and_show(core, OpenModel{odd.path()});
  type_and_show(core, "x");
  EXPECT_TRUE(find_item(core, "Close the warnings"));
  EXPECT_TRUE(says(core, odd.path().filename().string() + ": ")) << "not the whole path";
  EXPECT_TRUE(says(core, "and 1 more"));
  click_item(core, "Close the warnings");
  shown(core);
  EXPECT_FALSE(find_item(core, "Close the warnings"));
}

TEST_F(MessagesTest, WarningsOfASecondModelAreShown) {
  const testing::TemporaryFolder plain, odd;
  testing::write_other_model(plain);
  testing::write_model_with_warnings(odd);
  CoreOptions o = options();
  o.window.model = plain.path();
  CoreFixture core(std::move(o));
  apply_and_show(core, CompareModel{odd.path()});
  EXPECT_TRUE(says(core, odd.path().filename().string() + ": "));
}

TEST_F(MessagesTest, WarningsCoverNoPicture) {
  const testing::TemporaryFolder odd;
  testing::write_model_with_warnings(odd);
  CoreOptions o = options();
  o.window.model = odd.path();
  Core core(std::move(o));
  for (const auto& [width, height] : {std::pair{800.F, 560.F}, {1600.F, 1000.F}}) {
    const WindowPicture& window = shown(core, width, height);
    expect_apart(core, width, height);
    for (const PlacedPicture& placed : window.pictures)
      EXPECT_LE(placed.where.bottom(), find_item(core, "Close the warnings")->rect.y) << placed.view->id;
  }
}

TEST_F(MessagesTest, NothingMovesWhileSomebodyTypes) {
  CoreOptions o = options("The");
  o.examples = {example("Title", "An example")};
  Core core(std::move(o));
  for (const View& view : some_tabs()) {
    apply_and_show(core, ShowView{std::string(view.id)}, TypeInField{Field::prompt, Replace{"The"}});
    const auto before = places(core);
    for (int i = 0; i < 20; ++i) {
      type(core, i % 6 == 5 ? " " : "w");
      if (i % 10 == 0) shown(core);
      core.draw(frame_);
    }
    shown(core);
    const auto after = places(core);
    for (const auto& [name, rect] : before) {
      const auto now = after.find(name);
      ASSERT_NE(now, after.end()) << name << " is gone";
      EXPECT_EQ(now->second.x, rect.x) << view.id << " " << name;
      EXPECT_EQ(now->second.y, rect.y) << view.id << " " << name;
      EXPECT_EQ(now->second.w, rect.w) << view.id << " " << name;
      EXPECT_EQ(now->second.h, rect.h) << view.id << " " << name;
    }
  }
}

}  // namespace
}  // namespace headscope::app::messages_test
