// Walks through every bundled tour in the window, on the bundled model.

#include "app/run/analyses/predictions.h"
#include "app/views/parts/menu_lines.h"
#include "model/pass/statistics.h"
#include "model/tokens/sampling.h"
#include "tests/app/window/tours_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::tours_test {
namespace {

/// Does what a stop asks for.
void do_as_asked(Core& core, const Wait* wait) {
  if (wait == nullptr) return;
  const Selection now = clamped(core.state().selection, *core.snapshot().run);
  if (wait->name == "head") core.apply(SelectHead{now.layer, now.head == 0 ? 1 : 0});
  if (wait->name == "query") core.apply(SelectQuery{now.query == 0 ? 1 : now.query - 1});
  if (wait->name == "key") core.apply(SelectKey{now.key == 0 ? 1 : 0});
  if (wait->name == "view") core.apply(StepView{1});
}

TEST_F(ToursTest, EveryStopShowsWhatItSays) {
  Core core(with_tours());
  for (std::size_t t = 0; t < core.state().tours.size(); ++t) {
    const Tour tour = core.state().tours[t];
    core.apply(OpenTour{static_cast<int>(t)});
    for (int i = 0; i < std::ssize(tour.stops); ++i) {
      SCOPED_TRACE(tour.id + ", stop " + std::to_string(i + 1));
      if (i > 0) press(core, Key::page_down, {.alt = true});
      shown(core);
      const TourStop stop = resolve_stop(tour, i);
      EXPECT_EQ(core.state().tour.stop, i);
      EXPECT_EQ(prompt(core), *stop.prompt);
      EXPECT_EQ(core.state().view, stop.view);
      EXPECT_THAT(core.state().message.text,
                  AnyOf("", StartsWith("The tour has its own prompt; yours comes back")));
      const Selection selection = clamped(core.state().selection, *core.snapshot().run);
      const auto label = [&](int position) { return core.snapshot().run->tokens.labels[position]; };
      if (stop.token && *stop.token != "last") {
        EXPECT_THAT(label(selection.query), HasSubstr(*stop.token)) << "a token of this model";
      }
      if (stop.key) {
        EXPECT_THAT(label(selection.key), HasSubstr(*stop.key));
      }
      const std::vector<std::string> words = paragraphs_of(core);
      EXPECT_FALSE(words.empty());
      EXPECT_THAT(words, Each(Not(AnyOf(HasSubstr("…"), HasSubstr("{")))));
      EXPECT_EQ(is_stop_done(core.state()), stop.wait == nullptr);
      do_as_asked(core, stop.wait);
      EXPECT_TRUE(is_stop_done(core.state())) << "what it asks for can be done";
    }
    press(core, Key::page_down, {.alt = true});
    EXPECT_EQ(core.state().tour.stop, std::ssize(tour.stops) - 1) << "and there it ends";
  }
}

TEST_F(ToursTest, WhoeverWalksAwayCanReturnToTheStop) {
  CoreFixture core(with_tours());
  apply_and_show(core, OpenTour{0}, GoToStop{2});
  EXPECT_EQ(find_item(core, "Return to the stop"), nullptr);
  const ViewState stop = core.state().tour.entered->view_state;
  core.apply(ShowView{"heatmap"});
  core.apply(SelectHead{1, 1});
  type_and_show(core, " more");
  click_item(core, "Return to the stop");
  EXPECT_FALSE(has_left_stop(core.state()));
  EXPECT_EQ(core.state().view, stop.view);
  EXPECT_EQ(prompt(core), *resolve_stop(core.state().tours[0], 2).prompt);
  core.apply(Undo{});
  EXPECT_TRUE(prompt(core).ends_with(" more")) << "nothing that was typed is lost";
}

TEST_F(ToursTest, WhatIsTypedStaysUntilAStopIsAboutAnotherText) {
  CoreFixture core(with_tours());
  apply_and_show(core, OpenTour{0});
  core.apply(TypeInField{Field::prompt, Replace{"A fox and a girl"}});
  core.apply(GoToStop{1});
  EXPECT_EQ(prompt(core), "A fox and a girl");
  core.apply(GoToStop{1});
  EXPECT_EQ(prompt(core), *resolve_stop(core.state().tours[0], 1).prompt) << "back to the stop";
}

TEST_F(ToursTest, OptionsAreAsBeforeOnceTheTourIsClosed) {
  Core core(with_tours());
  const OptionSpec& strips = option("strips");
  ASSERT_TRUE(strips.kept);
  const OptionValue own = stepped(strips, strips.default_value, 1);
  core.apply(SetOption{&strips, own});
  const Settings before = core.settings();
  for (const std::size_t t : {0, 1}) {
    core.apply(OpenTour{static_cast<int>(t)});
    for (int i = 0; i < std::ssize(core.state().tours[t].stops); ++i) {
      core.apply(GoToStop{i});
      EXPECT_EQ(core.settings().session.options, before.session.options)
          << "what is written is not the tour's";
    }
  }
  EXPECT_NE(core.state().options.value(strips), own) << "the tours do set it";
  core.apply(CloseTour{});
  EXPECT_EQ(core.state().options.value(strips), own);
}

TEST_F(ToursTest, ThePromptFromBeforeComesBackOnceTheTourIsClosed) {
  CoreFixture core(
      with_tour("# T\n\nAbout.\n\n## One\n- prompt: The tour's own prompt\n\nText.\n\n## Two\n\nText.\n"));
  EXPECT_EQ(prompt(core), "The tour's own prompt");
  apply_and_show(core, GoToStop{1}, CloseTour{});
  EXPECT_EQ(prompt(core), "My own prompt");
  EXPECT_TRUE(says(core, "Your prompt from before the tour is back"));
  press_and_show(core, Key::z, {.ctrl = true});
  EXPECT_EQ(prompt(core), "The tour's own prompt") << "can be undone";
  apply_and_show(core, OpenTour{0}, TypeInField{Field::prompt, Replace{"Typed during the tour"}}, CloseTour{},
                 Undo{});
  EXPECT_EQ(prompt(core), "Typed during the tour") << "nothing that was typed is lost";
}

TEST_F(ToursTest, TheViewAndTheSelectionFromBeforeComeBackToo) {
  constexpr std::string_view kTour =
      "# T\n\nAbout.\n\n## One\n- prompt: The tour's own prompt\n- view: query\n- layer: 2\n- head: "
      "3\n\nText.\n";
  CoreOptions o = options("My own prompt");
  o.tours = {parse_tour(kTour, "a.md"), parse_tour(kTour, "b.md")};
  CoreFixture core(std::move(o));
  apply_and_show(core, ShowView{"lens"}, ShowView{"scores", true}, SelectHead{4, 1}, SelectQuery{1});
  apply_and_show(core, ToggleEdit{head_off(1, 2)});
  const ViewState own = view_state(core.state());
  const EditList edits = core.state().edits;
  apply_and_show(core, OpenTour{0});
  EXPECT_EQ(core.state().view, "query");
  EXPECT_EQ(core.state().selection.layer, 2);
  EXPECT_TRUE(core.state().edits.edits.empty());
  EXPECT_EQ(core.settings().session.view, "lens") << "whoever quits now finds it again";
  apply_and_show(core, OpenTour{1});
  EXPECT_EQ(core.state().view, "query");
  apply_and_show(core, SelectHead{0, 5}, CloseTour{});
  EXPECT_EQ(view_state(core.state()), own);
  EXPECT_EQ(core.state().edits, edits);
  EXPECT_EQ(prompt(core), "My own prompt");
}

/// A tour whose second stop has a second prompt.
constexpr std::string_view kTwoPrompts =
    "# T\n\nAbout.\n\n## One\n- prompt: The tour's\n- view: query\n\nText.\n\n"
    "## Two\n- second: The tour's second\n\nText.\n\n## Three\n\nText.\n";

TEST_F(ToursTest, AStopComparesWithItsSecondPromptUntilTheNext) {
  CoreFixture core(with_tour(kTwoPrompts));
  const auto second = [&] { return core.state().second.text.edit.text; };
  EXPECT_FALSE(core.state().second.on);
  apply_and_show(core, ShowMessage{}, GoToStop{1});
  EXPECT_TRUE(core.state().second.on);
  EXPECT_EQ(second(), "The tour's second");
  ASSERT_TRUE(core.snapshot().run->baseline);
  EXPECT_EQ(core.snapshot().run->baseline->prompt.text, "The tour's second");
  EXPECT_EQ(core.state().message.text, "");
  EXPECT_FALSE(has_left_stop(core.state()));
  apply_and_show(core, GoToStop{2});
  EXPECT_FALSE(core.state().second.on);
  EXPECT_EQ(second(), "") << "nobody has typed one";
  EXPECT_FALSE(has_left_stop(core.state()));
  apply_and_show(core, GoToStop{1}, SetSide{Side::difference}, CloseTour{});
  EXPECT_FALSE(core.state().second.on);
  EXPECT_EQ(second(), "");
  EXPECT_EQ(core.state().side, Side::run);
}

TEST_F(ToursTest, TheUsersSecondPromptComesBackAfterTheTours) {
  CoreOptions o = options("My own prompt");
  o.tours = {parse_tour(kTwoPrompts, "a.md"), parse_tour(kTwoPrompts, "b.md")};
  CoreFixture core(std::move(o));
  apply_and_show(core, CompareWith{true, Alignment::subsequence},
                 TypeInField{Field::second, Replace{"My second"}}, SetSide{Side::difference}, OpenTour{0});
  EXPECT_FALSE(core.state().second.on);
  EXPECT_EQ(core.state().side, Side::run);
  apply_and_show(core, GoToStop{1});
  EXPECT_EQ(core.state().second.text.edit.text, "The tour's second");
  EXPECT_EQ(core.state().second.alignment, Alignment::position);
  apply_and_show(core, OpenTour{1}, GoToStop{1}, CloseTour{});
  EXPECT_TRUE(core.state().second.on);
  EXPECT_EQ(core.state().second.text.edit.text, "My second");
  EXPECT_EQ(core.state().second.alignment, Alignment::subsequence);
  EXPECT_EQ(core.state().side, Side::difference);
}

TEST_F(ToursTest, EditsThatAStopReplacesAreSpokenOf) {
  CoreOptions o = options("My own prompt");
  o.tours = {parse_tour(
      "# T\n\nAbout.\n\n## One\n- prompt: The tour's\n- view: query\n\nText.\n\n## Two\n\nText.\n", "a.md")};
  CoreFixture core(std::move(o));
  const model::Edit edit = head_off(1, 2);
  apply_and_show(core, ToggleEdit{edit}, OpenTour{0});
  EXPECT_THAT(core.state().message.text, HasSubstr("come back when it is closed"));
  apply_and_show(core, ToggleEdit{edit}, GoToStop{1});
  EXPECT_TRUE(core.state().edits.edits.empty());
  EXPECT_THAT(core.state().message.text, HasSubstr("replaced your edits"));
  apply_and_show(core, Undo{});
  EXPECT_EQ(core.state().edits.edits.size(), 1U);
}

TEST_F(ToursTest, AModelThatIsOpenedFindsTheStopsTokensInWhatIsTyped) {
  write_other_model(folder_);
  CoreFixture core(with_tours());
  core.apply(OpenTour{0});
  const auto& stops = core.state().tours[0].stops;
  const auto girl = std::ranges::find(stops, "girl", &TourStop::token);
  ASSERT_NE(girl, stops.end());
  core.apply(GoToStop{static_cast<int>(girl - stops.begin())});
  shown(core);
  apply_and_show(core, TypeInField{Field::prompt, Replace{"A girl and a little fox"}},
                 SetOption{&option("temperature"), 0.5});
  apply_and_show(core, OpenModel{folder_.path()});
  EXPECT_EQ(core.snapshot().model->folder, folder_.path());
  EXPECT_EQ(prompt(core), "A girl and a little fox");
  EXPECT_EQ(value<double>(core, "temperature"), 0.5);
  const auto& tokens = core.snapshot().run->tokens;
  EXPECT_EQ(core.state().selection.query, position_of("girl", "A girl and a little fox", tokens));
}

TEST_F(ToursTest, TheWayBackLeadsToWhatWasLookedAtBeforeTheTour) {
  CoreFixture core(with_tours());
  EXPECT_FALSE(find_item(core, "Back")->enabled);
  apply_and_show(core, SelectHead{2, 1}, OpenTour{0}, GoToStop{1});
  click_item(core, "Back");
  EXPECT_EQ(core.state().view, resolve_stop(core.state().tours[0], 0).view);
  shown(core);
  click_and_show(core, "Back");
  EXPECT_EQ(core.state().selection, (Selection{2, 1, -1, -1}));
}

TEST_F(ToursTest, IsOfferedOnceAndTakesNothingAway) {
  CoreOptions o = with_tours();
  o.offer_tours = true;
  CoreFixture core(std::move(o));
  EXPECT_EQ(prompt(core), "My own prompt");
  EXPECT_NE(find_item(core, core.state().tours.front().title), nullptr);
  click_and_show(core, "Close the tour");
  EXPECT_EQ(find_item(core, core.state().tours.front().title), nullptr);
}

}  // namespace
}  // namespace headscope::app::tours_test
