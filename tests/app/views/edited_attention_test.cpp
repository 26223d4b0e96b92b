// Views of edited runs: masked cells, numbers, vectors and steps, and words that say where an edit acts.
#include "app/run/analyses/heads.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/token_pass.h"
#include "app/run/analyses/vectors.h"
#include "app/run/edits/edit_text.h"
#include "app/views/parts/names.h"
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

/// Calls `check` for each set of edits, with its run at query 2 of L2 H1 and the reference's weights there.
template <class Check>
void for_each_edited(const Check& check) {
  for (const EditedCase& edited : all_edited()) {
    SCOPED_TRACE(edited.edits);
    const Scenario s = with_edits(edited.edits, {kLayer, kHead, 2, -1});
    const auto result = reference_model().run(s.run->tokens.ids(), edited.reference_edits);
    check(s, edited, result.heads[kLayer][kHead].weights);
  }
}

double number(const std::string& cell) {
  return std::strtod(cell.c_str(), nullptr);
}

TEST(EditedAttention, HeatmapColoursWhatIsSeenAndHatchesTheRest) {
  for_each_edited([](const Scenario& s, const EditedCase& edited, const auto&) {
    const ViewFixture shown("heatmap", s, 900, 800);
    const int grid = shown.grid();
    auto table = matrix_of(shown.table(), "weight");
    for (int query = 0; query < s.length(); ++query)
      for (int key = 0; key < s.length(); ++key) {
        SCOPED_TRACE(std::to_string(query) + " " + std::to_string(key));
        EXPECT_EQ(shown.color_of(grid, query, key).has_value(), !edited.masked(query, key));
        EXPECT_EQ((table[{query, key}]).empty(), edited.masked(query, key));
        if (!edited.masked(query, key)) continue;
        // A key that is masked by an edit can still be selected.
        EXPECT_EQ(in_words(shown.click(grid, query, key)),
                  "query " + std::to_string(query) + ", key " + std::to_string(key > query ? -1 : key));
      }
  });
}

TEST(EditedAttention, AllViewsHaveTheSameNumbersAsTheReference) {
  for_each_edited([](const Scenario& s, const EditedCase& edited, const auto& weights) {
    const auto length = static_cast<std::size_t>(s.length());
    const Table scores = table_of("scores", s);
    auto pattern = matrix_of(scores, "weight"), hidden = matrix_of(scores, "masked");
    const auto query = numbers_of(table_of("query", s), "weight"),
               softmax = numbers_of(table_of("softmax", s), "weight"),
               tokens = numbers_of(table_of("tokens", s), "weight");
    std::map<std::pair<int, int>, std::string> map;
    for (const auto& row : text_rows(table_of("heads", s)))
      if (row[0] == std::to_string(kLayer) && row[1] == std::to_string(kHead))
        map[{std::stoi(row[2]), std::stoi(row[3])}] = row[4];
    const bool forced = weights[2][6] == 0.5;
    for (std::size_t q = 0; q < length; ++q) {
      for (std::size_t k = 0; k < length; ++k) {
        SCOPED_TRACE(std::to_string(q) + " " + std::to_string(k));
        const bool masked = edited.masked(static_cast<int>(q), static_cast<int>(k));
        const std::pair at(q, k);
        EXPECT_NEAR(number(pattern[at]), weights[q][k], kTolerance);
        EXPECT_EQ(hidden[at] == "-inf", masked || (forced && q == 2 && k == 6));
        EXPECT_EQ(map[at], masked ? "" : pattern[at]);
      }
    }
    for (std::size_t k = 0; k < length; ++k) {
      SCOPED_TRACE(k);
      EXPECT_NEAR(query[k], weights[2][k], kTolerance);
      EXPECT_EQ(is_no_number(tokens[k]), edited.masked(2, static_cast<int>(k)));
      if (!is_no_number(tokens[k])) {
        EXPECT_NEAR(tokens[k], weights[2][k], kTolerance);
      }
      if (!forced) {
        EXPECT_NEAR(softmax[k], weights[2][k], kTolerance);
      }
    }
    EXPECT_EQ(softmax.size(), length);
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

TEST(EditedAttention, KeysAreSelectedWhereTheHeadSeesThem) {
  const Scenario s = with_edits("L2H1.pattern[2,6]=0.5; L3H0.mask=none", {0, 0, 2, -1});
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
  const Scenario at = with_edits("L2H1.pattern[2,6]=0.5", {kLayer, kHead, 2, 2});
  EXPECT_EQ(in_words(ViewFixture("lines", at, 900, 800).press(Key::right, true)), "key 6");
  const Scenario back = with_edits("L2H1.pattern[2,6]=0.5", {kLayer, kHead, 2, 6});
  EXPECT_EQ(in_words(ViewFixture("lines", back, 900, 800).press(Key::left, true)), "key 2");
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
}

// An edit at one position is about that query alone.
TEST(EditedOutput, OnlyTheQueriesOfAnEditAreOff) {
  const auto shows_edited_sum = [](const char* edits, int query) {
    const ViewFixture shown("query", with_edits(edits, {kLayer, kHead, query, -1}), 1700, 700);
    return shown.fixed_strip(Vector::edited_z) >= 0;
  };
  EXPECT_TRUE(shows_edited_sum("L2H1.z[5]=0", 5));
  EXPECT_FALSE(shows_edited_sum("L2H1.z[5]=0", 4));
  for (const char* edits : {"L2H1.z[4]=mean", "L2H0.z=0", "L1H1.z=0", "L2H1.pattern=0"})
    EXPECT_FALSE(shows_edited_sum(edits, 5)) << edits;
}

constexpr int kQuery = 5;

/// The stream that enters a block is another than left the block before, if an edit comes between.
TEST(EditedVectors, ThePassShowsTheStreamThatEntersABlock) {
  const Scenario s = with_edits("L2.resid_pre[5]*=0.5", {kLayer, kHead, kQuery});
  const auto pass = s.ask(PassOfToken{kQuery});
  const BlockPass &before = pass->blocks[kLayer - 1], &block = pass->blocks[kLayer];
  const auto kept = s.run->run->resid(kLayer, kQuery);
  EXPECT_TRUE(std::ranges::equal(block.resid_pre, kept));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(block.resid_pre[i], before.resid_post[i] * 0.5F);
    EXPECT_NEAR(block.resid_mid[i], block.resid_pre[i] + block.attn_out[i], 1e-4);
  }
  EXPECT_NEAR(block.cosine(false), cosine_of(kept, block.resid_mid), 1e-9);
  const ViewFixture shown("pass", s, 1400, 900);
  EXPECT_THAT(texts(shown.scene()), Contains("L2 resid_pre, edited"));
  EXPECT_THAT(shown.picture().subtitle, EndsWith("; L2 resid_pre, edited"));
  EXPECT_THAT(texts(shown.scene()), Contains(viz::number(norm_of(kept), 4)));
  int rows = 0;
  for (const auto& row : text_rows(shown.table())) {
    if (row[1] != "resid_pre") continue;
    ++rows;
    EXPECT_EQ(row[0], "2");
    EXPECT_EQ(row[2], plain(norm_of(block.resid_pre)));
  }
  EXPECT_EQ(rows, 1) << "where it is not the last row again";
  EXPECT_THAT(
      texts(ViewFixture("pass", with_edits("L2.resid_pre[4]*=0.5", {kLayer, kHead, kQuery}), 1400, 900)
                .scene()),
      Not(Contains("L2 resid_pre, edited")));
}

/// z may become anything, which the list shows in a row of its own.
TEST(EditedVectors, AZThatIsSetIsShown) {
  for (const char* edits :
       {"L2H1.z=mean", "L2H1.z[5][3]=1", "L2H1.z[5]*=0.5", "L2H1.z<-\"The old king had a daughter\""}) {
    const Scenario s = with_edits(edits, {kLayer, kHead, kQuery});
    const ViewFixture shown("query", s, 1400, 800);
    const int sum = shown.fixed_strip(Vector::edited_z);
    ASSERT_GE(sum, 0) << edits;
    const auto merged = s.ask(MergedHeadsOf{kLayer, kQuery});
    const auto d = static_cast<std::size_t>(s.config().d_head());
    const auto z = std::span(merged->of.z).subspan(kHead * d, d);
    for (std::size_t i = 0; i < d; ++i)
      EXPECT_NEAR(
          number_after(shown.tooltip(sum, static_cast<int>(Vector::edited_z), static_cast<int>(i)), "] ")
              ->value,
          z[i], 1e-5)
          << edits << " " << i;
  }
}

}  // namespace
}  // namespace headscope::app::edited_attention_test
