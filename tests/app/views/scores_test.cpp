// The four stages: numbers and colours read from the picture, compared with the table and the reference.

#include <set>

#include "tests/app/view_fixture.h"

namespace headscope::app::scores_test {
namespace {

/// A stage's value in the reference; `masked` is −inf for keys after the query.
double reference_stage(const Scenario& s, int stage, int query, int key) {
  const auto& head = reference_head(s);
  const auto q = static_cast<std::size_t>(query), k = static_cast<std::size_t>(key);
  if (stage == 2 && key > query) return -std::numeric_limits<double>::infinity();
  return (stage == 0 ? head.scores : stage == 3 ? head.weights : head.scaled)[q][k];
}

/// The table's cell for a stage, a query and a key.
const std::string& cell_of(const Table& table, const Scenario& s, int stage, int query, int key) {
  return table.rows.at(static_cast<std::size_t>(stage * s.length() + query))
      .at(static_cast<std::size_t>(key) + 3);
}

bool is_masked(int stage, int query, int key) {
  return stage >= 2 && key > query;
}

constexpr double kTolerance = 5e-5;  // between scores in float32 and double

enum Role { kCell, kNumber, kStop };

/// Takes the numbers under the maps.
void take_listed(DrawnPage& page, const ViewFixture& shown) {
  for (const viz::Region& region : shown.picture().regions)
    if (region.role == kNumber) page.take(region.rect);
}

TEST(Scores, NumbersInTheCellsAreThoseOfTheTableAndTheReference) {
  const Scenario s("The king and his");
  const ViewFixture shown("scores", s, 1400, 1300);
  const Table table = shown.table();
  DrawnPage page = shown.page();
  for (int stage = 0; stage < 4; ++stage) {
    const viz::Region& grid = shown.region(shown.grid(stage));
    for (int query = 0; query < s.length(); ++query) {
      for (int key = 0; key < s.length(); ++key) {
        SCOPED_TRACE("stage " + std::to_string(stage) + ", query " + std::to_string(query) + ", key " +
                     std::to_string(key));
        const auto drawn = page.take(grid.cell_rect(query, key));
        const double expected = reference_stage(s, stage, query, key);
        const std::string& cell = cell_of(table, s, stage, query, key);
        ASSERT_EQ(drawn.size(), is_masked(stage, query, key) ? 0U : 1U);
        EXPECT_TRUE(drawn.empty() ? agree(DrawnNumber{expected, 0}, cell, expected, 0)
                                  : agree(drawn[0].text, cell, expected, kTolerance));
      }
    }
    const auto bar = color_bar_of(shown.scene(), grid.rect);
    ASSERT_TRUE(bar);
    const DrawnScale scale(page, *bar);
    EXPECT_GE(scale.marks().size(), 2U);
  }
  take_listed(page, shown);
  EXPECT_EQ(page.numbers_left(), "");
}

TEST(Scores, TheNumbersUnderAMapAreThoseOfTheChosenQuerysStrongestKeys) {
  for (const auto& [width, height] : {std::pair{760.F, 420.F}, {560.F, 760.F}, {1280.F, 720.F}}) {
    for (const int key : {-1, 3}) {
      Scenario s(scenario(23).run->prompt, {0, 0, 20, key});
      const ViewFixture shown("scores", s, width, height);
      const Table table = shown.table();
      DrawnPage page = shown.page();
      std::array<std::vector<int>, 4> keys;
      for (const viz::Region& region : shown.picture().regions) {
        if (region.role != kNumber) continue;
        const auto listed = static_cast<int>(region.first_col);
        SCOPED_TRACE("stage " + std::to_string(region.id) + ", key " + std::to_string(listed));
        EXPECT_EQ(region.first_row, 20);
        keys.at(region.id).push_back(listed);
        const auto drawn = page.take(region.rect);
        ASSERT_EQ(drawn.size(), 2U);
        EXPECT_THAT(drawn[0].text, StartsWith(std::to_string(listed) + " "));
        EXPECT_TRUE(agree(drawn[1].text, cell_of(table, s, region.id, 20, listed),
                          reference_stage(s, region.id, 20, listed), kTolerance));
      }
      ASSERT_GE(keys[0].size(), 4U);
      for (const std::vector<int>& others : keys) EXPECT_EQ(others, keys[0]) << "lines are aligned";
      EXPECT_EQ(std::ranges::count(keys[0], key), key >= 0 ? 1 : 0);
      double weakest = 1, strongest = 0;
      for (int other = 0; other <= 20; ++other) {
        const double weight = reference_stage(s, 3, 20, other);
        if (std::ranges::count(keys[0], other) == 0)
          strongest = std::max(strongest, weight);
        else if (other != key)
          weakest = std::min(weakest, weight);
      }
      EXPECT_GE(weakest, strongest - 1e-6);
      EXPECT_EQ(text_faults(shown.scene(), *fonts()), "");
    }
  }
}

TEST(Scores, AClickOnANumberSelectsItsKey) {
  const ViewFixture shown("scores", scenario(23), 1280, 720);
  const auto& regions = shown.picture().regions;
  const auto number = std::ranges::find(regions, static_cast<int>(kNumber), &viz::Region::role);
  ASSERT_NE(number, regions.end());
  const auto hit = viz::hit_test(regions, number->rect.center());
  ASSERT_TRUE(hit);
  const ViewActions actions = find_view("scores")->on(shown.context(), shown.picture(), &*hit, Gesture{});
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(std::get<SelectKey>(actions[0]).position, static_cast<int>(number->first_col));
}

TEST(Scores, AScoreThatIsSetIsOnTheScaleOfItsStage) {
  Prompt prompt{kRobot, {}, false};
  prompt.edits = {model::SetCells{{model::Site::attn_scores, 2}, 1, {{3, 1, 90}}, false}};
  const ViewFixture shown("scores", Scenario(prompt, {2, 1, -1}), 1400, 1300);
  DrawnPage page = shown.page();
  const int grid = shown.grid(2);
  const auto bar = color_bar_of(shown.scene(), shown.region(grid).rect);
  ASSERT_TRUE(bar);
  const DrawnScale scale(page, *bar);
  EXPECT_GE(scale.high(), 89);
  EXPECT_TRUE(reads(scale, shown.color_of(grid, 3, 1), 90));
}

TEST(Scores, WhoLooksUpAColourInTheLegendReadsTheScore) {
  const Scenario& s = scenario(23);
  for (const viz::Theme* theme : {&light(), &dark()}) {
    const ViewFixture shown("scores", s, 1400, 1300, {}, *theme);
    DrawnPage page = shown.page();
    for (int stage = 0; stage < 4; ++stage) {
      const int grid = shown.grid(stage);
      const auto bar = color_bar_of(shown.scene(), shown.region(grid).rect);
      ASSERT_TRUE(bar);
      const DrawnScale scale(page, *bar);
      for (int query = 0; query < s.length(); ++query) {
        for (int key = 0; key < s.length(); ++key) {
          SCOPED_TRACE("stage " + std::to_string(stage) + ", query " + std::to_string(query) + ", key " +
                       std::to_string(key));
          const auto color = shown.color_of(grid, query, key);
          if (is_masked(stage, query, key)) {
            EXPECT_FALSE(color);
          } else {
            EXPECT_TRUE(reads(scale, color, reference_stage(s, stage, query, key)));
          }
        }
      }
    }
  }
}

TEST(Scores, FourGridsOfOneSizeInRowsAndColumns) {
  struct Case {
    float width, height;
    int columns;
  };
  for (const Case& the : {Case{1600, 500, 4}, {900, 800, 2}, {500, 1600, 1}}) {
    SCOPED_TRACE(std::to_string(the.columns) + " columns");
    const ViewFixture shown("scores", scenario(23), the.width, the.height);
    const auto rect = [&](int stage) { return shown.region(shown.grid(stage)).rect; };
    for (int stage = 0; stage < 4; ++stage) {
      const int first_of_row = stage - stage % the.columns, first_of_column = stage % the.columns;
      EXPECT_NEAR(rect(stage).w, rect(0).w, 0.01);
      EXPECT_NEAR(rect(stage).h, rect(0).h, 0.01);
      EXPECT_NEAR(rect(stage).y, rect(first_of_row).y, 0.01) << stage;
      EXPECT_NEAR(rect(stage).x, rect(first_of_column).x, 0.01) << stage;
      if (stage > first_of_row) {
        EXPECT_GT(rect(stage).x, rect(stage - 1).right()) << stage;
      }
      if (stage >= the.columns) {
        EXPECT_GT(rect(stage).y, rect(stage - the.columns).bottom()) << stage;
      }
    }
  }
}

TEST(Scores, TheTooltipShowsTheArithmetic) {
  const Scenario& s = scenario(23);
  const ViewFixture shown("scores", s, 1000, 800);
  const Table table = shown.table();
  constexpr std::array<const char*, 4> kWords{"score ", "scaled ", "masked ", "weight "};
  for (const auto& [query, key] : {std::pair{4, 1}, {1, 4}, {22, 22}, {0, 0}}) {
    const std::vector<std::string> lines = shown.tooltip(shown.grid(1), query, key);
    for (int stage = 0; stage < 4; ++stage) {
      SCOPED_TRACE(std::string(kWords[stage]) + std::to_string(query) + " " + std::to_string(key));
      EXPECT_TRUE(agree(number_after(lines, kWords[stage]), cell_of(table, s, stage, query, key),
                        reference_stage(s, stage, query, key), kTolerance));
    }
    // "q·k = 1.234; × 1/√32 = 0.2181; softmax → 0.5"
    const std::string& sum = lines.back();
    EXPECT_THAT(sum, HasSubstr("× 1/√" + std::to_string(s.config().d_head()) + " = "));
    EXPECT_TRUE(agree(viz::testing::number_after(sum, "q·k = "), cell_of(table, s, 0, query, key),
                      reference_stage(s, 0, query, key), kTolerance));
    const std::size_t scaled = sum.find("× 1/√");
    EXPECT_TRUE(agree(viz::testing::number_after(std::string_view(sum).substr(scaled), " = "),
                      cell_of(table, s, 1, query, key), reference_stage(s, 1, query, key), kTolerance));
    EXPECT_TRUE(agree(viz::testing::number_after(sum, "softmax → "), cell_of(table, s, 3, query, key),
                      reference_stage(s, 3, query, key), kTolerance));
  }
}

// The size in a window of 1024 x 700.
TEST(Scores, SmallPanesShareTheirLabels) {
  for (const auto& [width, height] :
       {std::pair{470.F, 330.F}, {420.F, 360.F}, {760.F, 300.F}, {470.F, 640.F}}) {
    for (const int length : {12, 23, 100, bundled()->transformer->config().n_ctx}) {
      SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height) + ", " + std::to_string(length));
      Scenario s(scenario(length).run->prompt, {2, 1, length - 3, 1});
      const ViewFixture shown("scores", s, width, height);
      const auto rect = [&](int stage) { return shown.region(shown.grid(stage)).rect; };
      for (int stage = 1; stage < 4; ++stage) {
        EXPECT_EQ(rect(stage).w, rect(0).w);
        EXPECT_EQ(rect(stage).h, rect(0).h);
      }
      EXPECT_GE(rect(0).w, 3 * 14 - 3);
      const auto named = [&](int position, const viz::Rect& near, bool row) {
        const std::string& label = s.run->tokens.labels[position];
        const auto boxes = viz::testing::text_boxes(shown.scene(), *fonts());
        return std::ranges::any_of(boxes, [&](const auto& box) {
          const bool beside =
              row ? box.bounds.right() <= near.x && std::abs(box.bounds.center().y - near.center().y) < 9
                  : box.bounds.bottom() <= near.y && std::abs(box.bounds.center().x - near.center().x) < 9;
          return beside && (box.text.find(label) != std::string::npos ||
                            box.text.starts_with(std::to_string(position)));
        });
      };
      EXPECT_TRUE(named(length - 3, shown.region(shown.grid(0)).cell_rect(length - 3, 0), true));
      EXPECT_TRUE(named(1, shown.region(shown.grid(0)).cell_rect(0, 1), false));
      EXPECT_EQ(text_faults(shown.scene(), *fonts()), "");
    }
  }
}

constexpr std::array<const char*, 4> kTitles{"1 scores", "2 scaled", "3 masked", "4 pattern"};

TEST(Scores, DifferencesInANarrowPaneAreTwoByTwoWithTheirScalesAboveThem) {
  const Scenario s =
      edited("L0H3.z=0", {2, 1, -1}, "When Mary and John went to the store, John gave a drink to");
  const View& view = *find_view("scores");
  for (const auto& [width, height] : {std::pair{325.F, 335.F}, {335.F, 305.F}}) {
    ViewContext c = on_side(Side::difference, view, s.context(width, height));
    c.in_pane = true;
    c.titled = false;
    const Picture picture = view.build(c);
    std::set<float> columns;
    for (const viz::Region& region : picture.regions) {
      if (region.role != kCellRole) continue;
      columns.insert(region.rect.x);
      EXPECT_GT(region.rect.w, 3.5F * c.font_size) << width;
    }
    EXPECT_EQ(columns.size(), 2U) << width;
    EXPECT_THAT(texts(picture.scene), Contains("key")) << "the labels are there";
    EXPECT_EQ(text_faults(picture.scene, *fonts()), "");
  }
}

TEST(Scores, AStageAloneIsALargeMapOfItsNumbersWithItsScale) {
  const Scenario s("The king and his");
  const ViewFixture four("scores", s, 700, 700);
  for (int stage = 0; stage < 4; ++stage) {
    const ViewFixture shown("scores", s, 700, 700, {{"score-stage", std::to_string(stage + 1)}});
    SCOPED_TRACE(kTitles.at(static_cast<std::size_t>(stage)));
    ASSERT_EQ(shown.all_of(kCell).size(), 1U);
    const viz::Region& grid = shown.region(shown.grid(stage));
    EXPECT_GT(grid.rect.w, 1.4F * four.region(four.grid(stage)).rect.w);
    const Table table = shown.table();
    DrawnPage page = shown.page();
    for (int query = 0; query < s.length(); ++query) {
      for (int key = 0; key < s.length(); ++key) {
        const auto drawn = page.take(grid.cell_rect(query, key));
        const double expected = reference_stage(s, stage, query, key);
        ASSERT_EQ(drawn.size(), is_masked(stage, query, key) ? 0U : 1U);
        if (!drawn.empty()) {
          EXPECT_TRUE(agree(drawn[0].text, cell_of(table, s, stage, query, key), expected, kTolerance));
        }
      }
    }
    const auto bar = color_bar_of(shown.scene(), grid.rect);
    ASSERT_TRUE(bar);
    const DrawnScale scale(page, *bar);
    EXPECT_TRUE(reads(scale, shown.color_of(shown.grid(stage), 2, 1), reference_stage(s, stage, 2, 1)));
    EXPECT_EQ(text_faults(shown.scene(), *fonts()), "");
  }
}

/// The disc that is larger than the stops.
float knob_of(const viz::Scene& scene) {
  float x = -1, radius = 0;
  for (const viz::Item& item : scene.items)
    if (const auto* disc = std::get_if<viz::FillRect>(&item);
        disc && disc->radius > radius && disc->rect.w < 40)
      x = disc->rect.center().x, radius = disc->radius;
  return x;
}

TEST(Scores, BetweenTwoStagesColoursAreBlendedAndNumbersAreThoseOfTheNearerOne) {
  const Scenario s("The king and his");
  const auto at = [&](const char* stage) {
    return ViewFixture("scores", s, 700, 700, {{"score-stage", stage}});
  };
  const ViewFixture scaled = at("2"), masked = at("3"), pattern = at("4");
  const auto numbers = [](const ViewFixture& shown) {
    std::vector<std::string> texts;
    for (const viz::Item& item : shown.scene().items)
      if (const auto* run = std::get_if<viz::GlyphRun>(&item)) texts.push_back(run->text);
    return texts;
  };
  for (const auto& [value, nearer] : {std::pair{"3.3", &masked}, {"3.5", &pattern}, {"3.9", &pattern}}) {
    const ViewFixture shown = at(value);
    SCOPED_TRACE(value);
    EXPECT_EQ(numbers(shown), numbers(*nearer));
    const int grid = shown.all_of(kCell).at(0);
    const auto color = shown.color_of(grid, 3, 0);
    ASSERT_TRUE(color);
    EXPECT_NE(color, masked.color_of(masked.grid(2), 3, 0));
    EXPECT_NE(color, pattern.color_of(pattern.grid(3), 3, 0));
    const double part = std::stod(value) - 3;
    EXPECT_NEAR(knob_of(shown.scene()),
                knob_of(masked.scene()) + part * (knob_of(pattern.scene()) - knob_of(masked.scene())), 0.01);
  }
  // A cell that is masked fades, and what is under it appears.
  const ViewFixture half = at("2.5");
  const auto color = half.color_of(half.all_of(kCell).at(0), 0, 3);
  EXPECT_TRUE(scaled.color_of(scaled.grid(1), 0, 3));
  EXPECT_FALSE(masked.color_of(masked.grid(2), 0, 3));
  ASSERT_TRUE(color);
  EXPECT_NEAR(color->a, 128, 1);
}

TEST(Scores, AClickOnAStageShowsIt) {
  const ViewFixture shown("scores", scenario(23), 700, 600, {{"score-stage", "2"}});
  ASSERT_EQ(shown.all_of(kStop).size(), 4U);
  for (int stage = 0; stage < 4; ++stage)
    EXPECT_EQ(in_words(shown.click(shown.find(kStop, stage))), "score-stage " + std::to_string(stage + 1));
  EXPECT_EQ(shown.tooltip(shown.find(kStop, 2)), std::vector<std::string>{"stage 3 masked"});
}

TEST(Scores, AStageAloneFitsAnyPane) {
  for (const auto& [width, height] :
       {std::pair{420.F, 330.F}, {900.F, 300.F}, {300.F, 700.F}, {1280.F, 800.F}}) {
    for (const int length : {1, 12, 100, bundled()->transformer->config().n_ctx}) {
      SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height) + ", " + std::to_string(length));
      const Scenario s(scenario(length).run->prompt, {2, 1, -1});
      const ViewFixture shown("scores", s, width, height, {{"score-stage", "3"}});
      EXPECT_EQ(text_faults(shown.scene(), *fonts()), "");
      EXPECT_EQ(shown.all_of(kStop).size(), 4U);
    }
  }
}

TEST(Scores, TheMenuCopiesTheValueOfEachStage) {
  const Scenario& s = scenario(23);
  const ViewFixture shown("scores", s, 1000, 800);
  const Table table = shown.table();
  constexpr const char* kNames[] = {"score", "scaled", "masked", "weight"};
  for (int stage = 0; stage < 4; ++stage) {
    const std::string cell = cell_of(table, s, stage, 9, 4);
    std::string drawn = cell;
    if (drawn[0] == '-') drawn.replace(0, 1, "−");
    const std::string label = std::string("Copy ") + kNames[stage] + " " + drawn;
    for (int grid = 0; grid < 4; ++grid)
      EXPECT_EQ(in_words(shown.choose(label, shown.grid(grid), 9, 4)), "copy " + cell) << label;
  }
}

}  // namespace
}  // namespace headscope::app::scores_test
