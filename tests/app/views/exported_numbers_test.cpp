// What the words of pictures say in numbers: their data files have these numbers, too.
#include <cmath>
#include <regex>

#include "app/run/analyses/head_circuit.h"
#include "app/run/analyses/score_sources.h"
#include "app/run/analyses/sweep.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::exported_numbers_test {
namespace {

/// A number that a picture says, with half a unit of its last digit.
struct Said {
  double number = 0;
  double rounding = 0;
};

/// The number that a pattern's first group matches in one of the picture's texts; nothing: none does.
std::optional<Said> said_in(const ViewFixture& shown, const std::string& pattern) {
  const std::regex number(pattern);
  std::vector<std::string> all = texts(shown.scene());
  all.push_back(shown.picture().subtitle);
  for (std::string text : all) {
    for (std::size_t at = 0; (at = text.find("−")) != std::string::npos;) text.replace(at, 3, "-");
    std::smatch found;
    if (!std::regex_search(text, found, number)) continue;
    std::string digits = found[1].str();
    std::erase(digits, ',');
    const std::size_t point = digits.find('.');
    const int decimals = point == std::string::npos ? 0 : static_cast<int>(digits.size() - point) - 1;
    return Said{std::stod(digits), 0.5 * std::pow(10.0, -decimals)};
  }
  return std::nullopt;
}

/// Whether a cell or a fact of the table, times `unit`, is the number.
bool has(const Table& table, const Said& said, double unit) {
  const auto is_it = [&](double value) {
    return std::abs(value * unit - said.number) <= said.rounding * 1.001;
  };
  const auto has_it = [&](const Column& column) {
    return !column.has_texts() && std::ranges::any_of(std::get<0>(column.cells), is_it);
  };
  return std::ranges::any_of(table.columns, has_it) ||
         std::ranges::any_of(table.facts, [&](const TableFact& fact) {
           const auto* number = std::get_if<double>(&fact.value);
           return number != nullptr && is_it(*number);
         });
}

TEST(ExportedNumbers, FilesHaveTheNumbersThatPicturesSay) {
  struct Claim {
    std::string view;
    NamedOptions options;
    std::string pattern;  ///< its first group is the number
    double unit = 1;      ///< of what the picture says: 100 for percent
  };
  const std::string x = "([-+]?[0-9][0-9,]*\\.?[0-9]*)";
  const std::vector<Claim> claims{
      {"softmax", {}, "entropy " + x + " of"},
      {"softmax", {}, "largest weight " + x},
      {"circuits", {}, "itself: " + x},
      {"circuits", {}, "rank " + x},
      {"circuits", {}, "copying score " + x},
      {"circuits", {{"circuit", "keys"}}, "itself: " + x},
      {"embedding", {}, "norm " + x},
      {"mlp", {}, "norm " + x},
      {"predictions", {}, "Perplexity " + x},
      {"attribution", {}, "ln_f scale " + x},
      {"score_sources", {}, "ln_1's scale \\(" + x + " for q"},
      {"score_sources", {}, "for q, " + x + " for k"},
      {"circuit_graph", {}, "keep " + x + " % of the difference", 100},
      {"circuit_graph", {}, "metric: " + x + "; all edges"},
      {"circuit_graph", {}, "all edges: " + x},
      {"circuit_graph", {}, "none: " + x},
      {"sweep", {}, "before " + x},
      {"sweep", {}, "rank correlation with the exact differences " + x},
      {"sampling", {}, "seed 0 gives " + x},
      {"parameters", {}, "std. dev. " + x},
      {"parameters", {}, "range " + x},
  };
  const Scenario s("When Mary and John went to the park, John gave the ball to", {2, 1, -1, 3});
  for (const auto& [view, options, pattern, unit] : claims) {
    const ViewFixture shown(view, s, 1300, 900, options);
    const auto said = said_in(shown, pattern);
    ASSERT_TRUE(said) << view << " does not say " << pattern;
    EXPECT_TRUE(has(shown.table(), *said, unit)) << view << ": " << pattern << " " << said->number;
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
