// The difference of one query's attention: softmax and the score breakdown on the difference side.
#include "app/views/attention/query_rows.h"

#include <regex>

#include "app/run/analyses/attention_stages.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::query_rows_test {
namespace {

constexpr double kTolerance = 5e-5;
constexpr int kLayer = 2, kHead = 1;
constexpr int kComponent = 0, kStep = 1, kKey = 2;  // roles of the score view

Scenario edited(const char* edits, Selection selection = {kLayer, kHead, 8, -1}) {
  return testing::edited(edits, selection);
}

viz::Picture picture_of(const char* view, const Scenario& scenario) {
  return find_view(view)->build(on(Side::difference, view, scenario, 1000, 800));
}

/// The reference with every query of layer 1 seeing every key.
const ReferenceGpt2::Head& unmasked_reference(const Scenario& s) {
  ReferenceGpt2::Edits edits;
  edits.sees = [](int layer, int, std::size_t query, std::size_t key) { return layer == 1 || key <= query; };
  static const auto result = reference_model().run(s.run->tokens.ids(), edits);
  return result.heads.at(kLayer).at(kHead);
}

TEST(SoftmaxDifference, IsTheReferencesDifference) {
  const Scenario s = edited("L1.mask=none");
  const auto &after = unmasked_reference(s), &before = reference_head(s, kLayer, kHead);
  const Table table = table_of(Side::difference, "softmax", s);
  const auto scores = cells_of(table, "change of score"), scaled = cells_of(table, "change of scaled"),
             weights = cells_of(table, "change of weight");
  ASSERT_EQ(table.rows.size(), 9U + 1U) << "and the entropy";
  double largest = 0;
  for (std::size_t key = 0; key < 9; ++key) {
    EXPECT_NEAR(std::stod(scores[key]), after.scores[8][key] - before.scores[8][key], kTolerance);
    EXPECT_NEAR(std::stod(scaled[key]), after.scaled[8][key] - before.scaled[8][key], kTolerance);
    EXPECT_NEAR(std::stod(weights[key]), after.weights[8][key] - before.weights[8][key], kTolerance);
    largest = std::max(largest, std::abs(std::stod(weights[key])));
  }
  EXPECT_GT(largest, 0.01);
}

TEST(SoftmaxDifference, IsTheRunsRowLessTheOthersToTheBit) {
  const Scenario s = edited("L0.attn_out=0"), clean(kRobot);
  const Table table = table_of(Side::difference, "softmax", s);
  const auto after = s.ask(StagesOf{kLayer, kHead}), before = clean.ask(StagesOf{kLayer, kHead});
  const auto minus = [&](Stage stage, int key) {
    return after->matrix(stage).at(8, key) - before->matrix(stage).at(8, key);
  };
  for (int key = 0; key < 9; ++key) {
    const auto i = static_cast<std::size_t>(key);
    EXPECT_EQ(std::stof(cells_of(table, "change of score")[i]), minus(Stage::scores, key));
    EXPECT_EQ(std::stof(cells_of(table, "change of weight")[i]), minus(Stage::pattern, key));
  }
}

TEST(SoftmaxDifference, ComparesKeysOfASecondPromptWithThoseThatStandForThem) {
  const Scenario s = of_two({kLayer, kHead, 5, -1});
  Scenario second("The very old king had daughter");
  const Table table = table_of(Side::difference, "softmax", s);
  const auto weights = cells_of(table, "difference of weight"),
             scores = cells_of(table, "difference of score");
  const std::vector<int> stands{0, 2, 3, 4, -1, 5};
  const auto after = s.ask(StagesOf{kLayer, kHead}), before = second.ask(StagesOf{kLayer, kHead});
  ASSERT_EQ(weights.size(), stands.size() + 1) << "and the entropy";
  for (int key = 0; key < 6; ++key) {
    const auto i = static_cast<std::size_t>(key);
    if (stands[i] < 0) {
      EXPECT_EQ(weights[i] + scores[i], "") << "nothing stands for it";
      continue;
    }
    EXPECT_EQ(std::stof(weights[i]), s.weight(5, key) - second.weight(5, stands[i]));
    EXPECT_EQ(std::stof(scores[i]),
              after->matrix(Stage::scores).at(5, key) - before->matrix(Stage::scores).at(5, stands[i]));
  }
  // The text says it, too.
  EXPECT_THAT(texts(picture_of("softmax", s).scene),
              Contains(HasSubstr("blank: key without counterpart in the second prompt")));
}

TEST(SoftmaxDifference, SaysWhatDiffersAndHowFar) {
  const Scenario s = edited("L1.mask=none"), clean(kRobot);
  const ViewContext c = on(Side::difference, "softmax", s, 1000, 800);
  const viz::Picture picture = find_view("softmax")->build(c);
  const auto words = texts(picture.scene);
  EXPECT_THAT(words, Contains(HasSubstr("Softmax of L2 H1, query 8 “·it”: difference")));
  EXPECT_THAT(words, Contains(StartsWith("edited − unedited; entropy ")));
  EXPECT_THAT(words, IsSupersetOf({"Δ score", "Δ scaled", "Δ weight", "Δ unscaled"}));
  const auto entropy = [](const Scenario& of) {
    double bits = 0;
    for (int key = 0; key < 9; ++key) {
      const auto w = static_cast<double>(of.weight(8, key));
      if (w > 0) bits -= w * std::log2(w);
    }
    return bits;
  };
  const double difference = entropy(s) - entropy(clean);
  EXPECT_THAT(words, Contains(HasSubstr("entropy " + std::string(difference > 0 ? "+" : "") +
                                        viz::number(difference, 3) + " bits")));
  const auto lines = find_view("softmax")->facts(c, picture, {0, 0, 0}).tooltip();
  ASSERT_EQ(lines.size(), 5U);
  for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_THAT(lines[i], StartsWith("difference in "));
}

TEST(SoftmaxDifference, WhatRisesAndWhatFallsHaveTheColoursOfSigns) {
  const Scenario s = edited("L1.mask=none");
  Table table = table_of(Side::difference, "softmax", s);
  table.rows.pop_back();  // the entropy
  for (const viz::Theme* theme : {&light(), &dark()}) {
    const viz::Picture picture =
        find_view("softmax")->build(on(Side::difference, "softmax", s, 1000, 800, *theme));
    std::map<bool, std::ptrdiff_t> bars, expected;
    for (const viz::FillRect& bar : items_of<viz::FillRect>(picture.scene))
      for (const bool rises : {false, true})
        bars[rises] += bar.color == viz::diverging(*theme, rises ? 0.75 : -0.75) ? 1 : 0;
    for (const std::string column : {"score", "scaled", "weight", "unscaled"})
      for (const std::string& value : cells_of(table, "change of " + column))
        if (std::stof(value) != 0) ++expected[std::stof(value) > 0];
    EXPECT_GT(expected[true], 0);
    EXPECT_GT(expected[false], 0);
    EXPECT_EQ(bars, expected);
  }
}

TEST(SoftmaxDifference, TheLargestDifferencesComeFirst) {
  const Scenario s = edited("L1.mask=none");
  ViewContext c = on(Side::difference, "softmax", s, 1000, 800);
  set(c, "strongest-first", "yes");
  const viz::Picture picture = find_view("softmax")->build(c);
  const auto weights = cells_of(find_view("softmax")->table(c), "change of weight");
  float last = INFINITY;
  for (const int key : ids_of_role(picture, 0)) {
    const float difference = std::abs(std::stof(weights[key]));
    EXPECT_LE(difference, last);
    last = difference;
  }
}

TEST(SoftmaxDifference, AnExampleIsTheSameOnAllSides) {
  const Scenario s = of_two({kLayer, kHead, 4, -1});  // which has no counterpart
  for (const char* example : {"one", "robot"}) {
    ViewContext run = on(Side::run, "softmax", s, 1000, 800),
                difference = on(Side::difference, "softmax", s, 1000, 800);
    set(run, "scores-from", example);
    set(difference, "scores-from", example);
    const View& view = *find_view("softmax");
    EXPECT_EQ(view.table(run).rows, view.table(difference).rows);
    EXPECT_EQ(texts(view.build(run).scene), texts(view.build(difference).scene));
    EXPECT_THAT(texts(view.build(difference).scene), Each(Not(HasSubstr("changed"))));
  }
}

TEST(ScoreDifference, IsTheReferencesDifference) {
  // Not the last query, from which the mask hides nothing: it is unchanged.
  const Scenario s = edited("L1.mask=none", {kLayer, kHead, 6, 3});
  const auto &after = unmasked_reference(s), &before = reference_head(s, kLayer, kHead);
  const auto values = named(table_of(Side::difference, "cell", s));
  const auto number = [&](const std::string& name) { return std::stod(values.at("change of " + name)); };
  const auto &q = after.q[6], &k = after.k[3], &q0 = before.q[6], &k0 = before.k[3];
  double through_q = 0, through_k = 0, qq = 0, qq0 = 0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    const std::string at = std::to_string(i);
    EXPECT_NEAR(number("q" + at), q[i] - q0[i], kTolerance);
    EXPECT_NEAR(number("k" + at), k[i] - k0[i], kTolerance);
    EXPECT_NEAR(number("q*k" + at), q[i] * k[i] - q0[i] * k0[i], kTolerance);
    through_q += (q[i] - q0[i]) * (k[i] + k0[i]) / 2;
    through_k += (k[i] - k0[i]) * (q[i] + q0[i]) / 2;
    qq += q[i] * q[i], qq0 += q0[i] * q0[i];
  }
  const double score = after.scores[6][3] - before.scores[6][3];
  EXPECT_NEAR(through_q + through_k, score, 1e-9) << "else the reference is wrong";
  EXPECT_GT(std::min(std::abs(through_q), std::abs(through_k)), 0.01);
  EXPECT_NEAR(number("score through q"), through_q, kTolerance);
  EXPECT_NEAR(number("score through k"), through_k, kTolerance);
  EXPECT_NEAR(number("norm of q"), std::sqrt(qq) - std::sqrt(qq0), kTolerance);
  EXPECT_NEAR(number("score"), score, kTolerance);
  EXPECT_NEAR(number("scaled"), after.scaled[6][3] - before.scaled[6][3], kTolerance);
  EXPECT_NEAR(number("weight"), after.weights[6][3] - before.weights[6][3], kTolerance);
}

TEST(ScoreDifference, IsTheRunsTableLessTheOthersToTheBit) {
  const Scenario s = edited("L0.attn_out=0", {kLayer, kHead, 8, 3});
  const auto difference = named(table_of(Side::difference, "cell", s)),
             now = named(table_of(Side::run, "cell", s)), before = named(table_of(Side::baseline, "cell", s));
  int compared = 0;
  for (const auto& [name, value] : now) {
    if (name.starts_with("position")) {
      EXPECT_EQ(difference.at(name), value);
      EXPECT_EQ(difference.at("compared " + name), before.at(name));
      continue;
    }
    SCOPED_TRACE(name);
    const bool wide = name.starts_with("q*k") || name.starts_with("norm") || name == "cosine";
    const std::string& shown = difference.at("change of " + name);
    if (wide) {
      EXPECT_EQ(std::stod(shown), std::stod(value) - std::stod(before.at(name)));
    } else {
      EXPECT_EQ(std::stof(shown), std::stof(value) - std::stof(before.at(name)));
    }
    compared += std::stod(shown) != 0;
  }
  EXPECT_GT(compared, 3 * s.config().d_head());
}

TEST(ScoreDifference, ComparesThePairWithTheOneThatStandsForIt) {
  const Scenario s = of_two({kLayer, kHead, 5, 3});
  Scenario second("The very old king had daughter");
  const auto difference = named(table_of(Side::difference, "cell", s));
  EXPECT_EQ(difference.at("compared position of the query"), "5");
  EXPECT_EQ(difference.at("compared position of the key"), "4");
  EXPECT_EQ(std::stof(difference.at("difference of weight")), s.weight(5, 3) - second.weight(5, 4));
  const auto k = s.run->run->k(kLayer, kHead, 3), k0 = second.run->run->k(kLayer, kHead, 4);
  for (std::size_t i = 0; i < k.size(); ++i)
    EXPECT_EQ(std::stof(difference.at("difference of k" + std::to_string(i))), k[i] - k0[i]);
  // In the row of keys, the key without a counterpart shows nothing.
  const ViewContext c = on(Side::difference, "cell", s, 1000, 800);
  const viz::Picture picture = find_view("cell")->build(c);
  for (int region = 0; region < std::ssize(picture.regions); ++region) {
    const viz::Region& row = picture.regions[region];
    if (row.role != kKey) continue;
    EXPECT_FALSE(image_color_at(picture.scene, row.cell_rect(0, 4).center()));
    EXPECT_TRUE(image_color_at(picture.scene, row.cell_rect(0, 2).center()));
    EXPECT_THAT(find_view("cell")->facts(c, picture, {region, 0, 4}).tooltip(),
                Contains("no counterpart in the second prompt"));
    EXPECT_THAT(find_view("cell")->facts(c, picture, {region, 0, 2}).tooltip(),
                Contains("difference in weight " + exact(s.weight(5, 2) - second.weight(5, 3))));
  }
  const auto words = texts(picture.scene);
  EXPECT_THAT(words, Contains(HasSubstr("5 “·daughter” → 3 “·had”: difference")));
  EXPECT_THAT(words, Contains(HasSubstr("first − second prompt")));
}

TEST(ScoreDifference, TakesTheKeyWithTheLargestDifference) {
  const Scenario s = edited("L1.mask=none"), clean(kRobot);
  int most = 0;
  const auto difference = [&](int key) { return std::abs(s.weight(8, key) - clean.weight(8, key)); };
  for (int key = 1; key < 9; ++key)
    if (difference(key) > difference(most)) most = key;
  EXPECT_EQ(named(table_of(Side::difference, "cell", s)).at("position of the key"), std::to_string(most));
  // With two prompts, never a query without a counterpart.
  for (int query = 0; query < 6; ++query) {
    const auto values = named(table_of(Side::difference, "cell", of_two({kLayer, kHead, query, -1})));
    if (query == 4) {
      EXPECT_TRUE(values.empty());
    } else {
      EXPECT_NE(values.at("position of the key"), "4");
    }
  }
}

/// A number as written: its digits without the point, and the number of decimals.
std::pair<long long, std::size_t> read(std::string text) {
  text = std::regex_replace(text, std::regex("−"), "-");
  const std::size_t point = text.find('.');
  const std::size_t decimals = point == std::string::npos ? 0 : text.size() - point - 1;
  if (point != std::string::npos) text.erase(point, 1);
  return {std::stoll(text), decimals};
}

// Subtracting the written numbers gives the written result.
TEST(ScoreDifference, WhatIsWrittenAddsUp) {
  static const std::regex kMinus("((?:−)?[0-9.]+) − \\(?((?:−)?[0-9.]+)\\)?");
  int checked = 0;
  for (int key = 0; key < 9; ++key) {
    const Scenario s = edited("L1.mask=none", {kLayer, kHead, 8, key});
    const viz::Picture picture = picture_of("cell", s);
    viz::testing::DrawnPage page(picture.scene, *fonts());
    for (const viz::Region& region : picture.regions) {
      if (region.role != kStep) continue;
      std::vector<std::string> line;
      for (const auto& box : page.take(region.rect)) line.push_back(box.text);
      ASSERT_EQ(line.size(), 4U);
      SCOPED_TRACE(line[0] + ": " + line[1] + " " + line[2] + " " + line[3]);
      std::smatch found;
      if (!std::regex_match(line[1], found, kMinus) || line[3].find('e') != std::string::npos) continue;
      const auto now = read(found[1]), before = read(found[2]), difference = read(line[3]);
      if (now.second != before.second || now.second != difference.second)
        continue;  // too small to check by hand
      EXPECT_EQ(now.first - before.first, difference.first);
      ++checked;
    }
  }
  EXPECT_GT(checked, 30);
}

TEST(ScoreDifference, UnderTheMouseAreBothSides) {
  const Scenario s = edited("L1.mask=none", {kLayer, kHead, 8, 3}), clean(kRobot);
  const ViewContext c = on(Side::difference, "cell", s, 1000, 800);
  const viz::Picture picture = find_view("cell")->build(c);
  std::vector<std::string> lines;
  for (int region = 0; region < std::ssize(picture.regions); ++region) {
    const auto more = find_view("cell")->facts(c, picture, {region, 0, 3}).tooltip();
    lines.insert(lines.end(), more.begin(), more.end());
  }
  const float now = s.weight(8, 3), before = clean.weight(8, 3);
  EXPECT_THAT(lines, IsSupersetOf({"difference in weight " + exact(now - before), "edited " + exact(now),
                                   "unedited " + exact(before)}));
  const float q = s.run->run->q(kLayer, kHead, 8)[3], q0 = clean.run->run->q(kLayer, kHead, 8)[3];
  EXPECT_THAT(lines, Contains("difference in q[3] " + exact(q - q0) + ": edited " + exact(q) + ", unedited " +
                              exact(q0)));
}

TEST(RowDifference, SaysWhereNothingStandsForTheQueryOrTheKey) {
  for (const char* view : {"softmax", "cell"}) {
    EXPECT_THAT(texts(picture_of(view, of_two({kLayer, kHead, 4, -1})).scene),
                Contains("4 “·a” has no counterpart in the second prompt"));
    EXPECT_TRUE(table_of(Side::difference, view, of_two({kLayer, kHead, 4, -1})).rows.empty());
  }
  EXPECT_THAT(texts(picture_of("cell", of_two({kLayer, kHead, 5, 4})).scene),
              Contains("4 “·a” has no counterpart in the second prompt"));
}

TEST(RowDifference, SaysThatNothingDiffers) {
  // The layer with the ablated head has the same input as before.
  const Scenario same = edited("L2H1.z=0"), other = edited("L1.mask=none");
  for (const char* view : {"softmax", "cell"}) {
    EXPECT_THAT(texts(picture_of(view, same).scene), Contains(HasSubstr("no difference"))) << view;
    EXPECT_THAT(texts(picture_of(view, other).scene), Each(Not(HasSubstr("nothing changed")))) << view;
  }
}

TEST(RowDifference, AKeyThatIsHiddenOnOneSideIsInfinitelyFar) {
  const Scenario s = edited("L2H1.scores[8,3]=null", {kLayer, kHead, 8, 3}), clean(kRobot);
  const float weight = -clean.weight(8, 3);
  const Table softmax = table_of(Side::difference, "softmax", s);
  EXPECT_EQ(cells_of(softmax, "change of score")[3], "") << "no number of its own";
  EXPECT_THAT(texts(picture_of("softmax", s).scene), Contains(HasSubstr("masked on one side only")));
  EXPECT_EQ(std::stof(cells_of(softmax, "change of weight")[3]), weight);
  const auto cell = named(table_of(Side::difference, "cell", s));
  EXPECT_EQ(cell.at("change of score"), "0");
  EXPECT_EQ(cell.at("change of masked"), "-inf");
  EXPECT_EQ(std::stof(cell.at("change of weight")), weight);
  EXPECT_THAT(texts(picture_of("cell", s).scene), Contains("−∞"));
}

TEST(RowDifference, WhereTheMaskIsLiftedLaterKeysHaveTheScoresThatTheyAlwaysHad) {
  const Scenario s = edited("L2H1.mask=none; L0.attn_out=0", {kLayer, kHead, 2, 6}), clean(kRobot);
  const auto after = s.ask(StagesOf{kLayer, kHead}), before = clean.ask(StagesOf{kLayer, kHead});
  const auto cell = named(table_of(Side::difference, "cell", s));
  EXPECT_EQ(std::stof(cell.at("change of score")),
            after->matrix(Stage::scores).at(2, 6) - before->matrix(Stage::scores).at(2, 6));
  EXPECT_EQ(cell.at("change of masked"), "inf");
  EXPECT_EQ(std::stof(cell.at("change of weight")), s.weight(2, 6));
  const Table softmax = table_of(Side::difference, "softmax", s);
  ASSERT_EQ(softmax.rows.size(), 9U + 1U);
  EXPECT_EQ(std::stof(cells_of(softmax, "change of weight")[6]), s.weight(2, 6));
  EXPECT_EQ(std::stof(cells_of(softmax, "change of weight")[1]), s.weight(2, 1) - clean.weight(2, 1));
}

TEST(RowDifference, WhatIsHiddenOnBothSidesDoesNotDiffer) {
  // Query 2 sees key 6, so its row includes the keys in between, which neither side sees.
  const Scenario s = edited("L2H1.pattern[2,6]=0.5", {kLayer, kHead, 2, -1});
  const Table softmax = table_of(Side::difference, "softmax", s);
  ASSERT_EQ(softmax.rows.size(), 9U + 1U);
  for (const int key : {3, 4, 5, 8})
    for (std::size_t number = 1; number < softmax.header.size(); ++number)
      EXPECT_EQ(softmax.rows[key][number], "0");
  const auto cell =
      named(table_of(Side::difference, "cell", edited("L2H1.pattern[2,6]=0.5", {kLayer, kHead, 2, 6})));
  EXPECT_EQ(cell.at("change of masked"), "0");
  EXPECT_EQ(cell.at("change of weight"), "0.5");
}

TEST(RowDifference, NothingThatIsNoNumberIsDrawn) {
  for (const char* edits : {"L2H1.scores[8,3]=null", "L2H1.scores[0,0]=null", "L2H1.mask=none", "L2H1.q=0",
                            "L2H1.pattern[2,6]=0.5"})
    for (const int query : {0, 2, 8})
      for (const int key : {-1, 0, 3}) {
        const Scenario s = edited(edits, {kLayer, kHead, query, key});
        for (const char* view : {"softmax", "cell"}) {
          SCOPED_TRACE(std::string(edits) + " " + view + " " + std::to_string(query) + " " +
                       std::to_string(key));
          const ViewContext c = on(Side::difference, view, s, 1000, 800);
          const viz::Picture picture = find_view(view)->build(c);
          EXPECT_LT(senseless_item(picture.scene), 0);
          EXPECT_THAT(texts(picture.scene), Each(Not(HasSubstr("NaN"))));
          for (const auto& row : find_view(view)->table(c).rows)
            EXPECT_THAT(row, Each(Not(HasSubstr("nan"))));
          for (int region = 0; region < std::ssize(picture.regions); ++region)
            EXPECT_THAT(find_view(view)->facts(c, picture, {region, 0, 0}).tooltip(),
                        Each(Not(HasSubstr("NaN"))));
        }
      }
}

TEST(RowDifference, RowsHaveEveryKeyThatOneSideSees) {
  const auto rows = [](const Scenario& s) {
    return *rows_of_query(on(Side::difference, "cell", s, 1000, 800));
  };
  const QueryRows lifted = rows(edited("L2H1.mask=none", {kLayer, kHead, 2, -1}));
  EXPECT_EQ(lifted.now->scores.size(), 9U);
  EXPECT_EQ(lifted.before->scores.size(), 9U);
  EXPECT_EQ(lifted.counterparts.size(), 9U);
  const QueryRows two = rows(of_two({kLayer, kHead, 3, -1}));
  EXPECT_EQ(two.now->scores.size(), 4U);
  EXPECT_EQ(two.before->scores.size(), 5U);
  EXPECT_EQ(two.counterparts, (std::vector<int>{0, 2, 3, 4}));
  const auto run = rows_of_query(on(Side::run, "cell", of_two({kLayer, kHead, 4, -1}), 1000, 800));
  EXPECT_EQ(run->before, nullptr);
  EXPECT_TRUE(run->counterparts.empty());
}

TEST(RowDifference, NarrowPicturesKeepTheDifferences) {
  const Scenario s = edited("L1.mask=none", {kLayer, kHead, 8, 3});
  const auto cell = named(table_of(Side::difference, "cell", s));
  for (const float width : {360.F, 520.F, 1024.F}) {
    const viz::Picture picture = find_view("cell")->build(on(Side::difference, "cell", s, width, 800));
    EXPECT_THAT(texts(picture.scene), Contains(viz::fixed_number(std::stod(cell.at("change of weight")), 4)))
        << width;
  }
  for (const float width : {260.F, 520.F, 1024.F})
    EXPECT_THAT(texts(find_view("softmax")->build(on(Side::difference, "softmax", s, width, 800)).scene),
                Contains("Δ weight"))
        << width;
}

}  // namespace
}  // namespace headscope::app::query_rows_test
