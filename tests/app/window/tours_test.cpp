// Every bundled tour in the window, conditions of paragraphs, and outlines around what a stop points at.

#include "app/run/analyses/predictions.h"
#include "app/tour/tour.h"
#include "app/views/parts/menu_lines.h"
#include "model/pass/edits.h"
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
      EXPECT_THAT(core.state().message.text, AnyOf("", StartsWith("The tour shows its own prompt")));
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

TEST_F(ToursTest, ThePromptFromBeforeComesBackOnceTheTourIsClosed) {
  CoreFixture core(
      with_tour("# T\n\nAbout.\n\n## One\n- prompt: The tour's own prompt\n\nText.\n\n## Two\n\nText.\n"));
  EXPECT_EQ(prompt(core), "The tour's own prompt");
  apply_and_show(core, GoToStop{1}, CloseTour{});
  EXPECT_EQ(prompt(core), "My own prompt");
  EXPECT_TRUE(says(core, "Your prompt from before the tour is back"));
  press_and_show(core, Key{'z'}, {.ctrl = true});
  EXPECT_EQ(prompt(core), "The tour's own prompt") << "can be undone";
  apply_and_show(core, OpenTour{0}, TypeInField{Field::prompt, Replace{"Typed during the tour"}}, CloseTour{},
                 Undo{});
  EXPECT_EQ(prompt(core), "Typed during the tour") << "nothing that was typed is lost";
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

TEST_F(ToursTest, WhatWasShownBeforeComesBackOnceTheTourIsClosed) {
  CoreOptions o = options("My own prompt");
  o.tours = {parse_tour(kTwoPrompts, "a.md"), parse_tour(kTwoPrompts, "b.md")};
  CoreFixture core(std::move(o));
  const OptionSpec& strips = option("strips");
  apply_and_show(core, ShowView{"lens"}, ShowView{"scores", true}, SelectHead{4, 1}, SelectQuery{1},
                 SetOption{&strips, stepped(strips, strips.default_value, 1)}, ToggleEdit{head_off(1, 2)},
                 CompareWith{true, Alignment::subsequence}, TypeInField{Field::second, Replace{"My second"}},
                 SetSide{Side::difference});
  const UiState own = core.state();
  const Session kept = core.settings().session;
  apply_and_show(core, OpenTour{0});
  EXPECT_THAT(core.state().message.text, HasSubstr("come back when it is closed"));
  EXPECT_TRUE(core.state().edits.edits.empty());
  EXPECT_FALSE(core.state().second.on);
  EXPECT_EQ(core.state().side, Side::run);
  EXPECT_EQ(core.state().options.value(strips), strips.default_value);
  apply_and_show(core, OpenTour{1}, GoToStop{1}, SelectHead{0, 5});
  EXPECT_EQ(core.settings().session, kept) << "whoever quits now finds it again";
  apply_and_show(core, CloseTour{});
  EXPECT_EQ(differing_parts(core.state(), own), 0);
  EXPECT_EQ(view_state(core.state()), view_state(own));
  EXPECT_EQ(core.state().options, own.options);
  EXPECT_EQ(core.state().side, own.side);
}

TEST_F(ToursTest, EditsThatAStopReplacesAreSpokenOf) {
  CoreFixture core(with_tour(
      "# T\n\nAbout.\n\n## One\n- prompt: The tour's\n- view: query\n\nText.\n\n## Two\n\nText.\n"));
  apply_and_show(core, ToggleEdit{head_off(1, 2)}, GoToStop{1});
  EXPECT_TRUE(core.state().edits.edits.empty());
  EXPECT_THAT(core.state().message.text, HasSubstr("replaced your changes"));
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

class TourConditionsTest : public ToursTest {
 protected:
  /// A tour whose only stop says "Yes." if the conditions hold, else "No.".
  CoreOptions asking(const std::string& conditions, const std::string& lines = "") {
    return with_tour("# T\n\nAbout.\n\n## S\n- prompt: the fox saw the dog, the fox\n" + lines +
                     "- if: " + conditions + "\nYes.\n- otherwise\nNo.\n");
  }

  static bool holds(const Core& core) {
    const auto words = paragraphs_of(core);
    EXPECT_EQ(words.size(), 1U);
    return words == std::vector<std::string>{"Yes."};
  }
};

TEST_F(TourConditionsTest, HoldAsTheRunAndTheSelectionChange) {
  const model::Edit off = model::ScaleValues{{{model::Site::z, 1}, 6, {}, {}}, 0};
  const auto say = [](std::string text) {
    return Action(TypeInField{Field::prompt, Replace{std::move(text)}});
  };
  const Action back = GoToStop{0}, baseline = SetSide{Side::baseline}, difference = SetSide{Side::difference};
  const std::string edit = "- edit: L1H6.z=0\n", cat = "- second: a cat saw the dog\n",
                    last_head = "- layer: 1\n- head: -1\n", dog = "- token: dog\n- key: fox\n",
                    first_head = "- layer: 0\n- head: 0\n";
  struct Step {
    bool expected;
    std::vector<Action> after;
  };
  struct Case {
    const char* conditions;
    std::string lines;
    std::vector<Step> steps;
  };
  const std::vector<Case> cases{
      {"this prompt",
       "",
       {{true, {}}, {false, {say("the fox saw the dog")}}, {true, {back}}, {false, {SetStartToken{true}}}}},
      {"these edits", edit, {{true, {}}, {false, {ListEdits{}}}, {true, {Undo{}}}, {false, {baseline}}}},
      {"unedited run", edit, {{false, {}}, {true, {baseline}}, {false, {difference}}}},
      {"difference", edit, {{false, {}}, {true, {difference}}, {false, {baseline}}}},
      // The unedited run is no comparison.
      {"this comparison", "", {{true, {}}, {true, {AddEdits{{off}}}}, {false, {baseline}}}},
      {"this comparison",
       cat,
       {{true, {}},
        {false, {baseline}},
        {true, {SetSide{Side::run}}},
        {false, {CompareWith{true, Alignment::subsequence}}}}},
      {"this layer", last_head, {{true, {}}, {true, {SelectHead{1, 2}}}, {false, {SelectHead{2, 7}}}}},
      {"this head", last_head, {{true, {}}, {false, {SelectHead{1, 2}}}, {false, {SelectHead{2, 7}}}}},
      {"this token", dog, {{true, {}}, {false, {SelectQuery{5}}}}},
      {"this key", dog, {{true, {}}, {false, {SelectKey{0}}}, {false, {SelectKey{-1}}}}},
      // The second " fox"; "saw"; the first " fox".
      {"repeated token",
       "",
       {{true, {SelectQuery{7}}}, {false, {SelectQuery{2}}}, {false, {SelectQuery{1}}}}},
      {"strongest on previous token", first_head, {{true, {SelectQuery{4}}}, {false, {SelectQuery{0}}}}},
      {"strongest after same token",
       "- layer: 2\n- head: 5\n",
       {{true,
         {say("The green fish walk under golden bread and sing. Then the green fish walk under golden"),
          SelectQuery{16}}},
        {false, {SelectQuery{5}}}}},
      {"layers above 5", "", {{true, {}}}},
      {"layers above 6", "", {{false, {}}}},
      {"layers below 7", "", {{true, {}}}},
      {"strongest_weight above 90 %", first_head + "- token: saw\n", {{true, {}}}}};
  for (const auto& [conditions, lines, steps] : cases) {
    CoreFixture core(asking(conditions, lines));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      shown(core);
      for (const Action& action : steps[i].after) apply_and_show(core, action);
      EXPECT_EQ(holds(core), steps[i].expected) << conditions << ", step " << i;
    }
  }
}

TEST_F(TourConditionsTest, TheFirstAlternativeThatHoldsIsShown) {
  CoreFixture core(with_tour(R"(# T

About.

## S
- prompt: the fox
- if: layers above 10
Ten.
- otherwise: layers above 5
Five.
- otherwise
Few.

- if: this prompt
Here.

- if: heads above 1
Heads.
)"));
  EXPECT_THAT(paragraphs_of(core), ElementsAre("Five.", "Here.", "Heads."));
  apply_and_show(core, TypeInField{Field::prompt, Replace{"a fox"}});
  EXPECT_THAT(paragraphs_of(core), ElementsAre("Five.", "Heads."));
}

using viz::Rect;

class TourPointsTest : public ToursTest {
 protected:
  static std::vector<Rect> panes(const Core& core) {
    std::vector<Rect> panes;
    for (const WindowArea& area : core.window().areas)
      if (area.name == WindowArea::kPane) panes.push_back(area.rect);
    return panes;
  }
  /// The shown picture of a view; null: it is not shown.
  static const PlacedPicture* placed(const Core& core, const View* view) {
    const auto& pictures = core.window().pictures;
    const auto found = std::ranges::find(pictures, view, &PlacedPicture::view);
    return found == pictures.end() ? nullptr : &*found;
  }
  /// The quoted words in a text that are a control's: a command's, an option's, or one of its choices', which
  /// stands beside the others or in the option's list.
  static std::vector<std::pair<std::string, std::string>> controls_in(std::string_view text) {
    static const std::map<std::string_view, std::string_view> labels = [] {
      std::map<std::string_view, std::string_view> all;
      for (const View& view : views()) {
        for (const OptionSpec* option : view.options) {
          all.emplace(option->label, option->label);
          for (const Choice& choice : option->choices) all.emplace(choice.label, option->label);
        }
        for (const KeyCommand& command : view.commands) all.emplace(command.label, command.label);
      }
      return all;
    }();
    std::vector<std::pair<std::string, std::string>> found;
    for (std::size_t at = 0; (at = text.find("“", at)) != text.npos;) {
      at += 3;
      const std::string_view quoted = text.substr(at, text.find("”", at) - at);
      if (const auto label = labels.find(quoted); label != labels.end()) found.emplace_back(*label);
    }
    return found;
  }
  static bool offers(const Core& core, const std::string& control) {
    return std::ranges::any_of(core.window().items, [&](const WindowItem& item) {
      return item.label.find(control) != std::string::npos;
    });
  }
};

TEST_F(TourPointsTest, EveryStopShowsWhatItPointsAtAndTheControlsThatItNames) {
  int controls = 0;
  for (const viz::Point size : {viz::Point{1024, 700}, {1600, 1000}}) {
    SCOPED_TRACE(size.x);
    CoreFixture core(with_tours());
    for_each_stop(core, [&] {
      shown(core, size.x, size.y);
      const auto& points = open_stop(core).points;
      const auto& outlines = shown(core, size.x, size.y).outlines;
      EXPECT_FALSE(points.empty());
      ASSERT_EQ(outlines.size(), points.size());
      EXPECT_FALSE(has_left_stop(core.state()));
      for (const std::string& paragraph : paragraphs_of(core))
        for (const auto& [control, option] : controls_in(paragraph)) {
          EXPECT_TRUE(offers(core, control) || offers(core, option)) << control << " is not on the screen";
          ++controls;
        }
      for (std::size_t p = 0; p < points.size(); ++p) {
        EXPECT_TRUE((Rect{0, 0, size.x, size.y}.encloses(outlines[p])));
        const bool is_pane = points[p].kind == TourPoint::Kind::pane;
        EXPECT_EQ(std::ranges::count(panes(core), outlines[p]), is_pane ? 1 : 0)
            << (points[p].landmark ? points[p].landmark->name : "") << " is not in sight";
        if (points[p].kind == TourPoint::Kind::landmark) {
          const PlacedPicture* of = placed(core, points[p].view);
          ASSERT_NE(of, nullptr);
          constexpr float kOutline = 5;  // around the landmark
          EXPECT_TRUE(of->where.inset(-kOutline).encloses(outlines[p]))
              << points[p].landmark->name << " is not within its picture";
        }
        for (std::size_t other = 0; other < p; ++other) EXPECT_NE(outlines[other], outlines[p]);
      }
    });
  }
  EXPECT_GT(controls, 10);
}

TEST_F(TourPointsTest, NamesHideNoWordsWhereThereIsRoom) {
  CoreFixture core(with_tours());
  core.apply(OpenTour{0});
  const auto& stops = open_tour(core).stops;
  for (const std::string_view title : {"From scores to weights", "What the model expects"}) {
    core.apply(GoToStop{static_cast<int>(std::ranges::find(stops, title, &TourStop::title) - stops.begin())});
    const WindowPicture& window = shown(core, 1024, 700);
    EXPECT_FALSE(window.tags.empty()) << title;
    for (const Rect& tag : window.tags)
      for (const PlacedPicture& placed : window.pictures)
        for (const viz::Item& item : placed.picture->scene.items)
          if (const auto* text = std::get_if<viz::GlyphRun>(&item)) {
            Rect words = viz::bounds_of(*text);
            words.x += placed.where.x, words.y += placed.where.y;
            EXPECT_FALSE(tag.overlaps(words)) << title << ": " << text->text;
          }
  }
}

constexpr std::string_view kFarKey = R"(# T

About.

## A key far up
- prompt: One two three four five six seven eight nine ten and one two three four five six seven eight nine ten and one two three four five six seven eight nine ten, then a fox came and sang
- view: query
- layer: 0
- head: 0
- token: last
- key: One two
- option: strongest-first yes
- point: key

W.
)";

TEST_F(TourPointsTest, AListShowsTheKeyOfTheStop) {
  CoreFixture core(with_tour(kFarKey));
  shown(core, 1024, 700);
  const WindowPicture& window = shown(core, 1024, 700);
  ASSERT_EQ(window.outlines.size(), 1U);
  const PlacedPicture& query = picture(window, "query");
  const int key = clamped(core.state().selection, *core.snapshot().run).key;
  EXPECT_EQ(core.snapshot().run->tokens.labels[key], "·two");
  const auto row = std::ranges::find(query.picture->regions, key, &viz::Region::id);
  ASSERT_NE(row, query.picture->regions.end()) << "its row is drawn";
  EXPECT_TRUE(window.outlines[0].contains(
      {query.where.x + row->rect.center().x, query.where.y + row->rect.center().y}));
  EXPECT_FALSE(has_left_stop(core.state())) << "the user has done nothing";
  core.apply(CloseTour{});
  EXPECT_EQ(value<int>(core, "first-key"), -1) << "auto, as before the tour";
}

TEST_F(TourPointsTest, WhoScrollsAwayIsLeftAlone) {
  CoreFixture core(with_tour(kFarKey));
  shown(core, 1024, 700);
  core.apply(SetOption{&option("first-key"), 20});
  shown(core, 1024, 700);
  const WindowPicture& window = shown(core, 1024, 700);
  EXPECT_EQ(value<int>(core, "first-key"), 20);
  ASSERT_EQ(window.outlines.size(), 1U);
  EXPECT_EQ(std::ranges::count(panes(core), window.outlines[0]), 1) << "the pane, where it can be found";
}

TEST_F(TourPointsTest, AnotherViewHasNoOutline) {
  CoreFixture core(with_tours());
  apply_and_show(core, OpenTour{0}, GoToStop{2});
  ASSERT_FALSE(core.window().outlines.empty());
  apply_and_show(core, ShowView{"heatmap"});
  EXPECT_TRUE(core.window().outlines.empty());
  apply_and_show(core, GoToStop{2});
  EXPECT_FALSE(core.window().outlines.empty());
  apply_and_show(core, CloseTour{});
  EXPECT_TRUE(core.window().outlines.empty());
}

}  // namespace
}  // namespace headscope::app::tours_test
