// Views of attention with edited masks: masked cells, and all other numbers.

#include "app/run/analyses/patterns.h"
#include "app/run/analyses/thumbnails.h"
#include "app/run/analyses/weight_search.h"
#include "app/run/edits/edit_text.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::edited_attention_test {
namespace {

using ReferenceEdits = ReferenceGpt2::Edits;
using Rows = ReferenceGpt2::Rows;

constexpr double kTolerance = 2e-5, kHidden = -std::numeric_limits<double>::infinity();
constexpr int kLayer = 2, kHead = 1;

/// Edits, the equivalent edits of the reference, and the masked cells of L2 H1.
struct EditedCase {
  const char* edits;
  ReferenceEdits reference_edits;
  std::function<bool(int query, int key)> masked;
};

std::vector<EditedCase> all_edited() {
  std::vector<EditedCase> all;
  ReferenceEdits none;
  none.sees = [](int, int, std::size_t, std::size_t) { return true; };
  all.push_back({"mask=none", none, [](int, int) { return false; }});
  ReferenceEdits custom;  // for queries 0 to 2 of L2 H1
  static constexpr bool kSees[3][3] = {{true, false, true}, {false, true, false}, {true, true, true}};
  const auto sees = [](int query, int key) {
    return query < 3 && key < 3 ? kSees[query][key] : key <= query;
  };
  custom.sees = [sees](int layer, int head, std::size_t query, std::size_t key) {
    const bool here = layer == kLayer && head == kHead;
    return here ? sees(static_cast<int>(query), static_cast<int>(key)) : key <= query;
  };
  all.push_back({"L2H1.mask=101/010/111", custom, [sees](int query, int key) { return !sees(query, key); }});
  ReferenceEdits cells;
  cells.edit = [](const std::string& hook, int head, Rows& rows) {
    if (head != kHead) return;
    if (hook == "blocks.2.attn.hook_pattern") rows.at(2).at(6) = 0.5;
    if (hook == "blocks.2.attn.hook_attn_scores") rows.at(5).at(3) = kHidden;
  };
  all.push_back({"L2H1.pattern[2,6]=0.5; L2H1.scores[5,3]=null", cells, [](int query, int key) {
                   return (key > query && !(query == 2 && key == 6)) || (query == 5 && key == 3);
                 }});
  return all;
}

Scenario scenario_of(const char* edits, Selection selection) {
  return Scenario(Prompt{kRobot, {}, false, parse_edits(edits, *bundled())}, selection);
}

/// Calls `check` for each set of edits, with its run at query 2 of L2 H1 and the reference's weights there.
template <class Check>
void for_each_edited(const Check& check) {
  for (const EditedCase& edited : all_edited()) {
    SCOPED_TRACE(edited.edits);
    const Scenario s = scenario_of(edited.edits, {kLayer, kHead, 2, -1});
    const auto result = reference_model().run(s.run->tokens.ids(), edited.reference_edits);
    check(s, edited, result.heads[kLayer][kHead].weights);
  }
}

double number(const std::string& cell) {
  return std::strtod(cell.c_str(), nullptr);
}

TEST(EditedAttention, HeatmapColoursWhatIsSeenAndHatchesTheRest) {
  for_each_edited([](const Scenario& s, const EditedCase& edited, const auto& weights) {
    const ViewFixture shown("heatmap", s, 900, 800);
    const int grid = shown.grid();
    const Table table = shown.table();
    DrawnPage page = shown.page();
    for (int query = 0; query < s.length(); ++query) {
      for (int key = 0; key < s.length(); ++key) {
        SCOPED_TRACE(std::to_string(query) + " " + std::to_string(key));
        const auto q = static_cast<std::size_t>(query), k = static_cast<std::size_t>(key);
        const auto drawn = page.take(shown.region(grid).cell_rect(query, key));
        const bool masked = edited.masked(query, key);
        EXPECT_EQ(shown.color_of(grid, query, key).has_value(), !masked);
        const auto lines = shown.tooltip(grid, query, key);
        if (masked) {
          EXPECT_TRUE(drawn.empty());
          EXPECT_EQ(table.rows[q][k + 2], "");
          EXPECT_THAT(lines,
                      Contains(std::string("masked: ") +
                               (key > query ? "this key comes after the query" : "an edit masks this key")));
          // A key that is masked by an edit can still be selected.
          EXPECT_EQ(in_words(shown.click(grid, query, key)),
                    "query " + std::to_string(query) + ", key " + std::to_string(key > query ? -1 : key));
        } else {
          ASSERT_EQ(drawn.size(), 1U);
          EXPECT_TRUE(agree(drawn[0].text, table.rows[q][k + 2], weights[q][k], kTolerance));
          EXPECT_THAT(lines, Contains("weight " + table.rows[q][k + 2]));
          EXPECT_EQ(in_words(shown.click(grid, query, key)),
                    "query " + std::to_string(query) + ", key " + std::to_string(key));
        }
      }
    }
  });
}

TEST(EditedAttention, HatchingShowsInMaskedCellsAndNowhereElse) {
  const EditedCase edited = all_edited()[1];
  const Scenario s = scenario_of(edited.edits, {kLayer, kHead, 8, -1});
  const ViewFixture shown("heatmap", s, 900, 800);
  const viz::Region& grid = shown.region(shown.grid());
  const viz::Bitmap pixels = viz::rasterize(shown.scene(), *fonts(), 1);
  for (int query = 0; query < 3; ++query) {
    for (int key = 0; key < s.length(); ++key) {
      const viz::Rect cell = grid.cell_rect(query, key).inset(3);
      std::set<std::tuple<int, int, int>> colors;  // along a line that avoids the number
      for (float x = cell.x; x < cell.right(); ++x) {
        const viz::Color c = pixels.at(static_cast<int>(x), static_cast<int>(cell.y));
        colors.insert({c.r, c.g, c.b});
      }
      EXPECT_EQ(colors.size() > 1, edited.masked(query, key)) << query << " " << key;
    }
  }
}

TEST(EditedAttention, AllViewsHaveTheSameNumbersAsTheReference) {
  for_each_edited([](const Scenario& s, const EditedCase& edited, const auto& weights) {
    const auto length = static_cast<std::size_t>(s.length());
    const Table scores = ViewFixture("scores", s, 900, 800).table();
    const Table heads = ViewFixture("heads", s, 900, 800).table();
    const Table query = ViewFixture("query", s, 1200, 800).table();
    const Table softmax = ViewFixture("softmax", s, 900, 800).table();
    const Table tokens = ViewFixture("tokens", s, 900, 100).table();
    const std::size_t map = (kLayer * 8 + kHead) * length;
    const bool forced = weights[2][6] == 0.5;
    for (std::size_t q = 0; q < length; ++q) {
      for (std::size_t k = 0; k < length; ++k) {
        SCOPED_TRACE(std::to_string(q) + " " + std::to_string(k));
        const bool masked = edited.masked(static_cast<int>(q), static_cast<int>(k));
        EXPECT_NEAR(number(scores.rows[3 * length + q][k + 3]), weights[q][k], kTolerance);
        EXPECT_EQ(scores.rows[2 * length + q][k + 3] == "-inf", masked || (forced && q == 2 && k == 6));
        EXPECT_EQ(heads.rows[map + q][k + 3], masked ? "" : scores.rows[3 * length + q][k + 3]);
      }
    }
    for (std::size_t k = 0; k < length; ++k) {
      SCOPED_TRACE(k);
      EXPECT_NEAR(number(query.rows[k][5]), weights[2][k], kTolerance);
      EXPECT_EQ(tokens.rows[k][8].empty(), edited.masked(2, static_cast<int>(k)));
      EXPECT_NEAR(number(tokens.rows[k][8]), weights[2][k], kTolerance);
      if (!forced) {
        EXPECT_NEAR(number(softmax.rows[k][3]), weights[2][k], kTolerance);
      }
    }
    EXPECT_EQ(softmax.rows.size(), length + 2) << "and the entropy and the largest weight";
  });
}

TEST(EditedAttention, APatchedRowShowsAllKeysThatItBrings) {
  Prompt prompt{kRobot, {}, false};
  const std::vector<int> tokens = tokenize(*bundled(), prompt).ids();
  prompt.edits = {model::PatchFrom{{{model::Site::pattern, kLayer}, kHead, {1}, {}}, tokens, {3}}};
  const Scenario s(prompt);
  for (int key = 0; key < s.length(); ++key)
    EXPECT_EQ(may_see(*s.run, {kLayer, kHead}, 1, key), key <= 3) << key;
}

TEST(EditedAttention, LinesLeadToLaterKeysToo) {
  for_each_edited([](const Scenario& s, const EditedCase&, const auto& weights) {
    for (const char* arrangement : {"columns", "arcs"}) {
      const ViewFixture shown("lines", s, 900, 800, {{"threshold", "0.05"}, {"arrangement", arrangement}});
      std::map<std::pair<int, int>, double> listed;
      for (const auto& row : shown.table().rows)
        listed[{std::stoi(row[1]), std::stoi(row[3])}] = number(row[5]);
      for (int query = 0; query < s.length(); ++query) {
        for (int key = 0; key < s.length(); ++key) {
          const double weight = weights[query][key];
          const auto found = listed.find({query, key});
          EXPECT_EQ(found != listed.end(), weight >= 0.05) << query << " " << key;
          if (found != listed.end()) {
            EXPECT_NEAR(found->second, weight, kTolerance);
          }
        }
      }
    }
  });
}

TEST(EditedAttention, TheUniformAverageIsOverTheKeysThatAreSeen) {
  const ViewFixture shown("lines", scenario_of("L2H1.mask=101/010/111", {kLayer, kHead, 0, -1}), 900, 800,
                          {{"threshold", "0"}, {"uniform", "yes"}});
  std::map<std::pair<int, int>, double> uniform;
  for (const auto& row : shown.table().rows)
    if (row[0] == "uniform 1/n") uniform[{std::stoi(row[1]), std::stoi(row[3])}] = number(row[5]);
  EXPECT_EQ((uniform[{0, 2}]), 0.5);
  EXPECT_EQ((uniform[{1, 1}]), 1);
  EXPECT_FALSE(uniform.contains({1, 0}));
}

TEST(EditedAttention, ArithmeticOfALaterKeySaysWhatTheMaskAndTheEditsDo) {
  const auto value = [](const Table& table, const std::string& name) {
    for (const auto& row : table.rows)
      if (row[0] == name) return number(row[2]);
    return std::numeric_limits<double>::quiet_NaN();
  };
  for_each_edited([&](const Scenario& made, const EditedCase& edited, const auto& weights) {
    const bool forced = weights[2][6] == 0.5;
    const int query = forced ? 2 : 0, key = forced ? 6 : 2;
    const Scenario s = scenario_of(edited.edits, {kLayer, kHead, query, key});
    ASSERT_EQ(s.selection.key, key);
    ASSERT_EQ(made.length(), s.length());
    const ViewFixture shown("cell", s, 900, 800);
    EXPECT_NEAR(value(shown.table(), "weight"), weights[query][key], kTolerance);
    EXPECT_EQ(value(shown.table(), "position of the key"), key);
    DrawnPage page = shown.page();
    EXPECT_NE(page.take(forced ? "key 6 masked for query 2" : "key 2 > query 0, mask lifted"), "");
    if (forced) {
      EXPECT_NE(page.take("weight: edited, replaces softmax"), "");
    }
  });
}

TEST(EditedAttention, TheQueryTableNamesWhatItHides) {
  const Scenario s = scenario_of("L2H1.pattern[2,6]=0.5; L2H1.scores[5,3]=null", {kLayer, kHead, 2, -1});
  const ViewFixture shown("query", s, 1200, 800);
  EXPECT_GE(shown.key_row(6), 0);
  EXPECT_LT(shown.key_row(7), 0);
  EXPECT_NE(shown.page().take("2 later keys: masked (score −∞, weight 0)"), "");
  EXPECT_THAT(shown.tooltip(shown.key_row(4)), Contains("masked: this key comes after the query"));
  EXPECT_EQ(in_words(shown.click(shown.key_row(6))), "key 6");
  EXPECT_EQ(in_words(shown.click(shown.key_row(4))), "") << "not seen";
}

TEST(EditedAttention, KeysAreSelectedWhereTheHeadSeesThem) {
  const Scenario s = scenario_of("L2H1.pattern[2,6]=0.5; L3H0.mask=none", {0, 0, 2, -1});
  const auto key = [&](int layer, int head, int query, int wanted) {
    return clamped({layer, head, query, wanted}, *s.run).key;
  };
  EXPECT_EQ(key(2, 1, 2, 6), 6);
  EXPECT_EQ(key(2, 1, 2, 5), -1);
  EXPECT_EQ(key(2, 1, 1, 6), -1);
  EXPECT_EQ(key(2, 0, 2, 6), -1) << "another head";
  EXPECT_EQ(key(3, 0, 0, 8), 8);
  EXPECT_EQ(key(3, 0, 0, 9), -1) << "behind the prompt";
  // Shift and an arrow go to the next visible key.
  const Scenario at = scenario_of("L2H1.pattern[2,6]=0.5", {kLayer, kHead, 2, 2});
  EXPECT_EQ(in_words(ViewFixture("lines", at, 900, 800).press(Key::right, true)), "key 6");
  const Scenario back = scenario_of("L2H1.pattern[2,6]=0.5", {kLayer, kHead, 2, 6});
  EXPECT_EQ(in_words(ViewFixture("lines", back, 900, 800).press(Key::left, true)), "key 2");
}

TEST(EditedAttention, MetricsAndSearchTakeLaterKeysIn) {
  for_each_edited([](const Scenario& s, const EditedCase& edited, const auto& weights) {
    double entropy = 0, distance = 0;
    for (std::size_t q = 1; q < weights.size(); ++q) {
      for (std::size_t k = 0; k < weights.size(); ++k) {
        const double w = weights[q][k];
        if (w > 0) entropy -= w * std::log2(w);
        distance += w * std::abs(static_cast<double>(q) - static_cast<double>(k));
      }
    }
    const auto thumbnails = s.ask(ThumbnailsOfHeads{});
    const HeadMetricValues& metrics = thumbnails->of_head.at(kLayer * 8 + kHead)->metrics;
    const auto queries = static_cast<double>(s.length() - 1);
    EXPECT_NEAR(metrics[HeadMetric::entropy], entropy / queries, 1e-4);
    EXPECT_NEAR(metrics[HeadMetric::distance], distance / queries, 1e-4);

    model::Workspace workspace(1);
    WeightSearch search;
    search.above = 0.02;
    search.heads = {{kLayer, kHead}};
    BestWeights best(200);
    search_weights(*s.run, search, 1, workspace, best);
    std::int64_t expected = 0;
    int keys_of_first = 0;
    for (int k = 0; k < s.length(); ++k) keys_of_first += !edited.masked(0, k);
    for (int q = keys_of_first > 1 ? 0 : 1; q < s.length(); ++q)
      for (int k = 0; k < s.length(); ++k) expected += !edited.masked(q, k) && weights[q][k] > 0.02;
    EXPECT_EQ(best.count(), expected);
    std::vector<HeadMetrics> heads;
    add_head_metrics(*s.run, workspace, heads);
    EXPECT_THAT(heads.at(kLayer * 8 + kHead).values().all,
                ::testing::Pointwise(::testing::NanSensitiveDoubleEq(), metrics.all))
        << "the same however they are asked for";
  });
}

TEST(EditedAttention, PooledMapsKeepTheMask) {
  // More tokens than a thumbnail has cells.
  std::vector<int> tokens(130, 300);
  const Scenario s(Prompt{"", tokens, false, parse_edits("L0H0.mask=none", *bundled())}, {0, 0, -1, -1});
  const auto thumbnails = s.ask(ThumbnailsOfHeads{});
  const Thumbnail& open = *thumbnails->of_head.at(0);
  const Thumbnail& causal = *thumbnails->of_head.at(1);
  EXPECT_FALSE(open.is_masked(0, 63));
  EXPECT_TRUE(causal.is_masked(0, 63));
  EXPECT_GT(open.values.at(63), 0);
  const auto weights = reference_model()
                           .run(tokens,
                                [] {
                                  ReferenceEdits edits;
                                  edits.sees = [](int layer, int head, std::size_t query, std::size_t key) {
                                    return (layer == 0 && head == 0) || key <= query;
                                  };
                                  return edits;
                                }())
                           .heads[0][0]
                           .weights;
  double most = 0;  // over queries 0 to 2 and keys 128 and 129
  for (std::size_t q = 0; q < 3; ++q) most = std::max({most, weights[q][128], weights[q][129]});
  EXPECT_NEAR(static_cast<double>(open.values.at(63)), most, 1e-4);
}

/// The values of the strip under the sum; empty: there is none.
std::vector<std::string> edited_sum(const Table& table, std::size_t d_head) {
  const std::vector<std::string>& last = table.rows.back();
  if (last.front() != "edited sum") return {};
  return {last.end() - static_cast<std::ptrdiff_t>(d_head), last.end()};
}

TEST(EditedOutput, AQueryOfAHeadThatIsOffSaysThatItWritesNothing) {
  const Scenario s = scenario_of("L2H1.z=0", {kLayer, kHead, 5, -1});
  const ViewFixture shown("query", s, 1700, 700);
  const auto d_head = static_cast<std::size_t>(s.config().d_head());
  EXPECT_EQ(shown.picture().subtitle, "L2 H1 (off): writes nothing");
  EXPECT_THAT(texts(shown.scene()), Contains("off: this head writes nothing"));
  const auto values = edited_sum(shown.table(), d_head);
  ASSERT_EQ(values.size(), d_head);
  for (const std::string& value : values) EXPECT_EQ(number(value), 0);
  const int strip = shown.strip(Vector::edited_z, 5);
  ASSERT_GE(strip, 0);
  EXPECT_THAT(shown.tooltip(strip, static_cast<int>(Vector::edited_z), 3),
              AllOf(Contains("z[3] = 0"), Contains("set to 0 by an edit")));
  EXPECT_EQ(in_words(shown.click(strip, static_cast<int>(Vector::edited_z), 3)), "");
  const ViewFixture narrow("query", s, 470, 400);
  EXPECT_THAT(texts(narrow.scene()), Contains("off: this head writes nothing"))
      << "without room for the vectors, too";
}

TEST(EditedOutput, AQueryShowsWhatAScaledHeadWrites) {
  const Scenario s = scenario_of("L2H1.z*=0.5", {kLayer, kHead, 5, -1});
  const ViewFixture shown("query", s, 1700, 700);
  EXPECT_EQ(shown.picture().subtitle, "L2 H1 (× 0.5)");
  EXPECT_THAT(texts(shown.scene()), Contains("× 0.5: edited"));
  const auto d_head = static_cast<std::size_t>(s.config().d_head());
  const auto values = edited_sum(shown.table(), d_head);
  ASSERT_EQ(values.size(), d_head);
  const auto& z = reference_head(s).z[5];
  for (std::size_t i = 0; i < d_head; ++i) EXPECT_NEAR(number(values[i]), z[i] / 2, 5e-5) << i;
}

// An edit at one position is about that query alone.
TEST(EditedOutput, OnlyTheQueriesOfAnEditAreOff) {
  const std::size_t d_head = static_cast<std::size_t>(bundled()->config().d_head());
  for (const auto& [query, off] : {std::pair{5, true}, {4, false}}) {
    const Scenario s = scenario_of("L2H1.z[5]=0", {kLayer, kHead, query, -1});
    EXPECT_EQ(!edited_sum(ViewFixture("query", s, 1700, 700).table(), d_head).empty(), off) << query;
  }
  for (const char* edits : {"L2H1.z[4]=mean", "L2H0.z=0", "L1H1.z=0", "L2H1.pattern=0"}) {
    const Scenario s = scenario_of(edits, {kLayer, kHead, 5, -1});
    EXPECT_TRUE(edited_sum(ViewFixture("query", s, 1700, 700).table(), d_head).empty()) << edits;
  }
}

TEST(EditedOutput, TheGridStrikesHeadsThatAreOffAndNamesTheFactorOfOthers) {
  const Scenario s = scenario_of("L2H1.z=0; L3.z*=0.5; L4H1.z=mean", {});
  for (const auto& [width, height] : {std::pair{1000.F, 900.F}, {250.F, 220.F}}) {
    const ViewFixture shown("heads", s, width, height);
    DrawnPage page = shown.page();
    const auto strikes = items_of<viz::Polyline>(shown.scene());
    ASSERT_EQ(strikes.size(), 1U);
    EXPECT_TRUE(shown.region(shown.map_of(2, 1)).rect.contains(strikes[0].points[0]));
    EXPECT_TRUE(shown.region(shown.map_of(2, 1)).rect.contains(strikes[0].points[1]));
    for (int head = 0; head < s.config().n_head; ++head) {
      const auto words = page.take(shown.region(shown.map_of(3, head)).rect);
      ASSERT_EQ(words.size(), 1U) << head;
      EXPECT_EQ(words[0].text, "×0.5");
    }
    EXPECT_TRUE(page.take(shown.region(shown.map_of(4, 1)).rect).empty()) << "a dot";
    EXPECT_THAT(shown.tooltip(shown.map_of(2, 1)), Contains("off: writes nothing"));
  }
}

// The last edit of a site counts, and what is written comes after z.
TEST(EditedOutput, SettingToZeroCountsWhateverWasBefore) {
  for (const auto& [edits, off] : {std::pair{"L2H1.z=mean; L2H1.z=0", true},
                                   {"L2H1.z=1; L2H1.z*=0", true},
                                   {"L2H1.z[0]=1; L2H1.z=0", true},
                                   {"L2H1.z=0; L2H1.z=1", false},
                                   {"L2H1.z=0; L2H1.z=mean", false},
                                   {"L2H1.result=1; L2H1.z=0", false}}) {
    const Scenario s = scenario_of(edits, {kLayer, kHead, 5, -1});
    const std::string title = ViewFixture("heatmap", s, 900, 700).picture().title;
    EXPECT_EQ(title, std::string("Attention pattern of L2 H1 ") + (off ? "(off)" : "(edited)")) << edits;
  }
}

TEST(EditedOutput, ARolloutSaysThatItCountsHeadsThatAreOff) {
  const auto subtitle = [](int layer) {
    const Scenario s = scenario_of("L2H1.z=0", {layer, kHead, 5, -1});
    return ViewFixture("heatmap", s, 900, 700, {{"cell-values", "rollout"}}).picture().subtitle;
  };
  EXPECT_THAT(subtitle(3), HasSubstr("L2 H1 is off, but its pattern counts"));
  EXPECT_THAT(subtitle(1), Not(HasSubstr("off"))) << "of the layers up to that one";
}

/// The maps of a pane are small: a card over them would cover their headings.
TEST(EditedOutput, ScoresSayInTheirSubtitleWhyNothingDiffers) {
  const Scenario s = testing::edited("L2H1.z=0", {2, 1, -1});
  ViewContext c = on(Side::difference, "scores", s, 700, 700);
  c.in_pane = true;
  const Picture picture = find_view("scores")->build(c);
  EXPECT_THAT(picture.subtitle, HasSubstr("the edits act after this attention"));
  EXPECT_EQ(viz::testing::text_faults(picture.scene, *viz::testing::fonts()), "");
}

TEST(EditedOutput, TitlesSayInAFewWordsWhatTheEditOfAllHeadsIs) {
  const Scenario s = scenario_of("mask=none", {kLayer, kHead, 5, -1});
  EXPECT_EQ(ViewFixture("heatmap", s, 900, 700).picture().title, "Attention pattern of L2 H1 (no mask)");
}

TEST(EditedOutput, TitlesSayThatAHeadIsOff) {
  const Scenario s = scenario_of("L2H1.z=0; L2H1.mask=none", {kLayer, kHead, 5, -1});
  const ViewFixture heatmap("heatmap", s, 900, 700);
  EXPECT_EQ(heatmap.picture().title, "Attention pattern of L2 H1 (off)") << "with another edit, too";
  EXPECT_THAT(heatmap.picture().subtitle, StartsWith("writes nothing; "));
}

TEST(EditedAttention, ScoresSaysWhichStageAnEditSets) {
  const auto notes = [](const char* edits) {
    Prompt prompt{kRobot, {}, false};
    if (*edits) prompt.edits = parse_edits(edits, *bundled());
    const Scenario s(prompt, {kLayer, kHead, 8});
    return texts(ViewFixture("scores", s, 1600, 700).scene());
  };
  const auto clean = notes(""), pattern = notes("L2H1.pattern[8,0]=0"), scores = notes("L2H1.scores[8,0]=1"),
             other = notes("L2H2.pattern[8,0]=0");
  for (const auto& said : {clean, other}) {
    EXPECT_THAT(said, Contains("later keys −∞"));
    EXPECT_THAT(said, Contains("softmax of each row"));
  }
  EXPECT_THAT(pattern, Contains("later keys −∞"));
  EXPECT_THAT(pattern, Not(Contains("softmax of each row")));
  EXPECT_THAT(pattern, Contains("as edited"));
  EXPECT_THAT(pattern, Contains(EndsWith("+ mask), then edited")));
  EXPECT_THAT(scores, Contains("softmax of each row"));
  EXPECT_THAT(scores, Not(Contains("later keys −∞")));
}

TEST(EditedAttention, SoftmaxSaysThatItsWeightsAreNotYetEdited) {
  const auto subtitle = [](const char* edits) {
    return ViewFixture("softmax", scenario_of(edits, {kLayer, kHead, 8}), 1200, 700).picture().subtitle;
  };
  EXPECT_THAT(subtitle("L2H1.pattern[8,0]=0"), StartsWith("before the edits of the pattern: entropy "));
  EXPECT_THAT(subtitle("L2H2.pattern[8,0]=0"), StartsWith("entropy "));
}

TEST(EditedAttention, AListOfKeysThatIsCutShowsTheEditedOrTheChosenOne) {
  const Selection last{kLayer, kHead, 199};
  const auto keys = [&](const std::string& edits, int chosen) {
    Selection selection = last;
    selection.key = chosen;
    Scenario s = Scenario::of_length(200);
    Prompt prompt = s.run->prompt;
    prompt.edits = parse_edits(edits, *bundled());
    const ViewFixture shown("query", Scenario(prompt, selection), 1200, 500);
    std::vector<int> rows;
    for (const int i : ids_of_role(shown.picture(), kKeyRole)) rows.push_back(i);
    return rows;
  };
  for (const int key : {3, 60, 150}) {
    EXPECT_THAT(keys("L2H1.pattern[199," + std::to_string(key) + "]=0", -1), Contains(key));
    EXPECT_THAT(keys("L2H1.pattern[199,100]=0", key), Contains(key));
  }
}

TEST(EditedAttention, CaptionsQuoteThePromptThatIsPatchedFrom) {
  const Scenario s = scenario_of("L2H1.z[8]<-\"A robot may not harm a human\"[2]", {kLayer, kHead, 8});
  EXPECT_THAT(
      caption(*find_view("heatmap"), s.context(900, 600)),
      HasSubstr("head L2 H1 at position 8 patched from “A robot may not harm a human” (its position 2)"));
}

}  // namespace
}  // namespace headscope::app::edited_attention_test
