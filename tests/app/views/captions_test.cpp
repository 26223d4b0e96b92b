// Words of pictures: captions, sizes of figures as a person writes them, and numbers that files have, too.

#include "app/run/analyses/head_circuit.h"
#include "app/views/figure.h"
#include "app/views/parts/names.h"
#include "app/views/view.h"
#include "tests/app/views/view_suite.h"

namespace headscope::app::captions_test {
namespace {

TEST(Captions, NameWhatThePictureShows) {
  const Scenario s("A king\nlived");
  const ViewContext c = s.context(800, 600);
  EXPECT_EQ(caption(*find_view("heads"), c), "tales · “A king↵lived”");
  EXPECT_THAT(caption(*find_view("heatmap"), c), StartsWith("tales · “A king↵lived” · L2 H1 · query "));
  // Truncated between characters, not within one.
  const Scenario umlauts(std::string(59, 'a') + "ééééé");
  EXPECT_THAT(caption(*find_view("heads"), umlauts.context(800, 600)),
              HasSubstr("“" + std::string(59, 'a') + "…”"));
}

TEST(Captions, SayOptionsThatAreNotAsByDefault) {
  const auto words = [s = Scenario("A king lived")](std::string_view name, std::string_view text) {
    const OptionSpec& option = *find_option(name);
    ViewContext c = s.context(800, 600);
    c.options.set(option, parse_option(option, text));
    return option_words(option, c);
  };
  EXPECT_EQ(words("temperature", "0.7"), "Temperature: 0.7");
  EXPECT_EQ(words("value-scale", "log"), "Colours: Log");
  EXPECT_EQ(words("zoom", "2:5,0:1"), "Zoom: rows 2–4, columns 0");
  EXPECT_EQ(words("line-heads", "1.0,2.3"), "Heads: L1 H0, L2 H3");
  EXPECT_EQ(words("token", "rank:3"), "Token: guess 3");
}

/// The size of a figure in pixels; empty: it cannot be set to that.
std::string size_of(const char* text) {
  Figure figure;
  return set_size(figure, text) ? size_text(figure) : "";
}

TEST(FigureSize, IsAWidthOrBothSidesInAnyUnit) {
  for (const auto& [text, expected] : {std::pair("900", "900"),
                                       {"900x700", "900x700"},
                                       {" 900px × 700 px ", "900x700"},
                                       {"900x700+", "900x700+"},
                                       {"3.3in", "317"},
                                       {"6.5x4in", "624x384"},
                                       {"6.5in x 4", "624x384"},
                                       {"84mm x 6cm", "317x227"},
                                       {"72pt", "96"},
                                       {"16x32767", "16x32767"},
                                       {"fit", "fit"}})
    EXPECT_EQ(size_of(text), expected);
}

TEST(FigureSize, IsNothingElse) {
  for (const char* text : {"",          " ",           "x",          "900x",  "x900",
                           "900x700x2", "900 700",     "-900",       "+900",  "15",
                           "32769",     "1in x 0.1in", "900.5",      "9e2",   "inf",
                           "nan",       "0x384",       "3.3 inches", "400in", "99999999999999999999",
                           "900x700pc", "900+"})
    EXPECT_EQ(size_of(text), "") << text;
}

TEST(ExportedNumbers, FilesHaveTheNumbersThatPicturesSay) {
  struct Claim {
    std::string view, words;  ///< those before the number
    NamedOptions options = {};
  };
  const std::vector<Claim> claims{
      {"softmax", "entropy "},
      {"softmax", "largest weight "},
      {"circuits", "itself: "},
      {"circuits", "rank "},
      {"circuits", "copying score "},
      {"circuits", "itself: ", {{"circuit", "keys"}}},
      {"embedding", "norm "},
      {"mlp", "norm "},
      {"predictions", "Perplexity "},
      {"attribution", "ln_f scale "},
      {"circuit_graph", "keep "},
      {"circuit_graph", "metric: "},
      {"circuit_graph", "all edges: "},
      {"circuit_graph", "none: "},
      {"sweep", "before "},
      {"sweep", "rank correlation with the exact differences ", {{"sweep-over", "mlps"}}},
      {"sampling", "seed 0 gives "},
      {"parameters", "std. dev. "},
      {"parameters", "range "},
  };
  const Scenario s("When Mary and John went to the park, John gave the ball to", {2, 1, -1, 3});
  for (const auto& [view, words, options] : claims) {
    const ViewFixture shown(view, s, 1300, 900, options);
    std::vector<std::string> said = texts(shown.scene());
    said.push_back(shown.picture().subtitle);
    const auto number = app::testing::number_after(said, words);
    ASSERT_TRUE(number) << view << " does not say " << words;
    EXPECT_TRUE(has_number(shown.table(), number->value, 1.001 * number->rounding))
        << view << ": " << words << number->value;
  }
}

TEST(CopyingScores, OfAllHeadsAreThoseOfEach) {
  const Scenario s(kRobot);
  for (const bool mlp : {false, true}) {
    const auto all = s.ask(CopyingOfModel{{mlp, true}});
    ASSERT_EQ(std::ssize(*all), s.config().n_layer * s.config().n_head);
    for (const auto& [layer, head] : {std::pair(0, 0), {0, 5}, {1, 6}, {4, 3}}) {
      const TokenReading how{mlp && layer > 0, true};
      EXPECT_EQ((*all)[layer * s.config().n_head + head], *s.ask(CopyingOfHead{{layer, head, how}}))
          << layer << " " << head;
    }
  }
  const ViewFixture shown("circuits", s, 900, 700, {{"circuit", "copying"}});
  const auto all = s.ask(CopyingOfModel{{}});
  EXPECT_EQ(text_rows(shown.table())[14], (std::vector<std::string>{"1", "6", plain((*all)[14])}));
  EXPECT_EQ(in_words(shown.click(shown.find(1), 1, 6)), "head 1 6");
}

}  // namespace
}  // namespace headscope::app::captions_test
