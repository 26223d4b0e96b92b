// Sampling of the next token: the table and the bars compared with the reference, and a draw computed by
// hand.
#include <random>

#include "tests/app/view_fixture.h"

namespace headscope::app::sampling_test {
namespace {

constexpr int kRowRole = 0;

double number(const std::string& text) {
  return std::stod(text);
}

/// The reference's probabilities after the last token, at a temperature.
std::vector<double> at_temperature(const Scenario& s, double temperature) {
  std::vector<double> p = reference(s).probabilities(s.length() - 1);
  double sum = 0;
  for (double& x : p) sum += x = std::pow(x, 1 / temperature);
  for (double& x : p) x /= sum;
  return p;
}

TEST(Sampling, TheTableIsTheReferencesDistributionStepByStep) {
  const Scenario s(kRobot);
  const ViewFixture shown("sampling", s, 1000, 700,
                          {{"temperature", "0.8"}, {"top-k", "40"}, {"top-p", "0.6"}});
  const auto table = text_rows(shown.table());
  const std::vector<double> p = at_temperature(s, 0.8);
  double together = 0, mass = 0;
  int kept = 0;
  std::vector<double> sorted = p;
  std::ranges::sort(sorted, std::ranges::greater{});
  const double left = std::accumulate(sorted.begin(), sorted.begin() + 40, 0.0);
  while (kept < 40 && mass < 0.6 * left) mass += sorted[kept++];
  ASSERT_GT(kept, 2);
  ASSERT_LT(kept, 40) << "both steps remove something";
  int drawn = 0;
  for (std::size_t row = 0; row < 100; ++row) {
    SCOPED_TRACE(row);
    const std::vector<std::string>& cells = table.at(row);
    const double expected = p.at(static_cast<std::size_t>(std::stoi(cells[1])));
    together += expected;
    EXPECT_NEAR(number(cells[5]), expected, 2e-6);
    EXPECT_NEAR(number(cells[6]), together, 1e-5);
    const int rank = static_cast<int>(row);
    EXPECT_EQ(cells[7], rank < kept ? "" : rank < 40 ? "top-p" : "top-k");
    if (rank < kept) {
      EXPECT_NEAR(number(cells[8]), expected / mass, 2e-5);
    } else {
      EXPECT_EQ(cells[8], "");
    }
    drawn += cells[9] == "yes";
  }
  EXPECT_EQ(drawn, 1);
}

TEST(Sampling, TheNumbersPlaceOnTheLineSaysWhatIsDrawn) {
  const Scenario s(kRobot);
  for (const char* seed : {"0", "1", "2", "3", "4"}) {
    const ViewFixture shown("sampling", s, 1000, 700, {{"seed", seed}, {"top-k", "20"}});
    const auto table = text_rows(shown.table());
    std::mt19937_64 generator(std::stoull(seed));
    generator.discard(static_cast<unsigned long long>(s.length()));
    const double place = static_cast<double>(generator() >> 11) * 0x1p-53;
    double passed = 0;
    std::size_t row = 0;
    while ((passed += number(table.at(row)[8])) <= place) ++row;
    EXPECT_EQ(table.at(row)[9], "yes") << "seed " << seed;
    const std::string said = shown.page().take_starting("seed ");
    EXPECT_TRUE(said.starts_with(std::string("seed ") + seed + " gives ") && said.ends_with(" %)")) << said;
  }
}

TEST(Sampling, DrawGoesOnWithTheTokenThatIsMarked) {
  const ViewFixture shown("sampling", Scenario(kRobot), 1000, 700, {{"seed", "7"}});
  const auto table = text_rows(shown.table());
  const auto drawn = std::ranges::find_if(table, [](const auto& row) { return row.at(9) == "yes"; });
  ASSERT_NE(drawn, table.end());
  const ViewActions actions = find_view("sampling")->commands.front().act(shown.context(), 0);
  ASSERT_EQ(actions.size(), 1U);
  const auto& append = std::get<AppendToken>(actions.front());
  EXPECT_EQ(std::to_string(append.id), (*drawn)[1]);
  EXPECT_NEAR(append.probability, number((*drawn)[5]), 1e-7) << "at temperature 1 both are the same";
}

TEST(Sampling, ADrawnTokenBeyondTheRowsHasItsOwn) {
  const Scenario s(kRobot);
  for (int seed = 0; seed < 24; ++seed) {
    const ViewFixture shown("sampling", s, 1000, 1500, {{"seed", std::to_string(seed)}});
    const auto table = text_rows(shown.table());
    const auto drawn = std::ranges::find_if(table, [](const auto& row) { return row.at(9) == "yes"; });
    const auto rows = std::ssize(ids_of_role(shown.picture(), kRowRole));
    DrawnPage page = shown.page();
    EXPECT_EQ(page.place_of("drawn").has_value(), drawn - table.begin() >= rows) << "seed " << seed;
    EXPECT_TRUE(page.place_of(with_commas(table.size() - static_cast<std::size_t>(rows)) + " others"));
  }
}

TEST(Sampling, AClickOnARowOrAPartGoesOnWithIt) {
  const ViewFixture shown("sampling", Scenario(kRobot), 1000, 700, {{"top-k", "5"}});
  const auto table = text_rows(shown.table());
  std::array<int, 2> count{};
  for (std::size_t i = 0; i < shown.picture().regions.size(); ++i) {
    const viz::Region& region = shown.picture().regions[i];
    const ViewActions actions = shown.click(static_cast<int>(i));
    ASSERT_EQ(actions.size(), 1U);
    const int id = std::get<AppendToken>(actions.front()).id;
    EXPECT_EQ(id, region.role == kRowRole ? std::stoi(table.at(region.id)[1]) : region.id);
    ++count.at(region.role);
  }
  EXPECT_THAT(count, ::testing::Each(::testing::Gt(5)));
}

}  // namespace
}  // namespace headscope::app::sampling_test
