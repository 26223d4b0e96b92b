// Every action of the user is a value, and one pure function turns a state and an action into the next state.
#include "app/window/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/views/matrix_zoom.h"
#include "app/views/temperature.h"
#include "app/views/weight_colors.h"

namespace headscope::app {
namespace {

using testing::ElementsAre;

/// A run of `length` tokens by a model of 4 layers and 3 heads, with nothing computed in it.
Snapshot snapshot_of(int length) {
  auto run = std::make_shared<model::Run>();
  run->config.n_layer = 4;
  run->config.n_head = 3;
  run->config.n_embd = 12;
  run->tokens.assign(static_cast<std::size_t>(length), 0);
  auto prompt = std::make_shared<PromptRun>();
  prompt->run = std::move(run);
  Snapshot snapshot;
  snapshot.run = std::move(prompt);
  return snapshot;
}

UiState after(UiState state, const std::vector<Action>& actions, const Snapshot& snapshot) {
  for (const Action& action : actions) state = apply(std::move(state), action, snapshot).state;
  return state;
}

template <class T>
bool has_effect(const Update& update) {
  return std::any_of(update.effects.begin(), update.effects.end(),
                     [](const Effect& effect) { return std::holds_alternative<T>(effect); });
}

TEST(State, HeadsMoveWithinTheModel) {
  const Snapshot snapshot = snapshot_of(5);
  UiState state = after({}, {MoveHead{1, 1}, MoveHead{1, 0}}, snapshot);
  EXPECT_EQ(state.selection.layer, 2);
  EXPECT_EQ(state.selection.head, 1);
  state = after(std::move(state), {MoveHead{99, 99}}, snapshot);
  EXPECT_EQ(state.selection.layer, 3);
  EXPECT_EQ(state.selection.head, 2);
  state = after(std::move(state), {MoveHead{-99, -99}}, snapshot);
  EXPECT_EQ(state.selection.layer, 0);
  EXPECT_EQ(state.selection.head, 0);
}

TEST(State, TheQueryFollowsTheEndUntilOneIsChosen) {
  const Snapshot snapshot = snapshot_of(5);
  UiState state = after({}, {MoveQuery{-1}}, snapshot);
  EXPECT_EQ(state.selection.query, 3);
  state = after(std::move(state), {MoveQuery{1}}, snapshot);
  EXPECT_EQ(state.selection.query, -1) << "back at the last position it follows the end again";
  state = after(std::move(state), {SelectQuery{77}}, snapshot);
  EXPECT_EQ(state.selection.query, 4);
  state = after(std::move(state), {MoveQuery{-77}}, snapshot);
  EXPECT_EQ(state.selection.query, 0);
}

TEST(State, TypingEndsGeneratingAndForgetsTheHint) {
  const Snapshot snapshot = snapshot_of(5);
  UiState state;
  state.hint = "look here";
  state = after(std::move(state), {Generate{true}, EditField{Field::prompt, Insert{"x", true}}}, snapshot);
  EXPECT_FALSE(state.generation.running);
  EXPECT_EQ(state.hint, "");
  EXPECT_EQ(state.prompt.edit.text, "x");
}

TEST(State, MovingTheCaretChangesNothingElse) {
  const Snapshot snapshot = snapshot_of(5);
  UiState state;
  state.hint = "look here";
  state = after(std::move(state), {EditField{Field::prompt, Move{Motion::left}}}, snapshot);
  EXPECT_EQ(state.hint, "look here");
}

TEST(State, AnExampleReplacesThePromptAsOneUndoableStep) {
  const Snapshot snapshot = snapshot_of(5);
  UiState state;
  state.prompt.edit = make_edit_state("mine");
  state.dialog = Dialog::examples;
  state = after(std::move(state), {SetPrompt{"theirs", ExamplePrompt::Head{2, 1}, "hint"}}, snapshot);
  EXPECT_EQ(state.prompt.edit.text, "theirs");
  EXPECT_EQ(state.selection, (Selection{2, 1, -1}));
  EXPECT_EQ(state.hint, "hint");
  EXPECT_EQ(state.dialog, Dialog::none);
  state = after(std::move(state), {EditField{Field::prompt, Undo{}}}, snapshot);
  EXPECT_EQ(state.prompt.edit.text, "mine");
}

TEST(State, ViewsGoRound) {
  const Snapshot snapshot = snapshot_of(5);
  std::vector<std::string> seen;
  UiState state;
  const std::string first = state.view;
  do {
    seen.push_back(state.view);
    state = after(std::move(state), {StepView{1}}, snapshot);
  } while (state.view != first && seen.size() < 20);
  EXPECT_THAT(seen, ElementsAre("heatmap", "scores", "query", "positions"));
  state = after(std::move(state), {StepView{-1}}, snapshot);
  EXPECT_EQ(state.view, "positions");
  state = after(std::move(state), {ShowView{"no such view"}}, snapshot);
  EXPECT_EQ(state.view, "positions");
}

TEST(State, AZoomStaysInsideTheMatrix) {
  EXPECT_EQ(inside({-5, 98, 10, 10}, 100, 100), (Zoom{0, 90, 10, 10}));
  EXPECT_EQ(inside({0, 0, 100, 100}, 100, 100), Zoom{}) << "all of it is no zoom";
  EXPECT_EQ(inside({3, 3, 0.5, 0.5}, 100, 100), (Zoom{3, 3, 4, 4})) << "at least four cells";
  EXPECT_EQ(part_of({3, 3, 2, 1}, 100, 100), (Zoom{3, 3, 2, 1})) << "as it was asked for";
  EXPECT_EQ(inside({0, 0, 1, 1}, 1, 1), Zoom{});
}

TEST(State, WhatAViewAsksForIsDoneInOrder) {
  const Snapshot snapshot = snapshot_of(5);
  const UiState state = after(
      {}, {DoAll{{SelectQuery{2}, SetOption{&kValueMax, 0.5}, SelectHead{3, 1}, SetOption{&kValueMax, 0.2}}}},
      snapshot);
  EXPECT_EQ(state.selection, (Selection{3, 1, 2}));
  EXPECT_EQ(state.options[kValueMax], 0.2);
}

TEST(State, WhatAPictureIsScrolledToIsAsUsualWithAnotherQueryOrPrompt) {
  const Snapshot snapshot = snapshot_of(5);
  int following = 0;
  for (const OptionSpec* option : all_options()) {
    const OptionValue other = stepped(*option, option->usual, 1);
    if (other == option->usual) continue;
    following += option->follows ? 1 : 0;
    for (const Action& action :
         {Action(SelectQuery{2}), Action(EditField{Field::prompt, Insert{"x", true}})}) {
      const UiState state = after({}, {SetOption{option, other}, action}, snapshot);
      EXPECT_EQ(state.options.value(*option), option->follows ? option->usual : other) << option->name;
    }
    const UiState state = after({}, {SetOption{option, other}, SelectHead{2, 2}}, snapshot);
    EXPECT_EQ(state.options.value(*option), other) << option->name;
  }
  EXPECT_GT(following, 0);
}

TEST(State, ADoubleClickTakesBackWhatItsFirstClickDid) {
  const Snapshot snapshot = snapshot_of(5);
  Drag press;
  press.kind = DragKind::picture;
  const Action click = DoAll{{SelectQuery{2}, SetOption{&kValueMax, 0.5}}};
  Drag second = press;
  second.clicks = 2;
  const UiState before = after({}, {SelectQuery{1}}, snapshot);
  const UiState state = after(
      before, {StartDrag{press}, EndDrag{}, click, StartDrag{second}, EndDrag{}, TakeBackClick{}}, snapshot);
  EXPECT_EQ(state.selection, before.selection);
  EXPECT_EQ(state.options, before.options);
}

TEST(State, OpeningAModelAsksForItOnceMore) {
  const Snapshot snapshot = snapshot_of(5);
  UiState state;
  state.load_request = 1;
  state = after(std::move(state), {OpenModel{"/models/a"}}, snapshot);
  EXPECT_EQ(wanted(state, {}).load_request, 2U);
  EXPECT_EQ(wanted(state, {}).model, "/models/a");
  state = after(std::move(state), {OpenModel{"/models/a"}}, snapshot);
  EXPECT_EQ(wanted(state, {}).load_request, 3U) << "the same folder may hold something else by now";
  state = after(std::move(state), {CancelLoad{}}, snapshot);
  EXPECT_EQ(wanted(state, {}).load_cancel, 3U);
}

TEST(State, TheSuggestedFileNameFollowsTheFormUntilItIsChanged) {
  const Snapshot snapshot = snapshot_of(5);
  UiState state;
  state.export_form.folder = "/pictures";
  state.selection = {1, 2, -1};
  state = after(std::move(state), {ShowDialog{Dialog::export_}}, snapshot);
  EXPECT_EQ(state.export_form.path.edit.text, "/pictures/headscope-L1H2-heatmap.png");
  state = after(std::move(state), {SetExport{Subject::heads, FileFormat::svg, 2, false}}, snapshot);
  EXPECT_EQ(state.export_form.path.edit.text, "/pictures/headscope-heads.svg");
  state = after(std::move(state),
                {EditField{Field::export_path, Replace{"/tmp/mine.svg"}},
                 SetExport{Subject::view, FileFormat::csv, 2, false}},
                snapshot);
  EXPECT_EQ(state.export_form.path.edit.text, "/tmp/mine.csv") << "only the extension follows then";
}

TEST(State, NumbersOfAWindowAreNumbersOfItsView) {
  const Snapshot snapshot = snapshot_of(5);
  const UiState state = after({}, {SetExport{Subject::window, FileFormat::csv, 2, false}}, snapshot);
  EXPECT_EQ(state.export_form.subject, Subject::view);
}

TEST(State, WhatTouchesTheWorldIsAnEffect) {
  const Snapshot snapshot = snapshot_of(5);
  EXPECT_TRUE(has_effect<ExportEffect>(apply(UiState{}, DoExport{}, snapshot)));
  EXPECT_TRUE(has_effect<CopyNumbersEffect>(apply(UiState{}, CopyNumbers{}, snapshot)));
  EXPECT_TRUE(has_effect<PasteEffect>(apply(UiState{}, Paste{Field::prompt}, snapshot)));
  EXPECT_TRUE(has_effect<ListFolderEffect>(apply(UiState{}, BrowseFolder{"/"}, snapshot)));
  EXPECT_TRUE(has_effect<SaveEffect>(apply(UiState{}, SetDark{true}, snapshot)));
  EXPECT_TRUE(apply(UiState{}, SelectHead{1, 1}, snapshot).effects.empty());
}

TEST(State, WhatIsKeptIsSavedAtOnceButASliderOnlyWhenItIsLetGo) {
  const Snapshot snapshot = snapshot_of(5);
  for (const OptionSpec* option : all_options())
    EXPECT_EQ(has_effect<SaveEffect>(apply(UiState{}, SetOption{option, option->usual}, snapshot)),
              option->kept)
        << option->name;
  Drag drag;
  drag.kind = DragKind::slider;
  drag.option = &kTemperature;
  drag.track = {0, 0, 100, 20};
  Update update = apply(UiState{}, StartDrag{drag}, snapshot);
  EXPECT_FALSE(has_effect<SaveEffect>(update));
  update = apply(std::move(update.state), MoveDrag{{50, 5}}, snapshot);
  EXPECT_FALSE(has_effect<SaveEffect>(update));
  EXPECT_TRUE(has_effect<SaveEffect>(apply(std::move(update.state), EndDrag{}, snapshot)));
}

TEST(State, TheTemperatureKeepsToItsSlider) {
  const Snapshot snapshot = snapshot_of(5);
  Drag drag;
  drag.kind = DragKind::slider;
  drag.option = &kTemperature;
  drag.track = {100, 0, 200, 20};
  drag.start = {200, 10};
  UiState state = after({}, {StartDrag{drag}}, snapshot);
  EXPECT_DOUBLE_EQ(state.options[kTemperature], 1.0) << "to whole steps";
  state = after(std::move(state), {MoveDrag{{900, 10}}}, snapshot);
  EXPECT_DOUBLE_EQ(state.options[kTemperature], 2);
  state = after(std::move(state), {MoveDrag{{-900, 10}}, EndDrag{}}, snapshot);
  EXPECT_DOUBLE_EQ(state.options[kTemperature], 0.05);
  EXPECT_FALSE(state.drag);
}

TEST(State, MenusMoveByKeys) {
  const Snapshot snapshot = snapshot_of(5);
  UiState state;
  state.examples.resize(3);
  state = after(std::move(state), {ShowDialog{Dialog::examples}, MoveMenu{1}, MoveMenu{1}, MoveMenu{9}},
                snapshot);
  EXPECT_EQ(state.menu_row, 2);
  state = after(std::move(state), {ShowDialog{Dialog::examples}, MoveMenu{-1}}, snapshot);
  EXPECT_EQ(state.menu_row, 2) << "up from nowhere is the last";
}

}  // namespace
}  // namespace headscope::app
