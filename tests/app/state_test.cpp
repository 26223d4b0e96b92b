// Actions are values, and one pure function maps a state and an action to the next state.
#include "app/window/state.h"

#include "app/views/output/sampling_options.h"
#include "app/views/parts/matrix_zoom.h"
#include "app/views/parts/weight_colors.h"
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
  for (const Action& action : actions) state = apply(std::move(state), action, snapshot).state;
  return state;
}

template <class T>
bool has_effect(const Update& update) {
  return std::any_of(update.effects.begin(), update.effects.end(),
                     [](const Effect& effect) { return std::holds_alternative<T>(effect); });
}

TEST(State, HeadsMoveWithinTheModel) {
  UiState state = after({}, {MoveHead{1, 1}, MoveHead{1, 0}});
  EXPECT_EQ(state.selection.layer, 2);
  EXPECT_EQ(state.selection.head, 1);
  state = after(state, {MoveHead{99, 99}});
  EXPECT_EQ(state.selection.layer, 3);
  EXPECT_EQ(state.selection.head, 2);
  state = after(state, {MoveHead{-99, -99}});
  EXPECT_EQ(state.selection.layer, 0);
  EXPECT_EQ(state.selection.head, 0);
}

TEST(State, TokensChosenInOneViewAreChosenInTheOthers) {
  const auto chosen = [](const UiState& state) {
    std::vector<std::string> choices;
    for (const char* name : {"logit-rank", "against-rank", "sweep-rank", "sweep-other-rank", "saliency-rank",
                             "saliency-other-rank", "circuit-rank", "circuit-other-rank"})
      choices.push_back(to_text(*find_option(name), state.options.value(*find_option(name))));
    return choices;
  };
  UiState state =
      after({}, {SetOption{find_option("sweep-other-rank"), 5}, SetOption{find_option("logit-rank"), 3}});
  EXPECT_THAT(chosen(state), ElementsAre("3", "none", "3", "5", "3", "5", "3", "5"));
  state = after(state, {SetOption{find_option("against-rank"), 7}});
  EXPECT_THAT(chosen(state), ElementsAre("3", "7", "3", "7", "3", "7", "3", "7"));
  state = after(state, {SetOption{find_option("sweep-other-rank"), 4}});
  EXPECT_THAT(chosen(state), ElementsAre("3", "4", "3", "4", "3", "4", "3", "4"));
  state = after(state, {SetOption{find_option("against-rank"), 0}});
  EXPECT_THAT(chosen(state), ElementsAre("3", "none", "3", "auto", "3", "auto", "3", "auto"))
      << "the others always have another token";
  state = after({}, {SetOption{find_option("logit-rank"), 2}});
  EXPECT_THAT(chosen(state), ElementsAre("2", "none", "2", "auto", "2", "auto", "2", "auto"));
  state = after({}, {SetOption{find_option("sweep-other-rank"), 3}, SetOption{find_option("logit-rank"), 3}});
  EXPECT_THAT(chosen(state), ElementsAre("3", "none", "3", "1", "3", "1", "3", "1")) << "not 3 minus 3";
  state = after({}, {SetOption{find_option("against-rank"), 4}});
  EXPECT_THAT(chosen(state), ElementsAre("1", "4", "1", "4", "1", "4", "1", "4"));
  state = after(state, {SetOption{find_option("logit-rank"), 6}});
  EXPECT_EQ(to_text(*find_option("lens-rank"), state.options.value(*find_option("lens-rank"))), "1")
      << "the lens has no control that would undo it";
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

TEST(State, APartOfTheModelIsShownByItsViewAndCanBeLeftAgain) {
  for (const Part part : {Part::embedding, Part::attention, Part::mlp, Part::unembedding}) {
    UiState state;
    state.view = "scores";
    state = after(state, {DoAll{{MoveHead{1, 0}, ShowPart{part}}}});
    ASSERT_NE(view_of(part), nullptr);
    EXPECT_EQ(state.view, view_of(part)->id);
    EXPECT_EQ(state.selection.layer, 1);
    state = after(state, {Revisit{}});
    EXPECT_EQ(state.view, "scores");
    EXPECT_EQ(state.selection.layer, 0);
  }
}

TEST(State, TypingEndsGenerating) {
  const UiState state = after({}, {Generate{true}, TypeInField{Field::prompt, Insert{"x", true}}});
  EXPECT_FALSE(state.generation.running);
  EXPECT_EQ(state.prompt.edit.text, "x");
}

TEST(State, MovingTheCaretDoesNotEndGenerating) {
  const UiState state = after({}, {Generate{true}, TypeInField{Field::prompt, Move{Motion::left}}});
  EXPECT_TRUE(state.generation.running);
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
  EXPECT_EQ(tokens(after(chosen, {type(SelectAll{})})), std::pair(2, 1));
  EXPECT_EQ(tokens(after(chosen, {type(SelectAll{}), type(Insert{"The", true})})), std::pair(-1, -1));
  EXPECT_EQ(tokens(after(chosen, {type(SelectAll{}), type(Erase{})})), std::pair(-1, -1));
}

TEST(State, AnExampleReplacesThePromptAsOneUndoableStep) {
  UiState state;
  state.prompt.edit = make_text_state("mine");
  state = after(state, {SetPrompt{"theirs", ExamplePrompt::Head{2, 1}, "hint"}});
  EXPECT_EQ(state.prompt.edit.text, "theirs");
  EXPECT_EQ(state.selection, (Selection{2, 1, -1}));
  EXPECT_EQ(state.hint, "hint");
  EXPECT_EQ(state.hint_text, "theirs") << "the hint is of this text, whatever is undone and done again";
  state = after(state, {TypeInField{Field::prompt, Undo{}}});
  EXPECT_EQ(state.prompt.edit.text, "mine");
}

TEST(State, ViewsGoRound) {
  std::vector<std::string> seen;
  UiState state;
  const std::string first = state.view;
  do {
    seen.push_back(state.view);
    state = after(state, {StepView{1}});
  } while (state.view != first && seen.size() < views().size());
  std::vector<std::string> wanted;
  for (const View* view : tabs()) wanted.emplace_back(view->id);
  EXPECT_THAT(seen, ::testing::UnorderedElementsAreArray(wanted));
  const auto at = std::ranges::find(wanted, first);
  std::ranges::rotate(wanted, at);
  EXPECT_EQ(seen, wanted) << "from left to right";
  state = after(state, {StepView{-1}});
  EXPECT_EQ(state.view, wanted.back());
  state = after(state, {ShowView{"no such view"}});
  EXPECT_EQ(state.view, wanted.back());
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
  EXPECT_EQ(state.visits.before.size(), Visits::kMax);
}

TEST(State, AKeyThatIsHeldOnAPictureIsOneStepBack) {
  const UiState start = after(UiState(), {SelectQuery{4}, SelectHead{0, 1}});
  const SetOption scroll{&kZoom, Zoom{1, 0, 4, 5}};
  for (const ViewActions& pressed : {ViewActions{MoveQuery{-1}}, ViewActions{MoveQuery{-1}, scroll},
                                     ViewActions{MoveHead{1, 0}, scroll}}) {
    const UiState state = after(start, {DoAll{pressed}, DoAll{pressed}, DoAll{pressed}});
    EXPECT_EQ(state.visits.before.size(), start.visits.before.size() + 1);
    EXPECT_EQ(after(state, {Revisit{}}).selection, start.selection);
  }
  const UiState clicked = after(start, {DoAll{{SelectKey{3}}}, DoAll{{SelectKey{2}}}});
  EXPECT_EQ(clicked.visits.before.size(), start.visits.before.size() + 2) << "clicks are steps each";
  const UiState held = after(start, {DoAll{{SelectKey{3}}}, DoAll{{SelectKey{2}}, true}});
  EXPECT_EQ(held.visits.before.size(), start.visits.before.size() + 1);
}

TEST(State, EditingTheTextIsNoStepAndAnotherTextIsOneThatBringsItBack) {
  UiState state;
  state.prompt.edit = make_text_state("mine");
  state = after(std::move(state),
                {SelectHead{1, 1}, SelectQuery{3}, TypeInField{Field::prompt, Insert{"!", true}},
                 Generate{true}, Generate{false}});
  EXPECT_EQ(state.visits.before.size(), 2) << "the head and the query";
  state = after(state, {SelectQuery{2}, SetPrompt{"theirs", ExamplePrompt::Head{2, 1}, ""}, SelectQuery{1}});
  state = after(state, {Revisit{}});
  EXPECT_EQ(state.prompt.edit.text, "theirs");
  EXPECT_EQ(state.selection, (Selection{2, 1, -1}));
  state = after(state, {TypeInField{Field::prompt, Insert{"s", true}}, Revisit{}});
  EXPECT_EQ(state.prompt.edit.text, "mine!");
  EXPECT_EQ(state.selection, (Selection{1, 1, 2})) << "as it was left";
  state = after(state, {Revisit{true}});
  EXPECT_EQ(state.prompt.edit.text, "theirss") << "and again, as it was left";
  EXPECT_EQ(state.selection, (Selection{2, 1, -1}));
  state = after(state, {Revisit{}, TypeInField{Field::prompt, Undo{}}});
  EXPECT_EQ(state.prompt.edit.text, "theirss") << "nothing that was typed is lost";
}

TEST(State, TheStartTokenIsAStepThatIsTakenBack) {
  UiState state = after(UiState(), {SelectQuery{3}, SetStartToken{true}});
  EXPECT_EQ(state.selection.query, -1);
  const Update back = apply(std::move(state), Revisit{}, kFive);
  EXPECT_FALSE(back.state.start_token);
  EXPECT_EQ(back.state.selection.query, 3);
  EXPECT_TRUE(has_effect<SaveEffect>(back));
  EXPECT_TRUE(after(back.state, {Revisit{true}}).start_token);
}

TEST(State, TheTextsOfTheHistoryAreBounded) {
  UiState state;
  const auto held = [&] {
    std::size_t bytes = 0;
    for (const Visit& visit : state.visits.before) bytes += visit.prompt ? visit.prompt->text.size() : 0;
    return bytes;
  };
  for (int i = 0; i < 9; ++i) {
    const std::string text(Visits::kMaxBytes / 4, static_cast<char>('a' + i));
    state = after(state, {SetPrompt{text, {}, ""}});
    EXPECT_LE(held(), Visits::kMaxBytes);
  }
  EXPECT_GT(held(), Visits::kMaxBytes / 2);
  state = after(state, {Revisit{}});
  EXPECT_EQ(state.prompt.edit.text[0], 'h');
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
  state = after(state, {ModelOpened{"/models/other"}}, smaller);
  EXPECT_TRUE(state.visits.before.empty()) << "heads of another model";
}

TEST(State, AZoomStaysInsideTheMatrix) {
  EXPECT_EQ(inside({-5, 98, 10, 10}, 100, 100), (Zoom{0, 90, 10, 10}));
  EXPECT_EQ(inside({0, 0, 100, 100}, 100, 100), Zoom{}) << "all of it is no zoom";
  EXPECT_EQ(inside({3, 3, 0.5, 0.5}, 100, 100), (Zoom{3, 3, 4, 4})) << "at least four cells";
  EXPECT_EQ(part_of({3, 3, 2, 1}, 100, 100), (Zoom{3, 3, 2, 1})) << "as it was asked for";
  EXPECT_EQ(inside({0, 0, 1, 1}, 1, 1), Zoom{});
}

TEST(State, WhatAViewAsksForIsDoneInOrder) {
  const UiState state = after(
      {},
      {DoAll{{SelectQuery{2}, SetOption{&kValueMax, 0.5}, SelectHead{3, 1}, SetOption{&kValueMax, 0.2}}}});
  EXPECT_EQ(state.selection, (Selection{3, 1, 2}));
  EXPECT_EQ(state.options[kValueMax], 0.2);
}

TEST(State, ScrollPositionsAreResetWithAnotherQueryOrPrompt) {
  int following = 0;
  for (const OptionSpec* option : all_options()) {
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

TEST(State, ADoubleClickTakesBackWhatItsFirstClickDid) {
  const Action click = DoAll{{SelectQuery{2}, SetOption{&kValueMax, 0.5}}};
  const UiState before = after({}, {SelectQuery{1}});
  const UiState state = after(before, {BeginClick{}, click, UndoClick{}});
  EXPECT_EQ(state.selection, before.selection);
  EXPECT_EQ(state.options, before.options);
}

TEST(State, OpeningAModelAsksForItOnceMore) {
  UiState state;
  state.load_request = 1;
  state = after(state, {OpenModel{"/models/a"}});
  EXPECT_EQ(wanted(state, {}).load_request, 2U);
  EXPECT_EQ(wanted(state, {}).model, "/models/a");
  state = after(state, {OpenModel{"/models/a"}});
  EXPECT_EQ(wanted(state, {}).load_request, 3U) << "the same folder may hold something else by now";
  state = after(state, {CancelLoad{}});
  EXPECT_EQ(wanted(state, {}).load_cancel, 3U);
}

/// The export form with some lines changed.
template <class Change>
Action set_export(const UiState& state, Change edit) {
  SetExport set{state.export_form};
  edit(set.form);
  return set;
}

TEST(State, TheSuggestedFileNameFollowsTheFormUntilItIsChanged) {
  UiState state;
  state.export_form.folder = "/pictures";
  state.selection = {1, 2, -1};
  state = after(state, {ShowDialog{Dialog::export_}});
  EXPECT_EQ(state.export_form.path.edit.text, "/pictures/headscope-L1H2-heatmap.png");
  const auto set = [&](const auto& change) { return after(state, {set_export(state, change)}); };
  state = set([](ExportForm& form) { form.subject = "heads", form.kind = FileFormat::svg; });
  EXPECT_EQ(state.export_form.path.edit.text, "/pictures/headscope-heads.svg");
  state = after(state, {TypeInField{Field::export_path, Replace{"/tmp/mine.svg"}}});
  state = set([](ExportForm& form) { form.subject = "next", form.kind = FileFormat::csv; });
  EXPECT_EQ(state.export_form.path.edit.text, "/tmp/mine.csv") << "only the extension follows then";
}

TEST(State, TheWindowIsAlwaysPixels) {
  const UiState state =
      after({}, {set_export({}, [](ExportForm& form) { form.subject = "", form.kind = FileFormat::csv; })});
  EXPECT_EQ(state.export_form.kind, FileFormat::png);
}

TEST(State, TheExportKeepsItsSubjectAsLongAsThatIsShown) {
  UiState state = after({}, {ShowDialog{Dialog::export_, "next"}, ShowDialog{}});
  state = after(state, {ShowDialog{Dialog::export_}});
  EXPECT_EQ(state.export_form.subject, "next");
  state = after(state, {ShowDialog{Dialog::export_, "heatmap"}, ShowDialog{}, ShowView{"scores"}});
  state = after(state, {ShowDialog{Dialog::export_}});
  EXPECT_EQ(state.export_form.subject, "scores");
}

TEST(State, WhatAnExportSaidIsOfTheFormAsItWas) {
  UiState asked = after({}, {ShowDialog{Dialog::export_}, ExportEnded{ExportEnded::How::exists}});
  EXPECT_TRUE(asked.export_form.asked);
  const UiState failed = after(asked, {ExportEnded{ExportEnded::How::failed, "no room"}});
  EXPECT_EQ(failed.export_form.problem, "no room");
  EXPECT_EQ(failed.dialog, Dialog::export_) << "what was typed can be mended";
  for (const Action& change :
       {Action(TypeInField{Field::export_path, Insert{"x", true}}),
        Action(TypeInField{Field::export_size, Insert{"1", true}}),
        set_export(asked, [](ExportForm& form) { form.scale = 3; }), Action(DoExport{})}) {
    for (const UiState& before : {asked, failed}) {
      const UiState state = after(before, {change});
      EXPECT_FALSE(state.export_form.asked);
      EXPECT_EQ(state.export_form.problem, "");
    }
  }
  const UiState done = after(failed, {ExportEnded{ExportEnded::How::saved, "Saved /x.png.", "/"}});
  EXPECT_EQ(done.dialog, Dialog::none);
  EXPECT_EQ(done.message.text, "Saved /x.png.");
  EXPECT_FALSE(done.message.is_error);
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
  state = after(state, {CloseSecondView{}});
  EXPECT_EQ(shown_tabs(state).size(), 1U);
  state = after(state, {ShowView{"heatmap", true}});
  EXPECT_EQ(state.second_view, "heatmap");
  EXPECT_NE(state.view, "heatmap") << "no view stands beside itself";
}

TEST(State, SteppingPassesOverTheViewThatIsShownBeside) {
  UiState state = after({}, {ShowView{"heatmap"}, ShowView{"scores", true}});
  for (int i = 0; i < 6; ++i) {
    state = after(state, {StepView{i < 3 ? 1 : -1}});
    EXPECT_EQ(state.second_view, "scores");
    EXPECT_NE(state.view, "scores");
  }
  EXPECT_EQ(state.view, "heatmap");
}

TEST(State, PanesKeepAWidthThatCanBeUsed) {
  const UiState state = after({}, {SetPanes{{3, 99999, 0}}});
  EXPECT_GT(state.panes.heads, 100);
  EXPECT_LT(state.panes.next, 5000);
  EXPECT_EQ(state.panes.second_view, 0) << "chosen by the window's size";
}

TEST(State, AnErrorEndsGeneratingAndSaysWhoseItIs) {
  UiState state = after({}, {Generate{true}, ShowMessage{"for information"}});
  EXPECT_TRUE(state.generation.running);
  state = after(state, {ShowMessage{"cannot load", true, true}});
  EXPECT_FALSE(state.generation.running);
  EXPECT_TRUE(state.message.from_worker);
  state = after(state, {DismissMessage{}});
  EXPECT_EQ(state.message.text, "");
}

TEST(State, WhatTouchesTheWorldIsAnEffect) {
  EXPECT_TRUE(has_effect<ExportEffect>(apply(UiState{}, DoExport{}, kFive)));
  EXPECT_TRUE(has_effect<CopyNumbers>(apply(UiState{}, CopyNumbers{}, kFive)));
  EXPECT_TRUE(has_effect<Paste>(apply(UiState{}, Paste{Field::prompt}, kFive)));
  EXPECT_TRUE(has_effect<BrowseFolder>(apply(UiState{}, BrowseFolder{"/"}, kFive)));
  EXPECT_TRUE(has_effect<SaveEffect>(apply(UiState{}, SetDark{true}, kFive)));
  EXPECT_TRUE(apply(UiState{}, SelectHead{1, 1}, kFive).effects.empty());
}

TEST(State, WhatIsKeptIsSavedAtOnceButASplitterOnlyWhenItIsLetGo) {
  for (const OptionSpec* option : all_options())
    EXPECT_EQ(has_effect<SaveEffect>(apply(UiState{}, SetOption{option, option->default_value}, kFive)),
              option->kept)
        << option->name;
  EXPECT_FALSE(has_effect<SaveEffect>(apply(UiState{}, SetPanes{{300, 0, 0}, false}, kFive)));
  EXPECT_TRUE(has_effect<SaveEffect>(apply(UiState{}, SetPanes{{300, 0, 0}}, kFive)));
}

TEST(State, AnExampleAboutAHeadIsShownWhereItsAttentionIs) {
  const auto shown_after = [](Group group, const std::string& hint) {
    UiState state;
    const View& view = **std::ranges::find(tabs(), group, &View::group);
    state.view = view.id;
    state = after(state, {SetPrompt{"theirs", ExamplePrompt::Head{2, 1}, hint}});
    return std::pair{std::string(view.id), state.view};
  };
  const auto from_output = shown_after(Group::output, "Look at this head.");
  EXPECT_EQ(find_view(from_output.second)->group, Group::attention);
  const auto from_attention = shown_after(Group::attention, "Look at this head.");
  EXPECT_EQ(from_attention.second, from_attention.first) << "who compares examples in a view stays there";
  const auto without_hint = shown_after(Group::output, "");
  EXPECT_EQ(without_hint.second, without_hint.first);
}

}  // namespace
}  // namespace headscope::app::state_test
