// The Edits bar, the comparison with a baseline, and the shown side.

#include "app/run/edits/edit_text.h"
#include "app/views/parts/attention_maps.h"
#include "tests/app/window/window_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::edits_bar_test {
namespace {

class EditsBarTest : public HandsTest {
 protected:
  static constexpr Modifiers kCtrl{.ctrl = true}, kCtrlShift{.ctrl = true, .shift = true};

  static void add(Core& core, std::string_view text) {
    shown(core);
    apply_and_show(core, AddEdits{parse_edits(text, *core.snapshot().model)});
  }
  static const PromptRun& run(const Core& core) { return *core.snapshot().run; }
  /// The second prompt's tokens, which are under its text.
  static const PlacedPicture& second_tokens(const Core& core) {
    const auto& pictures = core.window().pictures;
    return *std::ranges::find_if(pictures, [](const PlacedPicture& placed) {
      return placed.view == &token_strip() && placed.context.side == Side::baseline;
    });
  }
  /// Drags from a cell of the heatmap over the next one and holds the button. Returns where cells are.
  static auto begin_brush(Core& core) {
    const PlacedPicture map = picture(core.window(), "heatmap");
    const auto at = [map](int query, int key) {
      return cell(map, map.picture->regions.front().id, query, key);
    };
    core.handle(MouseMove{at(4, 1)});
    core.handle(MouseDown{at(4, 1), 0, 1, {}});
    core.handle(MouseMove{at(4, 2)});
    shown(core);
    return at;
  }
};

TEST_F(EditsBarTest, OneIsTypedSeenAndTakenOutAgain) {
  CoreFixture core(options());
  EXPECT_EQ(find_item(core, "edit"), nullptr) << "no strip while nothing is changed";
  press_and_draw(core, Key{'i'}, kCtrl);
  EXPECT_EQ(keyboard_at(core), "edit");
  type(core, "L1H6.z=0");
  press_and_show(core, Key::enter);
  EXPECT_THAT(active(core), ElementsAre("L1H6.z=0"));
  EXPECT_EQ(core.state().edits_bar.text.edit.text, "");
  ASSERT_TRUE(run(core).run->plan);
  ASSERT_TRUE(run(core).baseline);
  EXPECT_TRUE(find_item(core, "L1 H6 off"));
  click_and_show(core, "Remove L1 H6 off");
  EXPECT_EQ(run(core).run->plan, nullptr);
  press_and_show(core, Key{'i'}, kCtrl);
  EXPECT_EQ(find_item(core, "edit"), nullptr);
}

TEST_F(EditsBarTest, WhatCannotBeReadIsSaidAndStays) {
  CoreFixture core(options());
  press_and_draw(core, Key{'i'}, kCtrl);
  type(core, "L9H6.z=0");
  press_and_draw(core, Key::enter);
  EXPECT_TRUE(says(core, "layers 0 to 5"));
  EXPECT_THAT(core.state().edits_bar.problem, StartsWith("\"L9H6.z=0\": "));
  EXPECT_EQ(core.state().edits_bar.text.edit.text, "L9H6.z=0");
  EXPECT_TRUE(active(core).empty());
  press_and_draw(core, Key::backspace);
  EXPECT_FALSE(says(core, "layers 0 to 5"));
}

TEST_F(EditsBarTest, PatchesOfTokensAndVisitedHeadsGoWithTheirModel) {
  const testing::TemporaryFolder other;
  testing::write_other_model(other);
  Core core(options("The old king"));
  add(core, "L1H0.z=0; L0.mlp_out[0]<-ids(11,12)[1]");
  ASSERT_EQ(active(core).size(), 2U);
  core.apply(SelectHead{1, 2});
  apply_and_show(core, OpenModel{other.path()});
  EXPECT_TRUE(core.state().visits.before.empty());
  EXPECT_THAT(active(core), ElementsAre("L1H0.z=0"));
  EXPECT_THAT(core.state().message.text, HasSubstr("Removed 1 edit"));
}

TEST_F(EditsBarTest, OneHasAMenuWithASliderAndItsText) {
  CoreFixture core(options());
  add(core, "L1H6.z*=0.5");
  click_item(core, "L1 H6 × 0.5");
  ASSERT_EQ(core.widgets().menu, Menu::edit);
  ASSERT_TRUE(tab_to(core, "Strength"));
  press_and_draw(core, Key::right);
  EXPECT_THAT(active(core), ElementsAre("L1H6.z*=0.55"));
  click_item(core, "Copy as text");
  EXPECT_EQ(clipboard_, "L1H6.z*=0.55");
  click_item(core, "L1 H6 × 0.55");
  const viz::Point at = item(core, "Strength");
  const auto steps = core.state().history.before.size();
  drag(core, at, {at.x + 60, at.y});
  core.draw(frame_);
  EXPECT_THAT(active(core), Not(ElementsAre("L1H6.z*=0.55")));
  EXPECT_EQ(core.state().history.before.size(), steps + 1) << "a drag is one step";
  EXPECT_FALSE(core.state().edits_bar.dragging);
}

TEST_F(EditsBarTest, EitherSideAndTheDifferenceAreShown) {
  CoreFixture core(options());
  EXPECT_FALSE(has_comparison(core.state()));
  add(core, "L1H6.z=0");
  const auto heatmap = [&] { return picture(core.window(), "heatmap"); };
  EXPECT_EQ(heatmap().context.run, core.snapshot().run);
  click_and_show(core, "Show Baseline");
  EXPECT_EQ(heatmap().context.run, run(core).baseline);
  EXPECT_EQ(heatmap().context.side, Side::baseline);
  press_and_show(core, Key{'p'}, kCtrlShift);
  EXPECT_EQ(core.state().side, Side::difference);
  EXPECT_EQ(heatmap().context.run, core.snapshot().run);
  EXPECT_TRUE(says(core, ": difference"));
  core.apply(SetSide{Side::run});  // already the shown side
  shown(core);
  EXPECT_FALSE(says(core, ": difference"));
  apply_and_show(core, SetSide{Side::difference});
  EXPECT_TRUE(says(core, ": difference"));
  apply_and_show(core, Undo{});
  EXPECT_EQ(heatmap().context.side, Side::run) << "nothing to compare with";
  apply_and_show(core, Undo{.forward = true}, SetSide{Side::baseline}, Undo{});
  add(core, "L2H1.z=0");
  EXPECT_EQ(core.state().side, Side::run) << "a new edit is seen";
  apply_and_show(core, SetSide{Side::difference}, Undo{});
  add(core, "L2H1.z=0");
  EXPECT_EQ(core.state().side, Side::run) << "a new edit is seen";
  apply_and_show(core, SetSide{Side::difference});
  add(core, "L3H1.z=0");
  EXPECT_EQ(core.state().side, Side::difference) << "it is not the first";
}

TEST_F(EditsBarTest, PaintingHidesEveryCellOnTheWayOnAPictureThatStandsStill) {
  CoreFixture core(options("The old king had a daughter, and the old king"));
  click_and_show(core, "Mouse Mask");
  const PlacedPicture map = picture(core.window(), "heatmap");
  const viz::Point from = cell(map, 0, 9, 1), to = cell(map, 0, 4, 1);
  core.handle(MouseDown{from, 0, 1, {}});
  core.draw(frame_);
  for (const float part : {0.4F, 1.F}) {  // the mouse moves several times in one frame
    handle_and_show(core, MouseMove{{from.x, from.y + part * (to.y - from.y)}});
    EXPECT_EQ(picture(core.window(), "heatmap").where, map.where) << "while the button is held";
  }
  handle_and_show(core, MouseUp{to, 0});
  EXPECT_NE(picture(core.window(), "heatmap").where, map.where) << "then there is room for the strip";
  const auto edits = core.state().edits.active();
  ASSERT_EQ(edits.size(), 1U);
  const auto& sees = std::get<model::SetMask>(edits.front()).sees;
  for (std::size_t query = 0; query < sees.size(); ++query)
    EXPECT_EQ(sees[query][1], query >= 1 && (query < 4 || query > 9)) << query;
}

TEST_F(EditsBarTest, ASecondPromptIsComparedAndPatchedFrom) {
  CoreFixture core(options("The old king had a daughter"));
  press_and_draw(core, Key{'p'}, kCtrl);
  EXPECT_EQ(keyboard_at(core), "second prompt");
  EXPECT_EQ(core.state().second.text.edit.text, "The old king had a daughter") << "to be changed";
  apply_and_show(core, TypeInField{Field::second, Replace{"The young king had a son"}});
  ASSERT_TRUE(run(core).baseline);
  EXPECT_EQ(run(core).baseline->prompt.text, "The young king had a son");
  click_and_show(core, "Show Second");
  EXPECT_EQ(picture(core.window(), "tokens").context.run->prompt.text, "The old king had a daughter");
  EXPECT_EQ(second_tokens(core).context.run->prompt.text, "The young king had a son");
  EXPECT_TRUE(says(core, "second prompt")) << "of the next token's pane";
  click_and_show(core, "Show First");
  open_menu(core, "heads", 0);
  click_and_show(core, "Patch L0 H0 from the second prompt");
  ASSERT_EQ(active(core).size(), 1U);
  EXPECT_THAT(active(core).front(), StartsWith("L0H0.z<-ids("));
  click_and_show(core, "Close the second prompt");
  EXPECT_FALSE(core.state().second.on);
  press_and_draw(core, Key{'p'}, kCtrl);
  EXPECT_EQ(core.state().second.text.edit.selected(), "The young king had a son") << "to be replaced";
  press_and_draw(core, Key{'p'}, kCtrl);
  shown(core);
  ASSERT_TRUE(run(core).baseline);
  EXPECT_EQ(run(core).baseline->prompt.text, "The old king had a daughter");
}

TEST_F(EditsBarTest, WhatIsDoneOnTheSecondPromptIsMeantForTheFirst) {
  Core core(options("The old king had a daughter"));
  apply_and_show(core, CompareWith{true, Alignment::subsequence},
                 TypeInField{Field::second, Replace{"The very old king had daughter, and the king was old"}},
                 SetSide{Side::baseline});
  ASSERT_EQ(run(core).aligned, (std::vector<int>{0, 2, 3, 4, -1, 5}));
  const auto click_token = [&](int position) { click_and_show(core, cell(second_tokens(core), position)); };
  click_token(2);
  EXPECT_EQ(core.state().selection.query, 1) << "“ old” of the first";
  click_token(1);
  EXPECT_EQ(core.state().selection.query, 1) << "nothing of the first stands for “ very”";
  // Guesses of the second prompt continue that prompt, and no edits are made at its positions.
  const PlacedPicture next = picture(core.window(), "next");
  click_and_show(core, cell(next, next.picture->regions.front().id));
  EXPECT_EQ(prompt(core), "The old king had a daughter");
  const std::string& second = core.state().second.text.edit.text;
  EXPECT_THAT(second, StartsWith("The very old"));
  EXPECT_THAT(second, Not(HasSubstr("king had daughter"))) << "it goes on from within";
  apply_and_show(core, Undo{});
  EXPECT_EQ(second, "The very old king had daughter, and the king was old");
  apply_and_show(core, SetOption{&kDragAction, 1});
  const PlacedPicture map = picture(core.window(), "heatmap");
  click_and_show(core, cell(map, 0, 9, 8));
  EXPECT_TRUE(core.state().edits.edits.empty());
  core.apply(SetVisibility{0, 0, 9, 8, false});
  EXPECT_TRUE(core.state().edits.edits.empty()) << "the first has no such cell";
  EXPECT_EQ(core.snapshot().error, "");
}

TEST_F(EditsBarTest, ATokenWithoutATextEndsGeneratingTheSecondPrompt) {
  CoreFixture core(options("The old king"));
  apply_and_show(core, CompareWith{true}, TypeInField{Field::second, Replace{"The young king"}},
                 SetSide{Side::baseline});
  UiState state = core.state();
  apply_to(state, Generate{true}, core.snapshot());
  constexpr int kNoToken = 1 << 30;
  apply_to(state, AppendToken{kNoToken, -1, 0.5, run(core).baseline}, core.snapshot());
  EXPECT_FALSE(state.generation.running);
  EXPECT_THAT(state.message.text, HasSubstr("#" + std::to_string(kNoToken)));
  EXPECT_EQ(state.second.text.edit.text, "The young king");
}

TEST_F(EditsBarTest, ABrushEndsWhenThePictureItBeganOnIsGone) {
  Core core(options("The old king had a daughter"));
  apply_and_show(core, CompareWith{true, Alignment::subsequence},
                 TypeInField{Field::second, Replace{"The very old king had a daughter"}},
                 SetSide{Side::difference}, SetOption{&kDragAction, 1});
  const auto at = begin_brush(core);
  const auto made = active(core);
  ASSERT_FALSE(made.empty());
  apply_and_show(core, CompareWith{});
  core.handle(MouseMove{at(4, 3)});
  core.handle(MouseUp{at(4, 3), 0});
  shown(core);
  EXPECT_EQ(active(core), made);
}

TEST_F(EditsBarTest, WhatABrushOpensIsShownWhenItEnds) {
  Core core(options("The old king had a daughter"));
  apply_and_show(core, SetOption{&kDragAction, 1});
  const auto at = begin_brush(core);
  ASSERT_FALSE(active(core).empty());
  const auto shows_bar = [&] {
    const WindowItem* item = find_item(core, "Show Baseline");
    return item != nullptr && !item->hidden;
  };
  EXPECT_FALSE(shows_bar()) << "it would be over the picture";
  core.handle(MouseUp{at(4, 2), 0});
  shown(core);
  EXPECT_TRUE(shows_bar());
}

TEST_F(EditsBarTest, EditsOfPositionsMoveWithTheirTokens) {
  CoreOptions o = options("The old king had a dog");
  o.examples = {example("First", "A robot")};
  Core core(std::move(o));
  add(core, "L1.resid_pre[2]=0; L0H0.pattern[5,2]=0.5");
  const EditList before = core.state().edits;
  const std::size_t steps = core.state().history.before.size();
  core.apply(TypeInField{Field::prompt, MoveTo{3, false, false, {}}});
  core.apply(TypeInField{Field::prompt, Insert{" very", false}});
  EXPECT_THAT(active(core), ElementsAre("L1.resid_pre[3]=0", "L0H0.pattern[6,3]=0.5"));
  EXPECT_EQ(core.state().history.before.size(), steps + 1) << "one step with the prompt's";
  EXPECT_EQ(core.state().message.text, "");
  core.apply(Undo{});
  EXPECT_EQ(core.state().edits, before);
  core.apply(SetStartToken{true});
  EXPECT_THAT(active(core), ElementsAre("L1.resid_pre[3]=0", "L0H0.pattern[6,3]=0.5"));
  core.apply(SetStartToken{false});
  core.apply(TypeInField{Field::prompt, Replace{"The old queen had a dog"}});
  EXPECT_EQ(core.state().edits, before) << "what stands in its place is edited";
  core.apply(TypeInField{Field::prompt, Replace{"The old had a dog"}});
  EXPECT_THAT(active(core), IsEmpty());
  EXPECT_THAT(core.state().message.text, HasSubstr("L1.resid_pre[2]=0"));
  core.apply(Undo{});
  EXPECT_EQ(core.state().edits, before) << "and can be brought back";
  core.apply(ShowExample{0});
  EXPECT_EQ(core.state().edits, before) << "of another text nothing is known";
}

}  // namespace
}  // namespace headscope::app::edits_bar_test
