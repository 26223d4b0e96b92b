// The window's messages and menus: how long they stay, that they cover and move nothing, what menus offer.
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

TEST_F(MessagesTest, APictureUnderTheMouseHidesNoInformation) {
  CoreFixture core(options());
  WindowFrame frame;
  frame.pointer = cell(picture(core.window(), "heatmap"), 0);
  core.apply(ShowMessage{"for information"});
  core.draw(frame);
  EXPECT_TRUE(says(core, "for information"));
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

TEST_F(MessagesTest, AnErrorOfALoadLeavesTheRunAndGoesWhenTheNextOneGoesWell) {
  const testing::TemporaryFolder other;
  testing::write_other_model(other);
  CoreFixture core(options());
  const auto run = core.snapshot().run;
  apply_and_show(core, OpenModel{folder_.path()});
  EXPECT_TRUE(core.state().message.is_error);
  EXPECT_THAT(core.state().message.text, HasSubstr(folder_.path().string()));
  EXPECT_EQ(core.snapshot().run, run);
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
  click_and_show(core, "Close the warnings");
  EXPECT_FALSE(says(core, "and 1 more"));
  click_and_show(core, "Close the warnings");  // the one that did not fit before
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
      EXPECT_EQ(now->second, rect) << view.id << " " << name;
    }
  }
}

class MenusTest : public HandsTest {
 protected:
  static constexpr const char* kAlways[] = {"Export picture…", "Copy data"};

  static std::vector<std::string> rows(const Core& core) { return labels(core, core.window().layer); }

  /// Opens the menu with the right button, at a place that has lines if any place has.
  static void open_by_mouse(Core& core, const PlacedPicture& placed) {
    viz::Point at = placed.picture->regions.front().cell_rect(0, 0).center();
    for (const viz::Region& region : placed.picture->regions) {
      const viz::Point in = region.cell_rect(0, 0).center();
      const auto hit = viz::hit_test(placed.picture->regions, in);
      if (!hit || menu_at(*placed.view, placed.context, *placed.picture, &*hit).empty()) continue;
      at = in;
      break;
    }
    click(core, {placed.where.x + at.x, placed.where.y + at.y}, 1, 1);
    core.draw(frame_);
  }
};

TEST_F(MenusTest, EachPictureHasOneByTheRightButton) {
  Core core(options());
  for (const View& view : views()) {
    SCOPED_TRACE(view.id);
    if (view.place == Place::tab) core.apply(ShowView{std::string(view.id)});
    shown(core);
    const PlacedPicture placed =  // not the strip of tokens, which has the id of a tab
        *std::ranges::find(core.window().pictures, &view, &PlacedPicture::view);
    open_by_mouse(core, placed);
    ASSERT_EQ(core.widgets().menu, Menu::context);
    EXPECT_THAT(rows(core), IsSupersetOf(kAlways));
    EXPECT_EQ(std::ranges::count(rows(core), "Add a second view"), view.place == Place::tab ? 1 : 0);
    if (view.menu) {
      EXPECT_GT(rows(core).size(), view.place == Place::tab ? 3U : 2U) << "what the view itself offers there";
    }
    click_item(core, "Export picture…");
    EXPECT_EQ(core.state().dialog, Dialog::export_);
    EXPECT_EQ(core.state().export_form.subject, view.id);
    press_and_draw(core, Key::escape);
    EXPECT_EQ(core.widgets().menu, Menu::none);
  }
  core.apply(ShowDialog{Dialog::export_});
  EXPECT_EQ(core.state().export_form.subject, core.state().view) << "whatever was exported before";
}

TEST_F(MenusTest, TheFirstArrowAfterTheMouseShowsTheFirstRow) {
  CoreFixture core(options());
  open_by_mouse(core, picture(shown(core), "heatmap"));
  const std::vector<std::string> all = rows(core);
  ASSERT_GT(all.size(), 2U);
  for (const std::string& row : {all[0], all[1]}) {
    press_and_draw(core, Key::down);
    EXPECT_EQ(keyboard_at(core), row);
  }
}

TEST_F(MenusTest, ThatOfAGroupListsViewsForLearnersFirst) {
  const auto place = [](const View* view) { return std::pair(view->group, view->audience); };
  EXPECT_TRUE(std::ranges::is_sorted(tabs(), {}, place));
  CoreFixture core(options());
  shown(core, 1024, 700);
  click_item(core, "Views");
  shown(core, 1024, 700);
  EXPECT_TRUE(says(core, "Learn"));
  EXPECT_TRUE(says(core, "Research"));
  EXPECT_THAT(rows(core), IsSupersetOf({"Heatmap", "Lines", "Score sources"}));
}

TEST_F(MenusTest, AClickBesideClosesOneAndDoesNothingElse) {
  Core core(options());
  const viz::Point chip = cell(picture(shown(core), "tokens"), 1);
  open_by_mouse(core, picture(core.window(), "heatmap"));
  click(core, chip);
  core.draw(frame_);
  core.draw(frame_);
  EXPECT_EQ(core.widgets().menu, Menu::none);
  EXPECT_EQ(core.state().selection.query, -1);
}

}  // namespace
}  // namespace headscope::app::messages_test
