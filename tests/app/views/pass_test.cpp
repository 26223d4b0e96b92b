// The forward pass of a token: the picture compared with the double-precision reference, and the targets of
// its boxes.

#include "app/run/analyses/token_pass.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::pass_test {
namespace {

constexpr int kPosition = 5, kLayer = 2;
// The roles of the view's regions, and the steps in the order of the pass.
constexpr int kStepRole = 0, kStripRole = 1, kChartRole = 2;
enum Step { embedding, before, ln_1, attention, add_attention, ln_2, mlp, add_mlp, after, ln_f, unembedding };

Scenario robot() {
  Scenario s(kRobot, {kLayer, 3, kPosition});
  return s;
}

TEST(PassView, LinesSayTheNormsOfThePass) {
  const Scenario s = robot();
  const auto pass = s.ask(PassOfToken{kPosition});
  const BlockPass& block = *pass->blocks[kLayer];
  const ViewFixture shown("pass", s, 1600, 1000);
  DrawnPage page = shown.page();
  for (const auto& [step, vector] : {std::pair{attention, block.attn_out},
                                     {add_attention, block.resid_mid},
                                     {mlp, block.mlp_out},
                                     {add_mlp, block.resid_post},
                                     {after, pass->blocks.back()->resid_post}}) {
    SCOPED_TRACE(step);
    const auto drawn = page.take(shown.region(shown.find(kStepRole, step)).rect);
    ASSERT_FALSE(drawn.empty());
    const double expected = norm({vector.begin(), vector.end()});
    const auto number = read_number(drawn.back().text);
    ASSERT_TRUE(number) << drawn.back().text;
    EXPECT_NEAR(number->value, expected, 1.001 * number->rounding + 1e-5 * expected);
  }
}

TEST(PassView, ColumnsAreAsHighAsTheNormsOfTheTable) {
  const Scenario s = robot();
  const std::size_t layers = s.ask(PassOfToken{kPosition})->blocks.size();
  const ViewFixture shown("pass", s, 1600, 1000);
  const auto rows = text_rows(shown.table());
  ASSERT_EQ(rows.size(), 1 + 4 * layers);
  const int chart = shown.find(kChartRole, 1);  // what is added
  ASSERT_GE(chart, 0);
  const viz::Region& region = shown.region(chart);
  ASSERT_EQ(region.col_count, 2 * static_cast<int>(layers) + 2);
  // Columns by their place; their heights are proportional to the norms.
  const auto height_of = [&](int col) {
    float h = 0;
    for (const viz::FillRect& rect : items_of<viz::FillRect>(shown.scene())) {
      const viz::Point at = rect.rect.center();
      if (region.cell_rect(0, col).contains(at) && rect.rect.w < region.cell_rect(0, col).w) h = rect.rect.h;
    }
    return static_cast<double>(h);
  };
  const auto norm_in = [&](std::size_t layer, std::size_t row) {
    return std::stod(rows[1 + 4 * layer + row][2]);
  };
  const double one = norm_in(kLayer, 2) / height_of(2 * (kLayer + 1) + 1);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    SCOPED_TRACE(layer);
    const int col = 2 * (static_cast<int>(layer) + 1);
    const double attn = norm_in(layer, 0), mlp_norm = norm_in(layer, 2);
    EXPECT_NEAR(height_of(col) * one, attn, 0.002 * mlp_norm + 0.002 * attn);
    EXPECT_NEAR(height_of(col + 1) * one, mlp_norm, 0.002 * mlp_norm);
  }
}

TEST(PassView, BoxesLeadToTheViewsOfTheirParts) {
  const ViewFixture shown("pass", robot(), 1200, 800);
  const auto click = [&](int step) { return in_words(shown.click(shown.find(kStepRole, step))); };
  EXPECT_EQ(click(embedding), "show embedding");
  EXPECT_EQ(click(attention), "show heatmap");
  EXPECT_EQ(click(mlp), "show mlp");
  EXPECT_EQ(click(unembedding), "show predictions");
  EXPECT_EQ(click(ln_1), "");
  EXPECT_EQ(click(add_mlp), "");
  EXPECT_EQ(click(before), "head by -1 0");
  EXPECT_EQ(click(after), "head by 1 0");
  EXPECT_EQ(in_words(shown.choose("Show the view Heatmap", shown.find(kStripRole, attention))),
            "show heatmap");
}

TEST(PassView, ColumnsChooseLayers) {
  const ViewFixture shown("pass", robot(), 1200, 800);
  const int chart = shown.find(kChartRole, 0);
  EXPECT_EQ(in_words(shown.click(chart, 0, 2 * (4 + 1))), "head 4 3");
  EXPECT_EQ(in_words(shown.click(chart, 0, 2 * (0 + 1) + 1)), "head 0 3");
  EXPECT_EQ(in_words(shown.click(chart, 0, 1)), "") << "the embedding is no layer";
  EXPECT_EQ(in_words(shown.choose("Show the view Heatmap", chart, 0, 2 * (4 + 1))), "head 4 3, show heatmap");
}

/// Part of a pass: only some blocks are known.
class PartOfPass final : public Answers {
 public:
  PartOfPass(const Scenario& s, std::size_t blocks) {
    TokenPass part = *s.ask(PassOfToken{kPosition});
    part.blocks.resize(blocks);
    part.ln_f.clear();
    answer_ = std::make_shared<const Answer>(
        Answer{std::make_shared<const TokenPass>(std::move(part)), 1, false, {}});
  }
  std::shared_ptr<const Answer> ask(const Question& question) override {
    return question == Question(PassOfToken{kPosition}) ? answer_ : nullptr;
  }

 private:
  std::shared_ptr<const Answer> answer_;
};

TEST(PassView, ShowsWhatThereIsWhileTheRestIsComputed) {
  const Scenario s = robot();
  for (const std::size_t blocks : {0U, 1U, 2U, 3U}) {
    SCOPED_TRACE(blocks);
    PartOfPass part(s, blocks);
    const ViewFixture shown("pass", s.context(1200, 800, part));
    EXPECT_THAT(shown.picture().subtitle, HasSubstr("computing…"));
    EXPECT_EQ(senseless_item(shown.scene()), -1);
    EXPECT_EQ(text_faults(shown.scene(), *fonts()), "");
    for (int i = 0; i < std::ssize(shown.picture().regions); ++i) {
      const viz::Hit hit{i, shown.region(i).row_count - 1, 5};
      EXPECT_EQ(senseless_item(find_view("pass")->facts(shown.context(), shown.picture(), hit).overlay), -1);
    }
    EXPECT_EQ(shown.table().rows(), 1 + 4 * blocks);
  }
}

}  // namespace
}  // namespace headscope::app::pass_test
