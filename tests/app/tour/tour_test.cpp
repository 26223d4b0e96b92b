// Tour files: what their lines mean, and the messages about invalid ones.
#include "app/tour/tour.h"

#include "model/files/error.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::tour_test {
namespace {

constexpr std::string_view kTour = R"(# A title

About it,
in two lines.

% nobody reads this
## First
- prompt: The old king
- view: heatmap
- layer: 2
- head: -1
- token: king
- option: value-scale log

Words of {token}
go on.

A second paragraph.

## Second
- second: The old queen
- key: old
- wait: head

More.

## Third
- prompt: Another text
- view: scores

The end.
)";

std::vector<std::string> words_of(const TourStop& stop) {
  std::vector<std::string> words;
  for (const TourParagraph& paragraph : stop.caption) words.push_back(paragraph.words);
  return words;
}

TEST(Tour, SaysWhatItsLinesSay) {
  const Tour tour = parse_tour(kTour, "some/folder/walk.md");
  EXPECT_EQ(tour.id, "walk");
  EXPECT_EQ(tour.title, "A title");
  EXPECT_EQ(tour.about, "About it, in two lines.");
  ASSERT_EQ(tour.stops.size(), 3);
  const TourStop& first = tour.stops.front();
  EXPECT_EQ(first.title, "First");
  EXPECT_EQ(first.prompt, "The old king");
  EXPECT_EQ(first.view, "heatmap");
  EXPECT_EQ(first.layer, 2);
  EXPECT_EQ(first.head, -1);
  EXPECT_EQ(first.token, "king");
  ASSERT_EQ(first.options.size(), 1);
  EXPECT_EQ(first.options.front().first->name, "value-scale");
  EXPECT_EQ(first.options.front().second, OptionValue(1));
  EXPECT_THAT(words_of(first), ElementsAre("Words of {token} go on.", "A second paragraph."));
  EXPECT_EQ(tour.stops[1].wait, find_wait("head"));
}

TEST(Tour, AStopStandsOnThoseBeforeIt) {
  const Tour tour = parse_tour(kTour, "walk.md");
  const TourStop second = resolve_stop(tour, 1);
  EXPECT_EQ(second.title, "Second");
  EXPECT_EQ(second.prompt, "The old king");
  EXPECT_EQ(second.view, "heatmap");
  EXPECT_EQ(second.layer, 2);
  EXPECT_EQ(second.token, "king");
  EXPECT_EQ(second.key, "old");
  EXPECT_TRUE(second.options.empty()) << "they are of one stop";
  EXPECT_FALSE(resolve_stop(tour, 0).second);
  EXPECT_EQ(second.second, "The old queen");
  const TourStop third = resolve_stop(tour, 2);
  EXPECT_EQ(third.prompt, "Another text");
  EXPECT_EQ(third.view, "scores");
  EXPECT_FALSE(third.token) << "a token of another prompt";
  EXPECT_FALSE(third.key);
  EXPECT_FALSE(third.second);
}

TEST(Tour, AWrongLineIsASentenceWithItsNumber) {
  struct Case {
    std::string text, said;
  };
  const std::string head = "# T\n\nAbout.\n\n## S\n- prompt: x\n";
  for (const Case& wrong : {
           Case{"", "walk.md:1: expected \"# title of the tour\", found the end of the file"},
           Case{"# T\n\n## S\n", "walk.md:3: expected a paragraph about the tour"},
           Case{"# T\n\nAbout.\n", "expected \"## title of a stop\", found the end of the file"},
           Case{"# T\n\nAbout.\n\n## S\n\nWords.\n",
                "walk.md:6: expected \"- prompt: words\" at the first stop"},
           Case{head + "- view: heatmp\n\nW.\n",
                "walk.md:7: expected the id of a view, found \"- view: heatmp\""},
           Case{head + "- layer: two\n\nW.\n", "walk.md:7: expected a number from 0, or -1 for the last"},
           Case{head + "- colour: red\n\nW.\n",
                "walk.md:7: expected prompt, second, view, layer, head, token, key, option, edit, point or "
                "wait"},
           Case{head + "- option: value-scale red\n\nW.\n", "walk.md:7: --value-scale takes"},
           Case{head + "- wait: a minute\n\nW.\n",
                "walk.md:7: expected head, query, key or view to wait for"},
           Case{head + "\nW {tokns}.\n", "walk.md:8: expected one of the numbers model, "},
           Case{head + "\n- if: this promt\nW.\n", "walk.md:8: expected this prompt, this model, "},
           Case{head + "\n- if: weight above nan\nW.\n", "found \"weight above nan\""},
           Case{head + "\n- if: this head\nW.\n",
                "walk.md:8: expected \"- layer: …\" at this stop or before it"},
           Case{
               head + "\n- when: this prompt\nW.\n",
               "walk.md:8: expected \"- if: this prompt\" or \"- otherwise\", found \"- when: this prompt\""},
           Case{head + "\nW.\n- otherwise\nV.\n",
                "walk.md:9: expected \"- if: …\" and its paragraph before \"- otherwise\""},
           Case{head + "- view: heatmap\n- point: option strips\n\nW.\n", "found \"option strips\""},
           Case{head + "- view: lines\n- point: prompt\n- view: heatmap\n\nW.\n",
                "walk.md:9: expected the view"},
       }) {
    SCOPED_TRACE(wrong.text.substr(0, 200));
    EXPECT_THAT(message_of<model::LoadError>([&] { parse_tour(wrong.text, "walk.md"); }),
                AllOf(HasSubstr(wrong.said), Not(HasSubstr("\n"))));
  }
}

// A tour's view and the side panes share their names: none may hide another.
TEST(Tour, LandmarksHaveDifferentNames) {
  for (const View& view : views()) {
    std::set<std::string_view> names;
    for (const Landmark& landmark : view.landmarks) {
      EXPECT_TRUE(names.insert(landmark.name).second) << view.id << ": " << landmark.name;
      EXPECT_FALSE(landmark.name.starts_with("pane ") || landmark.name.starts_with("option "));
    }
  }
}

TEST(Tour, WordsOfAPromptAreAToken) {
  PromptTokens tokens;
  tokens.tokens = {{0, 0, 3}, {1, 3, 7}, {2, 7, 10}, {3, 10, 12}};  // "The| old| ki|ng"
  tokens.run_length = 4;
  const std::string prompt = "The old king";
  EXPECT_EQ(position_of("The", prompt, tokens), 0);
  EXPECT_EQ(position_of("old", prompt, tokens), 1);
  EXPECT_EQ(position_of("king", prompt, tokens), 3) << "its last piece";
  EXPECT_EQ(position_of("queen", prompt, tokens), -1);
  EXPECT_EQ(position_of("last", prompt, tokens), -1);
  tokens.run_length = 2;
  EXPECT_EQ(position_of("king", prompt, tokens), -1) << "beyond the context";
}

TEST(Tours, AreReadFromFoldersAndAWrongOneKeepsTheOthers) {
  const TemporaryFolder folder;
  for (const char* name : {"b.md", "a.md"}) folder.write(name, kTour);
  for (const char* name : {"c.md", "notes.txt"}) folder.write(name, "nothing");
  LoadedTours loaded = load_tours({folder.path() / "not there", folder.path()});
  ASSERT_EQ(loaded.tours.size(), 2);
  EXPECT_EQ(loaded.tours[0].id, "a");
  EXPECT_THAT(loaded.problem, HasSubstr("c.md:1: expected"));
  EXPECT_EQ(find_tour(loaded, "b"), 1);
  EXPECT_EQ(find_tour(loaded, (folder.path() / "a.md").string()), 2) << "a file is added";
  EXPECT_THROW(find_tour(loaded, "z"), std::runtime_error);
}

}  // namespace
}  // namespace headscope::app::tour_test
