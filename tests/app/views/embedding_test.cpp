// How a token becomes a vector: values read from the picture, compared with the file's parameters.

#include "app/run/analyses/attribution.h"
#include "app/run/analyses/vocabulary.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::embedding_test {
namespace {

constexpr int kPosition = 5;

Scenario robot() {
  Scenario s(kRobot, {1, 2, kPosition});
  return s;
}
int id_of(const Scenario& s) {
  return s.run->tokens.ids()[kPosition];
}

/// A row of a parameter, as in the file.
std::vector<double> row_of(const std::string& parameter, int row) {
  const auto d = static_cast<std::ptrdiff_t>(bundled()->transformer->config().n_embd);
  const auto from = reference_model().parameter(parameter).begin() + row * d;
  return {from, from + d};
}

/// All other tokens by descending cosine, in double precision.
std::vector<std::pair<double, int>> nearest_in_reference(int id) {
  const std::vector<double> own = row_of("wte.weight", id);
  std::vector<std::pair<double, int>> all;
  for (int other = 0; other < bundled()->transformer->config().vocab_size; ++other) {
    if (other == id) continue;
    const std::vector<double> row = row_of("wte.weight", other);
    all.emplace_back(-testing::cosine(own, row), other);
  }
  std::ranges::sort(all);
  for (auto& [cosine, other] : all) cosine = -cosine;
  return all;
}

TEST(Embedding, TheNearestAreThoseOfTheReferenceByCosine) {
  const Scenario s = robot();
  const auto expected = nearest_in_reference(id_of(s));
  const auto nearest = s.ask(NearestTo{kPosition});
  EXPECT_EQ(nearest->id, id_of(s));
  ASSERT_EQ(nearest->tokens.size(), static_cast<std::size_t>(NearestTokens::kMax));
  for (std::size_t i = 0; i < nearest->tokens.size(); ++i) {
    const Neighbour& neighbour = nearest->tokens[i];
    EXPECT_EQ(neighbour.id, expected[i].second) << i;
    EXPECT_NEAR(static_cast<double>(neighbour.cosine), expected[i].first, 1e-6) << i;
    EXPECT_FLOAT_EQ(neighbour.cosine, neighbour.dot / (neighbour.norm * nearest->norm)) << i;
  }
}

TEST(Embedding, TheTableHasTheRowsOfTheFileAndTheirSum) {
  const Scenario s = robot();
  const auto rows = text_rows(ViewFixture("embedding", s, 900, 700).table());
  const std::vector<double> wte = row_of("wte.weight", id_of(s)), wpe = row_of("wpe.weight", kPosition);
  ASSERT_EQ(rows.size(), 3U + NearestTokens::kMax);
  EXPECT_EQ(rows[0][0], "wte[" + std::to_string(id_of(s)) + "]");
  for (std::size_t i = 0; i < wte.size(); ++i) {
    EXPECT_EQ(std::stof(rows[0][5 + i]), static_cast<float>(wte[i]));
    EXPECT_EQ(std::stof(rows[1][5 + i]), static_cast<float>(wpe[i]));
    EXPECT_EQ(std::stof(rows[2][5 + i]), static_cast<float>(wte[i]) + static_cast<float>(wpe[i]));
  }
  EXPECT_NEAR(std::stod(rows[0][4]), norm(wte), 1e-5);
  EXPECT_NEAR(std::stod(rows[1][4]), norm(wpe), 1e-5);
  const int first = std::stoi(rows[3][1]);
  EXPECT_EQ(std::stof(rows[3][5]), static_cast<float>(row_of("wte.weight", first)[0]));
}

}  // namespace
}  // namespace headscope::app::embedding_test
