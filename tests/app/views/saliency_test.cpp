// The picture of saliency compared with the answer, and what its tokens do.
#include "app/run/analyses/saliency.h"

#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::saliency_test {
namespace {

constexpr int kRow = 0, kChip = 1;  // roles of the regions

SaliencyOf question(const Scenario& s, SaliencyMethod method, Metric metric = Metric::logit) {
  return {.measured = {.metric = metric, .position = s.selection.query}, .method = method};
}

/// The numbers in a list's row, in order.
std::vector<std::string> row_texts(DrawnPage& page, const ViewFixture& shown, int position) {
  std::vector<std::string> texts;
  for (const auto& drawn : page.take(shown.region(shown.find(kRow, position)).rect))
    texts.push_back(drawn.text);
  return texts;
}

TEST(SaliencyView, RowsAreTheAnswers) {
  const Scenario s(kRobot);
  for (const auto& [name, method] : {std::pair("gradient-input", SaliencyMethod::gradient_input),
                                     std::pair("gradient-norm", SaliencyMethod::gradient_norm),
                                     std::pair("integrated", SaliencyMethod::integrated)}) {
    SCOPED_TRACE(name);
    const ViewFixture shown("saliency", s, 900, 700, {{"saliency-method", name}});
    const auto answer = s.ask(question(s, method));
    const auto shares = numbers_of(shown.table(), "share");
    DrawnPage page = shown.page();
    double largest = 0;
    for (const double part : answer->parts) largest = std::max(largest, std::abs(part));
    for (int i = 0; i < s.length(); ++i) {
      const double part = answer->parts[i];
      const auto texts = row_texts(page, shown, i);
      ASSERT_EQ(texts.size(), 3U);
      EXPECT_EQ(texts[0], std::to_string(i));
      EXPECT_EQ(texts[1], s.run->tokens.labels[i]);
      EXPECT_TRUE(agree(texts[2], number_text(shares[i]), part, 1e-6 * std::max(1.0, largest)));
    }
  }
}

TEST(SaliencyView, IntegratedGradientsEndWithTheirSumTheExactDifferenceAndTheError) {
  const Scenario s(kRobot);
  const ViewFixture shown("saliency", s, 900, 700, {{"saliency-method", "integrated"}});
  const auto answer = s.ask(question(s, SaliencyMethod::integrated));
  EXPECT_THAT(texts(shown.scene()), Contains(viz::fixed_number(answer->sum(), 4)));
  const Table table = shown.table();
  EXPECT_EQ(fact_of(table, "sum"), answer->sum());
  EXPECT_EQ(fact_of(table, "value"), answer->value);
  EXPECT_EQ(fact_of(table, "baseline value"), answer->start);
  EXPECT_EQ(fact_of(table, "error"), answer->error());
  EXPECT_EQ(fact_of(table, "gradients"), answer->gradients);
}

TEST(SaliencyView, AClickChoosesTheTokenAndLaterOnesHaveNoRow) {
  Scenario s(kRobot);
  s.select({2, 1, 4});
  const ViewFixture logit("saliency", s, 900, 700);
  EXPECT_EQ(in_words(logit.click(logit.find(kChip, 2))), "key 2");
  EXPECT_EQ(in_words(logit.click(logit.find(kRow, 3))), "key 3");
  EXPECT_EQ(in_words(logit.click(logit.find(kChip, 5))), "query 5");
  EXPECT_EQ(logit.find(kRow, 5), -1);
  const ViewFixture loss("saliency", s, 900, 700, {{"saliency-metric", "loss"}});
  EXPECT_EQ(in_words(loss.click(loss.find(kRow, 4))), "query 4") << "the loss has no query";
}

}  // namespace
}  // namespace headscope::app::saliency_test
