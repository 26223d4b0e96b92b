// What the words of pictures say in numbers: their data files have these numbers, too.
#include "app/run/analyses/head_circuit.h"
#include "app/views/parts/names.h"
#include "tests/app/views/view_suite.h"

namespace headscope::app::exported_numbers_test {
namespace {

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
    ASSERT_EQ(std::ssize(all->scores), s.config().n_layer * s.config().n_head);
    for (const auto& [layer, head] : {std::pair(0, 0), {0, 5}, {1, 6}, {4, 3}}) {
      const TokenReading how{mlp && layer > 0, true};
      EXPECT_EQ(all->score(layer, head), s.ask(CopyingOfHead{{layer, head, how}})->score)
          << layer << " " << head;
    }
  }
  const ViewFixture shown("circuits", s, 900, 700, {{"circuit", "copying"}});
  const auto all = s.ask(CopyingOfModel{{}});
  EXPECT_EQ(text_rows(shown.table())[14], (std::vector<std::string>{"1", "6", plain(all->score(1, 6))}));
  EXPECT_EQ(in_words(shown.click(shown.find(1), 1, 6)), "head 1 6");
}

}  // namespace
}  // namespace headscope::app::exported_numbers_test
