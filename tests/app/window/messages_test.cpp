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

TEST_F(MessagesTest, InformationLeavesByItself) {
  CoreOptions o = options();
  o.message_time = std::chrono::milliseconds(60);
  CoreFixture core(std::move(o));
  EXPECT_FALSE(core.seconds_until_update());
  core.apply(ShowMessage{"for information"});
  core.draw(frame_);
  EXPECT_TRUE(says(core, "for information"));
  ASSERT_TRUE(core.seconds_until_update());
  EXPECT_LE(*core.seconds_until_update(), 0.06);
  EXPECT_FALSE(core.take_results());
  std::this_thread::sleep_for(std::chrono::milliseconds(80));
  EXPECT_TRUE(core.take_results()) << "worth drawing";
  core.draw(frame_);
  EXPECT_FALSE(says(core, "for information"));
  EXPECT_FALSE(core.seconds_until_update());
}

TEST_F(MessagesTest, ANewMessageHasItsOwnTime) {
  CoreOptions o = options();
  o.message_time = std::chrono::milliseconds(200);
  CoreFixture core(std::move(o));
  core.apply(ShowMessage{"the same"});
  std::this_thread::sleep_for(std::chrono::milliseconds(120));
  core.apply(ShowMessage{"the same"});
  ASSERT_TRUE(core.seconds_until_update());
  EXPECT_GT(*core.seconds_until_update(), 0.1);
}

TEST_F(MessagesTest, AnErrorStaysUntilItIsClosed) {
  CoreOptions o = options();
  o.message_time = std::chrono::milliseconds(1);
  CoreFixture core(std::move(o));
  core.apply(ShowMessage{"an error", true});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  shown(core);
  EXPECT_TRUE(says(core, "an error"));
  EXPECT_FALSE(core.seconds_until_update());
  type_and_show(core, "x");
  EXPECT_TRUE(says(core, "an error"));
  click_item(core, "Close the message");
  EXPECT_FALSE(says(core, "an error"));
}

TEST_F(MessagesTest, OnlyErrorsLookLikeErrors) {
  CoreFixture core(options());
  const auto error_coloured = [&](const std::string& words) {
    const viz::Color error = theme_of(false).error;
    for (const viz::Scene& scene : core.window().scenes) {
      bool has = false, coloured = false;
      for (const viz::Item& item : scene.items) {
        if (const auto* run = std::get_if<viz::GlyphRun>(&item))
          has |= run->text.find(words) != std::string::npos;
        if (const auto* frame = std::get_if<viz::StrokeRect>(&item))
          coloured |= frame->color.r == error.r && frame->color.g == error.g && frame->color.b == error.b;
      }
      if (has) return coloured;
    }
    ADD_FAILURE() << "not said";
    return false;
  };
  core.apply(ShowMessage{"all is well"});
  core.draw(frame_);
  EXPECT_FALSE(error_coloured("all is well"));
  core.apply(ShowMessage{"all is lost", true});
  core.draw(frame_);
  EXPECT_TRUE(error_coloured("all is lost"));
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
  for (const auto& [width, height] : {std::pair{800.F, 560.F}, {1024.F, 700.F}, {1600.F, 1000.F}}) {
    for (const float font : {9.F, 14.F, 24.F}) {
      const WindowSize least = least_window(font);
      if (width < static_cast<float>(least.width) || height < static_cast<float>(least.height)) continue;
      Core core(options());
      core.apply(SetFontSize{font});
      for (const View& view : all_tabs()) {
        for (const bool two : {false, true}) {
          core.apply(ShowView{std::string(view.id)});
          if (two) core.apply(ShowView{view.id == std::string_view("heatmap") ? "query" : "heatmap", true});
          if (two && width < 1024 * font / 14) continue;  // no room for two
          for (const char* error :
               {"", "The file /some/where/with/a/long/name.png cannot be written: no space left."}) {
            SCOPED_TRACE(std::string(view.id) + (two ? " and another" : "") + " at " + std::to_string(width) +
                         " font " + std::to_string(font) + " " + error);
            core.apply(ShowMessage{error, error[0] != '\0'});
            shown(core, width, height);
            expect_apart(core, width, height);
          }
          core.apply(CloseSecondView{});
        }
      }
    }
  }
}

TEST_F(MessagesTest, NothingMovesWhileSomebodyTypes) {
  CoreOptions o = options("The");
  o.examples = {{"Title", "what to look for", {}, "An example"}};
  Core core(std::move(o));
  for (const View& view : all_tabs()) {
    apply_and_show(core, ShowView{std::string(view.id)}, SetPrompt{"The", {}, ""});
    const auto before = places(core);
    for (int i = 0; i < 50; ++i) {
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

TEST_F(MessagesTest, AHintOrInformationMovesNothing) {
  CoreOptions o = options("The");
  o.examples = {{"Title", "what to look for", {}, "An example"}};
  CoreFixture core(std::move(o));
  const auto expect_same = [&](const std::map<std::string, viz::Rect>& before) {
    for (const auto& [name, rect] : places(core)) {
      ASSERT_TRUE(before.contains(name)) << name;
      EXPECT_EQ(rect.y, before.at(name).y) << name;
      if (name == "prompt") continue;  // the hint takes the empty lines under its text
      EXPECT_EQ(rect.h, before.at(name).h) << name;
    }
  };
  const auto before = places(core);
  core.apply(ShowMessage{"for information"});
  core.draw(frame_);
  expect_same(before);
  apply_and_show(core, SetPrompt{"An example", {}, "what to look for"});
  EXPECT_TRUE(says(core, "what to look for"));
  expect_same(before);
}

TEST_F(MessagesTest, TheHintFollowsUndoAndRedo) {
  CoreOptions o = options("mine");
  o.examples = {{"Title", "what to look for", {}, "An example"}};
  o.examples_model = bundled_folder();
  CoreFixture core(std::move(o));
  click_item(core, "Examples");
  click_and_show(core, "Title");
  EXPECT_TRUE(says(core, "what to look for"));
  press_and_show(core, Key::z, {.ctrl = true});
  EXPECT_EQ(prompt(core), "mine");
  EXPECT_FALSE(says(core, "what to look for"));
  press_and_show(core, Key::y, {.ctrl = true});
  EXPECT_TRUE(says(core, "what to look for"));
  type_and_show(core, "x");
  EXPECT_FALSE(says(core, "what to look for"));
}

}  // namespace
}  // namespace headscope::app::messages_test
