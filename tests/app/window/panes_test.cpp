// Where the window's parts are: groups of views, the prompt, two views, splitters, and what a restart keeps.
#include "app/views/output/continuation.h"
#include "tests/app/window/window_fixture.h"

namespace headscope::app::panes_test {
namespace {

using LayoutTest = HandsTest;

TEST_F(LayoutTest, AGroupIsChosen) {
  CoreFixture core(options());
  for (const GroupSpec& spec : kGroups) {
    click_and_show(core, "Group " + std::string(spec.title));
    EXPECT_EQ(find_view(core.state().view)->group, spec.group);
  }
}

TEST_F(LayoutTest, TheNoteOfAnExampleGoesWithItsTextAndItsView) {
  CoreOptions o = options();
  o.examples = {example("First", "A robot")};
  CoreFixture core(std::move(o));
  apply_and_show(core, ShowExample{0});
  EXPECT_TRUE(says(core, "Look at the first head."));
  apply_and_show(core, ShowView{"lens"});
  EXPECT_FALSE(says(core, "Look at the first head.")) << "it is about another view";
  apply_and_show(core, ShowView{"heatmap"});
  EXPECT_TRUE(says(core, "Look at the first head."));
  type_and_show(core, "!");
  EXPECT_FALSE(says(core, "Look at the first head.")) << "it is about another prompt";
}

TEST_F(LayoutTest, APromptThatEndsInASpaceOrBeginsTwiceIsMendedByItsNotice) {
  CoreFixture core(options("The old king"));
  type_and_show(core, " ");
  EXPECT_EQ(find_item(core, "Remove the space"), nullptr) << "a word may follow";
  press_and_show(core, Key::left);
  click_and_show(core, "Remove the space");
  EXPECT_EQ(prompt(core), "The old king");
  apply_and_show(core, TypeInField{Field::prompt, Replace{"<|endoftext|>The"}}, SetStartToken{true});
  click_and_show(core, "Remove one");
  EXPECT_FALSE(core.state().start_token);
}

// While a window is dragged it has every size, and without a window manager less than its limits.
TEST_F(LayoutTest, AWindowOfAnySizeIsDrawn) {
  CoreFixture core(options());
  for (const float side : {1.F, 19.F, 20.F, 21.F, 32.F, 40.F, 44.F, 64.F, 84.F, 200.F}) {
    shown(core, side, 900);
    shown(core, 1200, side);
    shown(core, side, side);
  }
  EXPECT_FALSE(shown(core).pictures.empty());
}

class PanesTest : public HandsTest {
 protected:
  CoreOptions kept(std::optional<std::string> text = "The old king had a daughter, and the old king") {
    CoreOptions o = options(std::move(text));
    o.settings_file = folder_.path() / "settings.json";
    o.settings = load_settings(o.settings_file);
    return o;
  }
  Settings written(Core& core) const {
    core.close();
    return load_settings(folder_.path() / "settings.json");
  }
  static float width(const Core& core, std::string_view id) { return picture(core.window(), id).where.w; }
};

TEST_F(PanesTest, TwoViewsStandSideBySide) {
  CoreFixture core(options());
  const float alone = width(core, "heatmap");
  click_and_show(core, "Two views");
  ASSERT_EQ(core.state().second_view, "scores");
  const PlacedPicture left = picture(core.window(), "heatmap"), right = picture(core.window(), "scores");
  EXPECT_LT(left.where.right(), right.where.x);
  EXPECT_LT(left.where.w, alone * 0.6F);
  EXPECT_EQ(left.where.bottom(), right.where.bottom());
  EXPECT_EQ(find_item(core, "Two views"), nullptr);
  click(core, cell(right, right.picture->regions.front().id, 4, 1));
  EXPECT_EQ(core.state().selection.query, 4) << "what is chosen in one is chosen in both";
  shown(core);
  EXPECT_EQ(picture(core.window(), "heatmap").context.selection.query, 4);
  click_and_show(core, "One view");
  EXPECT_NEAR(width(core, "heatmap"), alone, 1);
}

TEST_F(PanesTest, AGapIsDraggedAndKeptAndResetByADoubleClick) {
  Core core(kept());
  apply_and_show(core, ShowView{"query", true});
  for (const char* name : {"heads splitter", "middle splitter", "next splitter"}) {
    SCOPED_TRACE(name);
    const viz::Point at = item(core, name);
    core.handle(MouseDown{at, 0, 1, {}});
    for (const float by : {10.F, 25.F, 40.F}) core.handle(MouseMove{{at.x + by, at.y + 3}});
    core.draw(frame_);
    EXPECT_NEAR(item(core, name).x, at.x + 40, 2) << "it follows the mouse";
    core.handle(MouseUp{{at.x + 40, at.y + 3}, 0});
    core.draw(frame_);
    EXPECT_NEAR(item(core, name).x, at.x + 40, 2);
    EXPECT_EQ(written(core).session.panes.heads, core.state().panes.heads);
    EXPECT_EQ(written(core).session.panes.next, core.state().panes.next);
    core.handle(MouseMove{{at.x + 90, at.y}});
    core.draw(frame_);
    EXPECT_NEAR(item(core, name).x, at.x + 40, 2) << "let go";
  }
  EXPECT_GT(core.state().panes.heads, 0);
  EXPECT_GT(core.state().panes.next, 0);
  EXPECT_GT(core.state().panes.second_view, 0);
  for (const char* name : {"heads splitter", "middle splitter", "next splitter"}) {
    const viz::Point at = item(core, name);
    for (const int clicks : {1, 2}) {
      core.handle(MouseDown{at, 0, clicks, {}});
      core.draw(frame_);
      core.handle(MouseUp{at, 0});
      core.draw(frame_);
    }
  }
  EXPECT_EQ(core.state().panes, PaneSizes{});
  EXPECT_EQ(written(core).session.panes.heads, 0);
}

TEST_F(PanesTest, WhatIsHeldStaysWhenTheMouseLeavesTheWindow) {
  CoreFixture core(options());
  const viz::Point at = item(core, "heads splitter");
  core.handle(MouseDown{at, 0, 1, {}});
  core.handle(MouseMove{{at.x + 30, at.y}});
  core.draw(frame_);  // without a pointer
  EXPECT_NEAR(item(core, "heads splitter").x, at.x + 30, 2);
  core.handle(MouseUp{{at.x + 30, at.y}, 0});
  const viz::Point knob = item(core, kTemperature.label);
  core.handle(MouseDown{knob, 0, 1, {}});
  const double before = core.state().options[kTemperature];
  core.draw(frame_);
  EXPECT_EQ(core.state().options[kTemperature], before);
}

TEST_F(PanesTest, ARestartBringsBackEverything) {
  const auto other = folder_.path() / "other";
  std::filesystem::copy(bundled_folder(), other);
  Settings before;
  {
    Core core(kept());
    apply_and_show(core, OpenModel{other});
    apply_and_show(core, TypeInField{Field::prompt, Replace{"Remember \xF0\x9F\x98\x80 me \xE2\x82"}});
    apply_and_show(core, ShowView{"query"}, ShowView{"positions", true}, SelectHead{1, 2}, SelectQuery{2},
                   SelectKey{1}, change(&UiState::dark, true), SetFontSize{17},
                   change(&UiState::panes, {333, 222, 0}), SetStartToken{true});
    core.apply(SelectQuery{2});
    core.apply(SelectKey{1});
    core.apply(SetOption{&kTemperature, 0.5});
    core.apply(TypeInField{Field::option, Replace{"5, 17"}});
    core.apply(ShowDialog{Dialog::export_});
    core.apply(TypeInField{Field::export_path, Replace{(folder_.path() / "a.csv").string()}});
    SetExport set{core.state().export_form};
    set.form.kind = FileFormat::csv, set.form.scale = 4;
    core.apply(set);
    core.apply(DoExport{});
    wait_until(core, [&] { return std::filesystem::exists(folder_.path() / "a.csv"); });
    wait_until(core, [&] { return core.state().dialog == Dialog::none; });
    core.draw({.width = 1300, .height = 900});
    before = core.settings();
  }
  CoreOptions o = kept(std::nullopt);
  EXPECT_EQ(o.settings.window_width, 1300);
  o.window.model = o.settings.last_model;  // like the program
  CoreFixture core(std::move(o));
  core.draw({.width = 1300, .height = 900});
  EXPECT_EQ(core.settings(), before);
  EXPECT_EQ(core.snapshot().model->folder, other);
  EXPECT_EQ(core.state().selection, (Selection{1, 2, 2, 1}));
  EXPECT_EQ(core.state().option_text.edit.text, "5,17");
}

TEST_F(PanesTest, APromptFromTheCommandLineIsNotWhatWasChosenForTheLastOne) {
  {
    CoreFixture core(kept("The old king"));
    core.apply(SelectHead{1, 2});
    core.apply(SelectQuery{1});
  }
  CoreFixture core(kept("Another prompt"));
  EXPECT_EQ(prompt(core), "Another prompt");
  EXPECT_EQ(core.state().selection, Selection{});
}

}  // namespace
}  // namespace headscope::app::panes_test
