// The menus of pictures, models and the window.
#include "tests/app/window/window_fixture.h"

namespace headscope::app::menus_test {
namespace {

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
    ASSERT_EQ(core.moment().menu, Menu::picture);
    EXPECT_THAT(rows(core), IsSupersetOf(kAlways));
    EXPECT_EQ(std::ranges::count(rows(core), "Add a second view"), view.place == Place::tab ? 1 : 0);
    if (view.menu) {
      EXPECT_GT(rows(core).size(), view.place == Place::tab ? 3U : 2U) << "what the view itself offers there";
    }
    click_item(core, "Export picture…");
    EXPECT_EQ(core.state().dialog, Dialog::export_);
    EXPECT_EQ(core.state().export_form.subject, view.id);
    press_and_draw(core, Key::escape);
    EXPECT_EQ(core.moment().menu, Menu::none);
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

TEST_F(MenusTest, AtTheBottomOfTheWindowItIsWholeToo) {
  CoreFixture core(options());
  const PlacedPicture placed = picture(core.window(), "heatmap");
  const viz::Region& cells = placed.picture->regions.front();
  const viz::Point in{cells.rect.x + 8, cells.rect.bottom() - 8};
  click(core, {placed.where.x + in.x, placed.where.y + in.y}, 1, 1);
  core.draw(frame_);
  ASSERT_EQ(core.moment().menu, Menu::picture);
  for (const std::string& label : rows(core)) {
    const auto* item = find_item(core, label);
    ASSERT_NE(item, nullptr) << label;
    EXPECT_LE(item->rect.bottom(), frame_.height) << label;
  }
}

TEST_F(MenusTest, EveryLineOfAPicturesMenuDoesWhatItSays) {
  for (const View& view : views()) {
    if (!view.menu) continue;
    Core core(options());
    if (view.place == Place::tab) core.apply(ShowView{std::string(view.id)});
    shown(core);
    open_by_mouse(core, picture(core.window(), view.id));
    const std::vector<MenuLine> lines = core.moment().menu_lines;
    for (const MenuLine& line : lines) {
      SCOPED_TRACE(std::string(view.id) + ": " + line.label);
      press_and_draw(core, Key::escape);
      if (view.place == Place::tab)
        core.apply(ShowView{std::string(view.id)});  // a line may have opened another view
      shown(core);
      open_by_mouse(core, picture(core.window(), view.id));
      const UiState before = core.state();
      if (find_item(core, line.label) == nullptr) continue;         // an earlier line removed it
      const std::vector<MenuLine>& now = core.moment().menu_lines;  // for the run shown now
      const auto same = std::ranges::find(now, line.label, &MenuLine::label);
      ASSERT_NE(same, now.end());
      const UiState expected = apply(before, DoAll{same->actions}, core.snapshot()).state;
      click_item(core, line.label);
      EXPECT_EQ(core.state().selection, expected.selection);
      EXPECT_EQ(core.state().options, expected.options);
      EXPECT_EQ(core.state().view, expected.view);
      EXPECT_EQ(prompt(core), expected.prompt.edit.text);
      if (const auto* copy = std::get_if<CopyText>(&line.actions.front())) {
        EXPECT_EQ(clipboard_, copy->text);
      }
    }
  }
}

TEST_F(MenusTest, AClickBesideClosesOneAndDoesNothingElse) {
  Core core(options());
  const viz::Point chip = cell(picture(shown(core), "tokens"), 1);
  open_by_mouse(core, picture(core.window(), "heatmap"));
  click(core, chip);
  core.draw(frame_);
  core.draw(frame_);
  EXPECT_EQ(core.moment().menu, Menu::none);
  EXPECT_EQ(core.state().selection.query, -1);
}

}  // namespace
}  // namespace headscope::app::menus_test
