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

TEST(PassView, LinesSayTheNormsOfTheReference) {
  const Scenario s = robot();
  const auto& blocks = reference(s).blocks;
  const auto& block = blocks[kLayer];
  const ViewFixture shown("way", s, 1600, 1000);
  DrawnPage page = shown.page();
  for (const auto& [step, vector] : {std::pair{embedding, blocks[0].resid_pre},
                                     {before, block.resid_pre},
                                     {attention, block.attn_out},
                                     {add_attention, block.resid_mid},
                                     {mlp, block.mlp_out},
                                     {add_mlp, block.resid_post},
                                     {after, blocks.back().resid_post}}) {
    SCOPED_TRACE(step);
    viz::Rect row = shown.region(shown.find(kStepRole, step)).rect;
    row.w = 1600 * 0.56F;
    const auto drawn = page.take(row);
    ASSERT_FALSE(drawn.empty());
    const double expected = norm(vector[kPosition]);
    const auto number = read_number(drawn.back().text);
    ASSERT_TRUE(number) << drawn.back().text;
    EXPECT_NEAR(number->value, expected, 1.001 * number->rounding + 1e-5 * expected);
  }
}

TEST(PassView, ColumnsAreAsHighAsTheReferenceHasIt) {
  const Scenario s = robot();
  const auto& blocks = reference(s).blocks;
  const ViewFixture shown("way", s, 1600, 1000);
  const Table table = shown.table();
  ASSERT_EQ(table.rows.size(), 1 + 4 * blocks.size());
  const int chart = shown.find(kChartRole, 1);  // what is added
  ASSERT_GE(chart, 0);
  const viz::Region& region = shown.region(chart);
  ASSERT_EQ(region.col_count, 2 * static_cast<int>(blocks.size()) + 2);
  // Columns by their place; their heights are proportional to the norms.
  const auto height_of = [&](int col) {
    float h = 0;
    for (const viz::FillRect& rect : items_of<viz::FillRect>(shown.scene())) {
      const viz::Point at = rect.rect.center();
      if (region.cell_rect(0, col).contains(at) && rect.rect.w < region.cell_rect(0, col).w) h = rect.rect.h;
    }
    return static_cast<double>(h);
  };
  const double one = norm(blocks[kLayer].mlp_out[kPosition]) / height_of(2 * (kLayer + 1) + 1);
  for (std::size_t layer = 0; layer < blocks.size(); ++layer) {
    SCOPED_TRACE(layer);
    const int col = 2 * (static_cast<int>(layer) + 1);
    const auto& block = blocks[layer];
    const double attn = norm(block.attn_out[kPosition]), mlp_norm = norm(block.mlp_out[kPosition]);
    EXPECT_NEAR(height_of(col) * one, attn, 0.002 * mlp_norm + 0.002 * attn);
    EXPECT_NEAR(height_of(col + 1) * one, mlp_norm, 0.002 * mlp_norm);
    const auto number = [&](std::size_t row, std::size_t cell) {
      return std::stod(table.rows[1 + 4 * layer + row][cell]);
    };
    EXPECT_NEAR(number(0, 2), attn, 1e-4 * attn);
    EXPECT_NEAR(number(2, 2), mlp_norm, 1e-4 * mlp_norm);
    EXPECT_NEAR(number(1, 3), cosine(block.resid_pre[kPosition], block.resid_mid[kPosition]), 1e-5);
    EXPECT_NEAR(number(3, 3), cosine(block.resid_mid[kPosition], block.resid_post[kPosition]), 1e-5);
    EXPECT_NEAR(number(3, 4), block.resid_post[kPosition][0], 1e-4);
  }
}

TEST(PassView, AnAdditionAddsUpUnderTheMouse) {
  const Scenario s = robot();
  const ViewFixture shown("way", s, 1200, 800);
  const auto pass = s.ask(PassOfToken{kPosition});
  const auto& block = *pass->blocks[kLayer];
  for (const int dimension : {0, 17, 255}) {
    const auto lines = shown.tooltip(shown.find(kStripRole, add_attention), add_attention, dimension);
    const auto i = static_cast<std::size_t>(dimension);
    const auto number = [&](std::string_view words) { return number_after(lines, words)->value; };
    const float pre = static_cast<float>(number("resid_pre ")),
                added = static_cast<float>(number("+ attn_out "));
    EXPECT_EQ(pre, pass->resid(kLayer)[i]);
    EXPECT_EQ(added, block.attn_out[i]);
    EXPECT_EQ(static_cast<float>(number("= ")), pre + added);
  }
}

/// TransformerLens calls the output of block 2 blocks.3.hook_resid_pre: the box is of another block than it.
TEST(PassView, VectorsOfCollapsedBlocksSayWhichLayerTheyAreOf) {
  const Scenario s = robot();
  const ViewFixture shown("way", s, 1400, 900);
  const auto pass = s.ask(PassOfToken{kPosition});
  const std::string own = "L" + std::to_string(kLayer);
  EXPECT_THAT(texts(shown.scene()), Contains(own + " resid_pre"));
  const auto before_it = shown.tooltip(shown.find(kStripRole, before), before, 3);
  EXPECT_EQ(static_cast<float>(number_after(before_it, own + " resid_pre ")->value),
            pass->blocks[kLayer]->resid_pre[3]);
  const std::string last = "L" + std::to_string(s.config().n_layer - 1);
  const auto after_it = shown.tooltip(shown.find(kStripRole, after), after, 3);
  EXPECT_EQ(static_cast<float>(number_after(after_it, last + " resid_post ")->value),
            pass->blocks.back()->resid_post[3]);
}

TEST(PassView, StripsHaveTheColoursOfTheirValues) {
  const Scenario s = robot();
  const ViewFixture shown("way", s, 1600, 1000, {}, light(), 8);
  const auto pass = s.ask(PassOfToken{kPosition});
  const int strip = shown.find(kStripRole, add_mlp);
  const auto& values = pass->blocks[kLayer]->resid_post;
  const auto most = std::ranges::max_element(values) - values.begin(),
             least = std::ranges::min_element(values) - values.begin();
  const auto high = shown.color_of(strip, add_mlp, static_cast<int>(most)),
             low = shown.color_of(strip, add_mlp, static_cast<int>(least));
  ASSERT_TRUE(high && low);
  EXPECT_GT(high->b, high->r) << "positive is blue";
  EXPECT_GT(low->r, low->b) << "negative is orange";
}

TEST(PassView, BoxesLeadToTheViewsOfTheirParts) {
  const ViewFixture shown("way", robot(), 1200, 800);
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
  EXPECT_THAT(shown.tooltip(shown.find(kStepRole, attention)), Contains("click to show the view Heatmap"));
}

TEST(PassView, ColumnsAndKeysChooseLayers) {
  const ViewFixture shown("way", robot(), 1200, 800);
  const int chart = shown.find(kChartRole, 0);
  EXPECT_EQ(in_words(shown.click(chart, 0, 2 * (4 + 1))), "head 4 3");
  EXPECT_EQ(in_words(shown.click(chart, 0, 2 * (0 + 1) + 1)), "head 0 3");
  EXPECT_EQ(in_words(shown.click(chart, 0, 1)), "") << "the embedding is no layer";
  EXPECT_EQ(in_words(shown.press(Key::up)), "head by -1 0");
  EXPECT_EQ(in_words(shown.press(Key::down)), "head by 1 0");
  EXPECT_EQ(in_words(shown.press(Key::left)), "query by -1");
  EXPECT_EQ(in_words(shown.choose("Show the view Heatmap", chart, 0, 2 * (4 + 1))), "head 4 3, show heatmap");
}

TEST(PassView, TheFirstAndTheLastBlockHaveNothingBeforeAndBehind) {
  Scenario s = robot();
  s.select({0, 0, kPosition});
  const ViewFixture first("way", s, 1200, 800);
  EXPECT_EQ(first.find(kStepRole, before), -1);
  EXPECT_THAT(texts(first.scene()), Contains("blocks 1–5"));
  EXPECT_THAT(first.tooltip(first.find(kStripRole, add_attention), add_attention, 0),
              Contains(HasSubstr("resid_pre")));
  s.select({5, 0, kPosition});
  const ViewFixture last("way", s, 1200, 800);
  EXPECT_EQ(last.find(kStepRole, after), -1);
  EXPECT_THAT(texts(last.scene()), Contains("blocks 0–4"));
}

// The steps that feed a step are highlighted: all before it and none after it.
TEST(PassView, LightsWhatFeedsAStep) {
  const ViewFixture shown("way", robot(), 1200, 800);
  const View& view = *find_view("way");
  for (const int step : {embedding, ln_1, add_attention, unembedding}) {
    SCOPED_TRACE(step);
    const int index = shown.find(kStepRole, step);
    const Facts facts = view.facts(shown.context(), shown.picture(), {index, 0, 0});
    int lit = 0;
    for (const viz::StrokeRect& stroke : items_of<viz::StrokeRect>(facts.overlay)) {
      lit += stroke.color == light().accent;
      EXPECT_LE(stroke.rect.y, shown.region(index).rect.bottom());
    }
    EXPECT_EQ(lit, step + 1);
    EXPECT_EQ(facts.overlay.items.empty(), false);
  }
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
    const ViewFixture shown("way", s.context(1200, 800, part));
    EXPECT_THAT(texts(shown.scene()), Contains("computing…"));
    EXPECT_EQ(senseless_item(shown.scene()), -1);
    EXPECT_EQ(text_faults(shown.scene(), *fonts()), "");
    for (int i = 0; i < std::ssize(shown.picture().regions); ++i) {
      const viz::Hit hit{i, shown.region(i).row_count - 1, 5};
      EXPECT_EQ(senseless_item(find_view("way")->facts(shown.context(), shown.picture(), hit).overlay), -1);
    }
    EXPECT_EQ(shown.table().rows.size(), 1 + 4 * blocks);
  }
}

TEST(PassView, AllLayersAreThereHoweverSmallItIs) {
  const Scenario s = robot();
  for (const auto& [width, height] :
       {std::pair{300.F, 320.F}, {480.F, 250.F}, {480.F, 330.F}, {800.F, 600.F}}) {
    const ViewFixture shown("way", s, width, height);
    const int chart = shown.find(kChartRole, 1);
    ASSERT_GE(chart, 0) << width << " x " << height;
    EXPECT_EQ(shown.region(chart).col_count, 14);
  }
  EXPECT_THAT(texts(ViewFixture("way", s, 120, 90).scene()), Contains(HasSubstr("too small")));
}

}  // namespace
}  // namespace headscope::app::pass_test
