#pragma once

#include "app/run/sources/paths.h"
#include "app/tour/tour.h"
#include "tests/app/window/window_fixture.h"

namespace headscope::app {

/// The window with the bundled tours.
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

  /// The window with one tour, open at its first stop.
  CoreOptions with_tour(std::string_view text) {
    CoreOptions o = options("My own prompt");
    o.tours = {parse_tour(text, "own.md")};
    o.tour = 0;
    return o;
  }

  static const Tour& open_tour(const Core& core) { return core.state().tours.at(core.state().tour.tour); }
  static const TourStop& open_stop(const Core& core) {
    return open_tour(core).stops.at(core.state().tour.stop);
  }

  /// Visits each stop of all tours.
  static void for_each_stop(Core& core, const std::function<void()>& visit) {
    for (std::size_t t = 0; t < core.state().tours.size(); ++t) {
      core.apply(OpenTour{static_cast<int>(t)});
      for (int i = 0; i < std::ssize(open_tour(core).stops); ++i) {
        SCOPED_TRACE(open_tour(core).id + ", stop " + std::to_string(i + 1));
        core.apply(GoToStop{i});
        visit();
      }
    }
  }

  /// The paragraphs that the open stop shows.
  static std::vector<std::string> paragraphs_of(const Core& core) {
    ViewContext context = core.window().pictures.front().context;
    context.run = core.snapshot().run;
    context.side = context.run->baseline ? core.state().side : Side::run;
    context.selection = clamped(core.state().selection, *context.run);
    context.chosen_query = core.state().selection.query;
    return shown_paragraphs(resolve_stop(open_tour(core), core.state().tour.stop), context);
  }

  /// All text painted outside pictures, in order.
  static std::string words_of_panels(const Core& core) {
    std::string words;
    for (const viz::Scene& scene : core.window().scenes)
      for (const viz::Item& item : scene.items)
        if (const auto* text = std::get_if<viz::GlyphRun>(&item)) words += text->text + " ";
    return words;
  }
};

}  // namespace headscope::app
