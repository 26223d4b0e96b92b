// Actions are values, each with a function that makes the next state of a state.
#include "app/window/state.h"

#include "app/views/parts/matrix_zoom.h"
#include "app/views/parts/menu_lines.h"
#include "tests/support/matchers.h"

namespace headscope::app::state_test {
namespace {

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

const Snapshot kFive = snapshot_of(5);

UiState after(UiState state, const std::vector<Action>& actions, const Snapshot& snapshot = kFive) {
  for (const Action& action : actions) apply_to(state, action, snapshot);
  return state;
}

Action replace_by(std::string text) {
  return TypeInField{Field::prompt, Replace{std::move(text)}};
}

TEST(State, HeadsMoveWithinTheModel) {
  UiState state = after({}, {MoveHead{1, 1}, MoveHead{1, 0}});
  EXPECT_EQ(state.selection, (Selection{2, 1}));
  state = after(state, {MoveHead{99, 99}});
  EXPECT_EQ(state.selection, (Selection{3, 2}));
  state = after(state, {MoveHead{-99, -99}});
  EXPECT_EQ(state.selection, Selection{});
}

TEST(State, TheQueryFollowsTheEndUntilOneIsChosen) {
  UiState state = after({}, {MoveQuery{-1}});
  EXPECT_EQ(state.selection.query, 3);
  state = after(state, {MoveQuery{1}});
  EXPECT_EQ(state.selection.query, -1) << "back at the last position it follows the end again";
  state = after(state, {SelectQuery{77}});
  EXPECT_EQ(state.selection.query, 4);
  state = after(state, {MoveQuery{-77}});
  EXPECT_EQ(state.selection.query, 0);
}

TEST(State, TypingEndsGeneratingButMovingTheCaretDoesNot) {
  UiState state = after({}, {Generate{true}, TypeInField{Field::prompt, Move{Motion::left}}});
  EXPECT_TRUE(state.generation.running);
  state = after(state, {TypeInField{Field::prompt, Insert{"x", true}}});
  EXPECT_FALSE(state.generation.running);
  EXPECT_EQ(state.prompt.edit.text, "x");
}

TEST(State, ChosenTokensAreOfAPromptThatIsEditedNotOfANewOne) {
  const auto type = [](TextCommand command) { return TypeInField{Field::prompt, std::move(command)}; };
  UiState chosen;
  chosen.prompt.edit = make_text_state("The old king");
  chosen.selection.query = 2, chosen.selection.key = 1;
  const auto tokens = [](const UiState& state) {
    return std::pair(state.selection.query, state.selection.key);
  };
  EXPECT_EQ(tokens(after(chosen, {type(Insert{" slept", true})})), std::pair(2, 1));
  EXPECT_EQ(tokens(after(chosen, {type(kSelectAll)})), std::pair(2, 1));
  EXPECT_EQ(tokens(after(chosen, {type(kSelectAll), type(Insert{"The", true})})), std::pair(-1, -1));
  EXPECT_EQ(tokens(after(chosen, {type(kSelectAll), type(Erase{})})), std::pair(-1, -1));
}

TEST(State, AnExampleReplacesThePromptAsOneUndoableStep) {
  UiState state;
  state.prompt.edit = make_text_state("mine");
  state.examples.emplace_back().prompt = "theirs";
  state = after(state, {ShowExample{0}});
  EXPECT_EQ(state.prompt.edit.text, "theirs");
  EXPECT_EQ(shown_example(state), &state.examples.front());
  state = after(state, {Undo{}});
  EXPECT_EQ(state.prompt.edit.text, "mine");
  EXPECT_EQ(shown_example(state), nullptr);
}

TEST(State, GoesBackAndForthThroughWhatWasLookedAt) {
  UiState state = after(UiState(), {SelectHead{1, 1}, ShowView{"query"}, SelectQuery{2}});
  state = after(state, {Revisit{}});
  EXPECT_EQ(state.selection, (Selection{1, 1, -1}));
  state = after(state, {Revisit{}});
  EXPECT_EQ(state.view, UiState().view);
  state = after(state, {Revisit{true}});
  EXPECT_EQ(state.view, "query");
  EXPECT_EQ(state.visits.before.size(), 2);
  EXPECT_EQ(state.visits.after.size(), 1);
  state = after(state, {SelectHead{0, 1}});
  EXPECT_TRUE(state.visits.after.empty()) << "another way was taken";
  state = after(state, {Revisit{}, Revisit{}, Revisit{}, Revisit{}, Revisit{}});
  EXPECT_EQ(state.selection, Selection{}) << "and there it ends";
  EXPECT_EQ(state.visits.after.size(), 3);
}

TEST(State, AHeldKeyIsOneStepBackAndADoubleClickNone) {
  UiState state = after(UiState(), {SelectQuery{4}});
  state = after(state, {MoveQuery{-1}, MoveQuery{-1}, MoveQuery{-1}, Revisit{}});
  EXPECT_EQ(state.selection.query, 4);
  state = after(state, {MoveQuery{-1}, MoveQuery{-1}});
  EXPECT_EQ(state.selection.query, 2);
  const std::size_t steps = state.visits.before.size();
  EXPECT_EQ(steps, 2);
  const std::vector<Action> clicked{BeginClick{}, SelectQuery{0}, UndoClick{}};
  EXPECT_EQ(after(state, clicked).visits.before.size(), steps);
  for (int i = 0; i < 1000; ++i) state = after(state, {SelectQuery{i % 5}});
  EXPECT_EQ(state.visits.before.size(), History<ViewState>::kMax);
}

TEST(State, WhatUndoRestoresIsNoStepBack) {
  UiState state;
  state.prompt.edit = make_text_state("mine");
  TourStop& example = state.examples.emplace_back();
  example.prompt = "theirs", example.layer = 2, example.head = 1;
  state = after(std::move(state),
                {SelectHead{1, 1}, SelectQuery{3}, TypeInField{Field::prompt, Insert{"!", true}},
                 Generate{true}, Generate{false}});
  EXPECT_EQ(state.visits.before.size(), 2) << "the head and the query";
  state = after(state, {ShowExample{0}, Revisit{}});
  EXPECT_EQ(state.prompt.edit.text, "theirs") << "Back is for the selection alone";
  EXPECT_EQ(state.selection, (Selection{1, 1, -1})) << "as generating left it";
}

TEST(State, UndoAndRedoGoThroughPromptEditsAndSecondPromptInOrder) {
  const auto text = [](const UiState& s) {
    return s.prompt.edit.text + "|" + s.second.text.edit.text + "|" + std::to_string(s.edits.edits.size());
  };
  UiState state;
  state.prompt.edit = make_text_state("mine");
  state = after(std::move(state), {TypeInField{Field::prompt, Insert{"!", true}}, ToggleEdit{head_off(1, 2)},
                                   CompareWith{true}, TypeInField{Field::second, Insert{"yours", true}},
                                   SetStartToken{true}, replace_by("theirs")});
  const std::vector<std::string> all{"theirs|yours|1", "mine!|yours|1", "mine!|yours|1", "mine!|mine!|1",
                                     "mine!||1",       "mine!||0",      "mine||0",       "mine||0"};
  const std::vector<std::string> words{"change to “theirs”",
                                       "start token",
                                       "change to “yours” in the second prompt",
                                       "second prompt",
                                       "L1 H2 off",
                                       "add “!”",
                                       ""};
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(text(state), all[i]);
    EXPECT_EQ(undo_words(state, false), words[i]);
    state = after(std::move(state), {Undo{}});
  }
  EXPECT_EQ(text(state), "mine||0");
  EXPECT_FALSE(state.start_token);
  for (std::size_t i = words.size() - 1; i > 0; --i) {
    EXPECT_EQ(undo_words(state, true), words[i - 1]);
    state = after(std::move(state), {Undo{true}});
    EXPECT_EQ(text(state), all[i - 1]);
  }
  EXPECT_EQ(state.message.text, "Redone: change to “theirs”.");
  const ToggleEdit off{head_off(1, 2)};
  EXPECT_EQ(undo_words(after(UiState(), {off, off}), false), "remove “L1 H2 off”");
}

TEST(State, AStepIsWhatWasDoneInOneGo) {
  const auto type = [](Field field, const char* letter) { return TypeInField{field, Insert{letter, true}}; };
  const Action switch_edit = ToggleEdit{head_off(1, 2)};
  UiState state =
      after(UiState(), {type(Field::prompt, "a"), type(Field::prompt, "b"), type(Field::prompt, " "),
                        type(Field::prompt, "c"), switch_edit, type(Field::prompt, "d")});
  EXPECT_EQ(state.history.before.size(), 4) << "two words, an edit, and what was typed after it";
  state = after(UiState(), {BeginClick{}, DragEdit{head_off(0, 0)}, DragEdit{head_off(0, 1)}, BeginClick{},
                            DragEdit{head_off(0, 2)}});
  EXPECT_EQ(state.history.before.size(), 2) << "a drag each";
  const EditList one{{{head_off(0, 0)}}}, other{{{head_off(0, 1)}}};
  state = after(UiState(),
                {ListEdits{one, true}, ListEdits{other, true}, ListEdits{other}, ListEdits{one, true}});
  EXPECT_EQ(state.history.before.size(), 2) << "a slider's drag, too";
}

TEST(State, ARefusedBrushIsNoPartOfTheNextStep) {
  UiState state;
  state.edits.edits.assign(9'999, {head_off(2, 2)});
  const auto hide = [](int head, int key) { return SetVisibility{0, head, 4, key, false}; };
  state = after(std::move(state), {BeginClick{}, hide(0, 0), BeginClick{}, hide(1, 0)});
  EXPECT_FALSE(state.edits_bar.problem.empty()) << "too many edits";
  state = after(std::move(state), {hide(0, 1)});
  EXPECT_EQ(state.history.before.size(), 2);
}

TEST(State, AFieldUndoesItsOwnTypingFirst) {
  UiState state = after(UiState(), {replace_by("mine"), TypeInField{Field::edits, Insert{"L1", true}},
                                    Undo{false, Field::edits}});
  EXPECT_EQ(state.edits_bar.text.edit.text, "");
  EXPECT_EQ(state.prompt.edit.text, "mine");
  EXPECT_EQ(after(state, {Undo{false, Field::edits}}).prompt.edit.text, "");
  state.dialog = Dialog::help;
  EXPECT_EQ(after(state, {Undo{false, Field::help}}).prompt.edit.text, "mine") << "behind a dialog";
}

TEST(State, TheHistoryIsBounded) {
  UiState state;
  for (int i = 0; i < 40; ++i)
    state = after(state, {replace_by(std::string(kMaxText, static_cast<char>('a' + i % 26)))});
  EXPECT_EQ(state.history.before.size(), History<Document>::kMaxBytes / kMaxText);
  for (int i = 0; i < 600; ++i) state = after(state, {replace_by(std::to_string(i))});
  EXPECT_EQ(state.history.before.size(), History<Document>::kMax);
}

TEST(State, WhatIsGoneBackToIsWithinTheModel) {
  UiState state = after(UiState(), {SelectHead{3, 2}, SelectQuery{11}, SelectKey{10}, ShowView{"scores"}},
                        snapshot_of(12));
  Snapshot smaller = snapshot_of(5);
  auto run = std::make_shared<PromptRun>(*smaller.run);
  auto layers = std::make_shared<model::Run>(*run->run);
  layers->config.n_layer = 2, layers->config.n_head = 2;
  run->run = std::move(layers);
  smaller.run = std::move(run);
  EXPECT_EQ(after(state, {Revisit{}}, smaller).selection, (Selection{1, 1, 4, -1}));
}

TEST(State, AComparisonStartsAtTheFirst) {
  UiState state = after(UiState(), {ToggleEdit{head_off(1, 2)}, SetSide{Side::baseline}, CompareWith{true}});
  EXPECT_EQ(state.side, Side::run);
  state = after(state, {SetSide{Side::baseline}, CompareModel{"/models/a"}});
  EXPECT_EQ(state.side, Side::run);
}

TEST(State, WhatAnOptionDoesNotTakeIsRefusedWhereItIsTyped) {
  const auto type = [](const char* text) { return TypeInField{Field::option, Replace{text}}; };
  UiState state = after(UiState(), {ShowView{"lines"}, type("banana")});
  EXPECT_EQ(state.option_problem, expected(*option_in_field(state)));
  EXPECT_EQ(after(state, {type("5.1,")}).option_problem, "");
  EXPECT_EQ(after(state, {ShowView{"heatmap"}}).option_problem, "");
  state = after(UiState(), {ShowView{"attribution"}, type("12")});
  EXPECT_EQ(state.option_problem, expected(*option_in_field(state)));
  EXPECT_EQ(after(state, {ShowView{"saliency"}}).option_problem, "") << "the same option";
}

TEST(State, AZoomStaysInsideTheMatrix) {
  EXPECT_EQ(inside({-5, 98, 10, 10}, 100, 100), (Zoom{0, 90, 10, 10}));
  EXPECT_EQ(inside({0, 0, 100, 100}, 100, 100), Zoom{}) << "all of it is no zoom";
  EXPECT_EQ(inside({3, 3, 0.5, 0.5}, 100, 100), (Zoom{3, 3, 4, 4})) << "at least four cells";
  EXPECT_EQ(part_of({3, 3, 2, 1}, 100, 100), (Zoom{3, 3, 2, 1})) << "as it was asked for";
  EXPECT_EQ(inside({0, 0, 1, 1}, 1, 1), Zoom{});
}

TEST(State, ScrollPositionsAreResetWithAnotherQueryOrPrompt) {
  int following = 0;
  std::set<const OptionSpec*> all;
  for (const View& view : views()) all.insert(view.options.begin(), view.options.end());
  for (const OptionSpec* option : all) {
    const OptionValue other = stepped(*option, option->default_value, 1);
    if (other == option->default_value) continue;
    following += option->reset_on_prompt_change ? 1 : 0;
    for (const Action& action :
         {Action(SelectQuery{2}), Action(TypeInField{Field::prompt, Insert{"x", true}})}) {
      const UiState state = after({}, {SetOption{option, other}, action});
      EXPECT_EQ(state.options.value(*option), option->reset_on_prompt_change ? option->default_value : other)
          << option->name;
    }
    const UiState state = after({}, {SetOption{option, other}, SelectHead{2, 2}});
    EXPECT_EQ(state.options.value(*option), other) << option->name;
  }
  EXPECT_GT(following, 0);
}

TEST(State, AViewOfTheOtherPaneChangesPlacesWithThisOne) {
  UiState state = after({}, {ShowView{"heatmap"}, ShowView{"query", true}});
  EXPECT_EQ(state.view, "heatmap");
  EXPECT_EQ(state.second_view, "query");
  state = after(state, {ShowView{"query"}});
  EXPECT_EQ(state.view, "query");
  EXPECT_EQ(state.second_view, "heatmap");
  state = after(state, {ShowView{"query", true}});
  EXPECT_EQ(state.view, "heatmap");
  EXPECT_EQ(state.second_view, "query");
  state = after(state, {change(&UiState::second_view, "")});
  EXPECT_EQ(shown_tabs(state).size(), 1U);
  state = after(state, {ShowView{"heatmap", true}});
  EXPECT_EQ(state.second_view, "heatmap");
  EXPECT_NE(state.view, "heatmap") << "no view stands beside itself";
}

TEST(State, AnErrorEndsGeneratingAndSaysWhoseItIs) {
  UiState state = after({}, {Generate{true}, ShowMessage{"for information"}});
  EXPECT_TRUE(state.generation.running);
  state = after(state, {ShowMessage{"cannot load", true, true}});
  EXPECT_FALSE(state.generation.running);
  EXPECT_TRUE(state.message.from_worker);
  state = after(state, {ShowMessage{}});
  EXPECT_EQ(state.message.text, "");
}

TEST(State, AMessageGoesWhenWhatItIsAboutChanges) {
  const auto said_after = [](const Action& action) {
    return after({}, {ShowMessage{"said"}, action}).message.text;
  };
  EXPECT_EQ(said_after(SetFontSize{20}), "said");
  EXPECT_EQ(said_after(SelectHead{2, 1}), "");
  EXPECT_EQ(said_after(SetSide{Side::difference}), "");
  EXPECT_EQ(said_after(replace_by("x")), "");
  const UiState undone =
      after({}, {CompareModel{"/a"}, CompareModel{"/b"}, SetSide{Side::baseline}, Undo{}, Undo{}});
  EXPECT_EQ(undone.side, Side::run);
  EXPECT_EQ(undone.message.text, "Undone: second model.") << "said twice, of two steps";
}

}  // namespace
}  // namespace headscope::app::state_test
