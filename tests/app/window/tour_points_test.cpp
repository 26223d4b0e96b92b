// The outlines around what a stop of a tour points at.

#include <map>

#include "app/tour/numbers.h"
#include "app/tour/tour.h"
#include "tests/app/window/tours_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "tests/viz/text_boxes.h"

namespace headscope::app::tour_points_test {
namespace {

using viz::Rect;

class TourPointsTest : public ToursTest {
 protected:
  static std::vector<Rect> panes(const Core& core) {
    std::vector<Rect> panes;
    for (const WindowArea& area : core.window().areas)
      if (area.name == WindowArea::kPane) panes.push_back(area.rect);
    return panes;
  }
  static Rect window_of(float width, float height) { return {0, 0, width, height}; }
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
  /// Whether a picture writes a text where it is not clipped by its edge.
  static bool writes(const PlacedPicture& placed, const std::string& text) {
    return std::ranges::any_of(placed.picture->scene.items, [&](const viz::Item& item) {
      const auto* run = std::get_if<viz::GlyphRun>(&item);
      return run && run->text == text && run->origin.y > 0 && run->origin.y < placed.where.h;
    });
  }
};

TEST_F(TourPointsTest, EveryStopShowsWhatItPointsAtAndTheControlsThatItNames) {
  int controls = 0;
  for (const auto& [width, height] : {std::pair{1024.0F, 700.0F}, {1600.0F, 1000.0F}}) {
    CoreFixture core(with_tours());
    for (std::size_t t = 0; t < core.state().tours.size(); ++t) {
      core.apply(OpenTour{static_cast<int>(t)});
      for (int i = 0; i < std::ssize(open_tour(core).stops); ++i) {
        SCOPED_TRACE(open_tour(core).id + ", stop " + std::to_string(i + 1) + " at " + std::to_string(width));
        core.apply(GoToStop{i});
        shown(core, width, height);
        const auto& points = open_tour(core).stops[i].points;
        const auto& outlines = shown(core, width, height).outlines;
        EXPECT_FALSE(points.empty());
        ASSERT_EQ(outlines.size(), points.size());
        EXPECT_FALSE(has_left_stop(core.state()));
        for (const std::string& paragraph : paragraphs_of(core))
          for (const auto& [control, option] : controls_in(paragraph)) {
            EXPECT_TRUE(offers(core, control) || offers(core, option)) << control << " is not on the screen";
            ++controls;
          }
        for (std::size_t p = 0; p < points.size(); ++p) {
          EXPECT_TRUE(window_of(width, height).encloses(outlines[p]));
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
      }
    }
  }
  EXPECT_GT(controls, 10);
}

// Who reads a token and its probability finds both in a pane beside the text.
TEST_F(TourPointsTest, EveryGuessThatAStopNamesIsInSight) {
  int named = 0;
  for (const auto& [width, height] : {std::pair{1024.0F, 700.0F}, {1600.0F, 1000.0F}}) {
    CoreFixture core(with_tours());
    for (std::size_t t = 0; t < core.state().tours.size(); ++t) {
      core.apply(OpenTour{static_cast<int>(t)});
      for (int i = 0; i < std::ssize(open_tour(core).stops); ++i) {
        core.apply(GoToStop{i});
        shown(core, width, height);
        shown(core, width, height);
        const ViewContext& context = core.window().pictures.front().context;
        for (const TourParagraph& paragraph : open_tour(core).stops[i].caption) {
          for (const std::string_view name :
               {"guess", "second_guess", "guess_before", "probability", "probability_of_it"}) {
            if (paragraph.words.find("{" + std::string(name) + "}") == std::string::npos) continue;
            SCOPED_TRACE(open_tour(core).id + ", stop " + std::to_string(i + 1) + ", " + std::string(name) +
                         " at " + std::to_string(width));
            std::string words = with_numbers("{" + std::string(name) + "}", context);
            if (words.starts_with("“")) words = words.substr(3, words.size() - 6);
            const PlacedPicture* next = placed(core, find_view("next"));
            ASSERT_NE(next, nullptr) << "the pane of the next token is shown";
            // Below others it has its rank.
            const bool ranked =
                std::ranges::any_of(viz::testing::texts(next->picture->scene),
                                    [&](const std::string& text) { return text.ends_with(". " + words); });
            EXPECT_TRUE(ranked || writes(*next, words)) << words;
            ++named;
          }
        }
      }
    }
  }
  EXPECT_GT(named, 20);
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

TEST_F(TourPointsTest, WhatIsScrolledAwayIsBroughtIntoView) {
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
}  // namespace headscope::app::tour_points_test
