// Every tour that comes with the program, walked from end to end in the window on the bundled model.
#include <gmock/gmock.h>

#include "app/run/paths.h"
#include "app/tour/numbers.h"
#include "tests/app/window/window_fixture.h"

namespace headscope::app {
namespace {

class ToursTest : public HandsTest {
 protected:
  CoreOptions with_tours() {
    CoreOptions o = options("My own prompt");
    LoadedTours loaded = load_tours({assets_folder() / "tours"});
    EXPECT_EQ(loaded.problem, "");
    EXPECT_GE(loaded.tours.size(), 2);
    o.tours = std::move(loaded.tours);
    return o;
  }

  static std::string caption_of(const Core& core) {
    const TourPlace& place = core.state().tour;
    const Tour& tour = core.state().tours[static_cast<std::size_t>(place.tour)];
    std::string words;
    ViewContext context = core.window().pictures.front().context;
    context.selection = clamped(core.state().selection, *core.snapshot().run);
    for (const std::string& paragraph : tour.stops[static_cast<std::size_t>(place.stop)].caption)
      words += with_numbers(paragraph, context) + "\n";
    return words;
  }

  /// What somebody does who does what a stop asks for.
  static void do_as_asked(Core& core, Wait wait) {
    const Selection now = clamped(core.state().selection, *core.snapshot().run);
    if (wait == Wait::head) core.apply(SelectHead{now.layer, now.head == 0 ? 1 : 0});
    if (wait == Wait::query) core.apply(SelectQuery{now.query == 0 ? 1 : now.query - 1});
    if (wait == Wait::key) core.apply(SelectKey{now.key == 0 ? 1 : 0});
    if (wait == Wait::view) core.apply(StepView{1});
  }
};

TEST_F(ToursTest, EveryStopShowsWhatItSays) {
  Core core(with_tours());
  for (std::size_t t = 0; t < core.state().tours.size(); ++t) {
    const Tour tour = core.state().tours[t];
    core.apply(OpenTour{static_cast<int>(t)});
    for (int i = 0; i < std::ssize(tour.stops); ++i) {
      SCOPED_TRACE(tour.id + ", stop " + std::to_string(i + 1));
      if (i > 0) press(core, Key::page_down, {.alt = true});
      shown(core);
      const TourStop stop = at_stop(tour, i);
      EXPECT_EQ(core.state().tour.stop, i);
      EXPECT_EQ(core.state().prompt.edit.text, *stop.prompt);
      EXPECT_EQ(core.state().view, stop.view);
      EXPECT_TRUE(core.state().message.text.empty()) << core.state().message.text;
      const Selection selection = clamped(core.state().selection, *core.snapshot().run);
      const auto label = [&](int position) {
        return core.snapshot().run->tokens.labels[static_cast<std::size_t>(position)];
      };
      if (stop.token && *stop.token != "last") {
        EXPECT_THAT(label(selection.query), ::testing::HasSubstr(*stop.token)) << "a token of this model";
      }
      if (stop.key) {
        EXPECT_THAT(label(selection.key), ::testing::HasSubstr(*stop.key));
      }
      const std::string words = caption_of(core);
      EXPECT_EQ(words.find("…"), std::string::npos) << words;
      EXPECT_EQ(words.find('{'), std::string::npos) << words;
      EXPECT_EQ(stop_is_done(core.state()), stop.wait == Wait::nothing);
      do_as_asked(core, stop.wait);
      EXPECT_TRUE(stop_is_done(core.state())) << "what it asks for can be done";
    }
    press(core, Key::page_down, {.alt = true});
    EXPECT_EQ(core.state().tour.stop, std::ssize(tour.stops) - 1) << "and there it ends";
  }
}

TEST_F(ToursTest, WhoeverWalksAwayCanReturnToTheStop) {
  Core core(with_tours());
  shown(core);
  core.apply(OpenTour{0});
  core.apply(GoToStop{2});
  shown(core);
  EXPECT_EQ(find_item(core, "Return to the stop"), nullptr);
  const Looked stop = core.state().tour.entered;
  core.apply(ShowView{"heatmap"});
  core.apply(SelectHead{1, 1});
  type(core, " more");
  shown(core);
  click_item(core, "Return to the stop");
  EXPECT_FALSE(left_the_stop(core.state()));
  EXPECT_EQ(core.state().view, stop.view);
  EXPECT_EQ(core.state().prompt.edit.text, *at_stop(core.state().tours[0], 2).prompt);
  core.apply(EditField{Field::prompt, Undo{}});
  EXPECT_TRUE(core.state().prompt.edit.text.ends_with(" more")) << "nothing that was typed is lost";
}

TEST_F(ToursTest, WhatIsTypedStaysUntilAStopIsAboutAnotherText) {
  Core core(with_tours());
  shown(core);
  core.apply(OpenTour{0});
  shown(core);
  core.apply(EditField{Field::prompt, Replace{"A fox and a girl"}});
  core.apply(GoToStop{1});
  EXPECT_EQ(core.state().prompt.edit.text, "A fox and a girl");
  core.apply(GoToStop{1});
  EXPECT_EQ(core.state().prompt.edit.text, *at_stop(core.state().tours[0], 1).prompt) << "back to the stop";
}

TEST_F(ToursTest, OptionsThatWerePulledAreAsUsualAtTheNextStop) {
  Core core(with_tours());
  core.apply(OpenTour{0});
  const auto& stops = core.state().tours[0].stops;
  const auto lab = std::ranges::find(stops, "softmax", &TourStop::view) - stops.begin();
  const OptionSpec& scale = option("softmax-scale");
  core.apply(SetOption{&scale, 16.0});
  core.apply(GoToStop{static_cast<int>(lab)});
  EXPECT_EQ(core.state().options.value(scale), scale.usual);
}

TEST_F(ToursTest, IsOfferedOnceAndTakesNothingAway) {
  CoreOptions o = with_tours();
  o.offer_tours = true;
  Core core(std::move(o));
  shown(core);
  EXPECT_EQ(core.state().prompt.edit.text, "My own prompt");
  EXPECT_NE(find_item(core, core.state().tours.front().title), nullptr);
  click_item(core, "Close the tour");
  shown(core);
  EXPECT_EQ(find_item(core, core.state().tours.front().title), nullptr);
}

TEST_F(ToursTest, OptionsOfAStopAreThatStopsAlone) {
  Core core(with_tours());
  core.apply(OpenTour{1});
  const auto& stops = core.state().tours[1].stops;
  const auto with_option =
      std::ranges::find_if(stops, [](const TourStop& stop) { return !stop.options.empty(); });
  ASSERT_NE(with_option, stops.end());
  const auto [option, value] = with_option->options.front();
  core.apply(GoToStop{static_cast<int>(with_option - stops.begin())});
  EXPECT_EQ(core.state().options.value(*option), value);
  core.apply(GoToStop{0});
  EXPECT_EQ(core.state().options.value(*option), option->usual);
}

}  // namespace
}  // namespace headscope::app
