// The cache of keys and values: what each pass computed, compared with the sizes of the tensors.

#include "tests/app/view_fixture.h"

namespace headscope::app::cache_test {
namespace {

TEST(Cache, EachPassComputesOneTokenAndKeepsTheOthers) {
  const Scenario s(kRobot);
  const ViewFixture shown("cache", s, 900, 600, {{"ahead", "5"}});
  const auto rows = text_rows(shown.table());
  ASSERT_EQ(rows.size(), 6U);
  const int n = s.length();
  EXPECT_EQ(rows[0][2], "0");
  EXPECT_EQ(rows[0][3], std::to_string(n));
  const model::Config& config = s.config();
  for (int pass = 1; pass <= 5; ++pass) {
    const auto& row = rows[pass];
    EXPECT_EQ(row[2], std::to_string(n + pass - 1));
    EXPECT_EQ(row[3], "1");
    EXPECT_EQ(row[4], std::to_string((n + pass) * config.n_layer * config.n_embd * 2 * 4));
  }
}

TEST(Cache, AClickOnAColumnOfThePromptChoosesItsToken) {
  const Scenario s(kRobot);
  const ViewFixture shown("cache", s, 900, 600, {{"ahead", "3"}});
  const int n = s.length();
  EXPECT_EQ(in_words(shown.click(0, 0, 2)), "query 2");
  EXPECT_EQ(in_words(shown.click(0, 2, n - 1)), "query " + std::to_string(n - 1));
  EXPECT_EQ(in_words(shown.click(0, 2, n)), "") << "it is drawn ahead";
}

}  // namespace
}  // namespace headscope::app::cache_test
