#include "app/run/sources/pattern_file.h"

#include "app/run/analyses/heads.h"
#include "app/run/answers.h"
#include "model/files/error.h"
#include "tests/support/matchers.h"
#include "tests/support/pattern_files.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::pattern_file_test {
namespace {

using namespace headscope::testing;

class PatternFiles : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& bytes, const std::string& name = "some.safetensors") {
    return folder_.write(name, bytes);
  }
  std::shared_ptr<const PatternFile> open(const std::vector<RawTensor>& tensors,
                                          const std::string& metadata = "") {
    return PatternFile::open(file(safetensors_bytes(tensors, metadata)));
  }
  std::shared_ptr<const PromptRun> run(const std::vector<RawTensor>& tensors,
                                       const std::string& metadata = "",
                                       const std::string& name = "some.safetensors") {
    return std::make_shared<const PromptRun>(
        run_of_patterns(load_model(file(safetensors_bytes(tensors, metadata), name), {})));
  }
  /// The error when opening a file.
  std::string refusal(const std::string& bytes) {
    return message_of<model::LoadError>([&] { PatternFile::open(file(bytes)); });
  }
  std::string refusal(const std::vector<RawTensor>& tensors, const std::string& metadata = "") {
    return refusal(safetensors_bytes(tensors, metadata));
  }

  headscope::testing::TemporaryFolder folder_;
  model::Workspace workspace_{1};
};

TEST_F(PatternFiles, GiveTheWeightsOfTheFileInEveryPrecisionWithAndWithoutABatch) {
  const PatternShape shape{3, 2, 5, 12};
  for (const char* dtype : {"F32", "F16", "BF16"}) {
    for (const bool batch : {false, true}) {
      const auto patterns = open(pattern_tensors(shape, some_weight, dtype, batch));
      ASSERT_EQ(patterns->layers(), 3);
      ASSERT_EQ(patterns->heads(), 2);
      ASSERT_EQ(patterns->query_count(), 5);
      ASSERT_EQ(patterns->key_count(), 12);
      for (int layer = 0; layer < 3; ++layer)
        for (int head = 0; head < 2; ++head) {
          std::vector<float> rows(2 * 12);
          patterns->read(layer, head, 3, rows);
          for (int i = 0; i < 24; ++i)
            ASSERT_EQ(rows[i], some_weight(layer, head, 3 + i / 12, i % 12)) << dtype;
        }
    }
  }
}

TEST_F(PatternFiles, PassOverOtherTensorsAndOtherNames) {
  auto tensors = pattern_tensors({2, 1, 3, 3}, causal_weight);
  tensors.push_back({"blocks.0.attn.hook_q", "F32", {1}, std::string(4, '\0')});
  tensors.push_back({"blocks.07.attn.hook_pattern", "F32", {1}, std::string(4, '\0')});
  tensors.push_back({"blocks..attn.hook_pattern", "F32", {1}, std::string(4, '\0')});
  tensors.push_back({"blocks.attn.hook_pattern", "F32", {1}, std::string(4, '\0')});
  tensors.push_back({"blocks.-1.attn.hook_pattern", "F32", {1}, std::string(4, '\0')});
  EXPECT_EQ(open(tensors)->layers(), 2);
}

TEST_F(PatternFiles, AreCausalByTheirWeightsOrAsTheFileSays) {
  const auto causal = open(pattern_tensors({2, 2, 4, 4}, causal_weight));
  EXPECT_TRUE(causal->causal());
  EXPECT_EQ(causal->mask_words(), "causal (inferred)");
  // A single weight above the diagonal, in the last head of the last layer, is enough.
  const auto seen = open(pattern_tensors({2, 2, 4, 4}, [](int layer, int head, int query, int key) {
    return layer == 1 && head == 1 && query == 2 && key == 3 ? 0.25F : causal_weight(layer, head, query, key);
  }));
  EXPECT_FALSE(seen->causal());
  EXPECT_EQ(seen->mask_words(), "no mask (inferred)");
  const auto said = open(pattern_tensors({1, 1, 4, 4}, causal_weight), R"({"causal":"false"})");
  EXPECT_FALSE(said->causal());
  EXPECT_EQ(said->mask_words(), "no mask (stated in the file)");
  EXPECT_EQ(open(pattern_tensors({1, 1, 4, 4}, causal_weight), R"({"causal":"true"})")->mask_words(),
            "causal (stated in the file)");
  // Keys from another text have no order relative to queries.
  EXPECT_FALSE(open(pattern_tensors({1, 1, 4, 4}, causal_weight),
                    R"({"key_tokens":")" + text_list({"a", "b", "c", "d"}) + "\"}")
                   ->causal());
  EXPECT_FALSE(open(pattern_tensors({1, 1, 4, 6}, causal_weight))->causal());
}

TEST_F(PatternFiles, NameTokensByTextsElseByIdsElseByPositions) {
  auto tensors = pattern_tensors({1, 1, 3, 3}, causal_weight);
  EXPECT_THAT(open(tensors)->queries().labels, ElementsAre("0", "1", "2"));
  EXPECT_THAT(open(tensors)->queries().ids(), ElementsAre(0, 1, 2));
  const std::string texts = R"({"tokens":")" + text_list({"the", " cat", "the"}) + "\"}";
  const auto named = open(tensors, texts);
  EXPECT_THAT(named->queries().labels, ElementsAre("the", "·cat", "the"));
  EXPECT_THAT(named->queries().ids(), ElementsAre(0, 1, 0)) << "equal where the texts are";
  tensors.push_back(id_tensor("tokens", {464, 3290, 464}));
  EXPECT_THAT(open(tensors)->queries().labels, ElementsAre("#464", "#3290", "#464"));
  const auto both = open(tensors, texts);
  EXPECT_THAT(both->queries().labels, ElementsAre("the", "·cat", "the"));
  EXPECT_THAT(both->queries().ids(), ElementsAre(464, 3290, 464));
  EXPECT_TRUE(both->has_own_keys());
}

TEST_F(PatternFiles, HaveKeysOfTheirOwn) {
  auto tensors = pattern_tensors({1, 1, 2, 4}, even_rows(4));
  const auto numbered = open(tensors, R"({"tokens":")" + text_list({"le", "chat"}) + "\"}");
  EXPECT_FALSE(numbered->has_own_keys());
  EXPECT_THAT(numbered->keys().labels, ElementsAre("0", "1", "2", "3"));
  const auto named = open(tensors, R"({"tokens":")" + text_list({"le", "chat"}) + R"(","key_tokens":")" +
                                       text_list({"the", "black", "cat", "."}) + "\"}");
  EXPECT_THAT(named->queries().labels, ElementsAre("le", "chat"));
  EXPECT_THAT(named->keys().labels, ElementsAre("the", "black", "cat", "."));
  EXPECT_EQ(named->summary(), "1 layer of 1 head, 2 queries, 4 keys, no mask");
  tensors.push_back(id_tensor("key_tokens", {7, 8, 9, 7}));
  EXPECT_THAT(open(tensors)->keys().labels, ElementsAre("#7", "#8", "#9", "#7"));
}

TEST_F(PatternFiles, SayWhatIsOddAboutTheirWeights) {
  EXPECT_THAT(open(pattern_tensors({2, 2, 4, 4}, causal_weight))->notes(), IsEmpty());
  EXPECT_THAT(open(pattern_tensors({1, 2, 4, 4}, even_rows(4), "BF16"))->notes(), IsEmpty());
  const auto odd = open(pattern_tensors({2, 2, 4, 4}, [](int layer, int head, int query, int key) {
    if (layer == 1 && head == 0 && query == 2) return key == 0 ? std::nanf("") : 0.F;
    if (layer == 1 && head == 1 && query == 3) return key == 0 ? -0.5F : key == 1 ? 1.5F : 0.F;
    return layer == 0 && head == 1 && query == 1 ? 0.125F : causal_weight(layer, head, query, key);
  }));
  EXPECT_THAT(odd->notes(), ElementsAre("non-finite weights, first in query 2 of L1 H0",
                                        "weights below 0, first in query 3 of L1 H1",
                                        "rows that do not sum to 1, first query 1 of L0 H1: 0.5"));
}

TEST_F(PatternFiles, RefuseWhatIsNoneWithASentence) {
  const PatternShape shape{2, 2, 3, 3};
  const auto good = pattern_tensors(shape, causal_weight);
  const auto with = [&](const RawTensor& last) {
    auto tensors = good;
    tensors.push_back(last);
    return tensors;
  };
  const auto of_shape = [](std::vector<std::int64_t> dims, std::size_t count,
                           const std::string& dtype = "F32", std::size_t size = 4) {
    return std::vector<RawTensor>{
        {"blocks.0.attn.hook_pattern", dtype, std::move(dims), std::string(count * size, '\0')}};
  };
  EXPECT_THAT(refusal(std::vector<RawTensor>{{"wte.weight", "F32", {1}, std::string(4, '\0')}}),
              HasSubstr("no attention patterns found"));
  EXPECT_THAT(refusal(of_shape({2, 3}, 6)), HasSubstr("expected [head, query, key], found the shape [2, 3]"));
  EXPECT_THAT(refusal(of_shape({4, 1, 2, 2}, 16)), HasSubstr("a batch of 4; save one batch item"));
  EXPECT_THAT(refusal(of_shape({1, 1, 5000}, 5000)), HasSubstr("at most 4096 queries and keys"));
  EXPECT_THAT(refusal(of_shape({1, 2, 2}, 4, "F64", 8)),
              HasSubstr("expected F32, F16 or BF16, found \"F64\""));
  EXPECT_THAT(refusal(with({"blocks.3.attn.hook_pattern", "F32", {2, 3, 3}, good[0].bytes})),
              HasSubstr("patterns for layer 3 but none for layer 2"));
  EXPECT_THAT(refusal(with({"blocks.2.attn.hook_pattern", "F32", {2, 1, 9}, good[0].bytes})),
              HasSubstr("expected the shape of layer 0, [2, 3, 3], found [2, 1, 9]"));
  EXPECT_THAT(refusal(with(id_tensor("tokens", {1, 2}))),
              HasSubstr("expected as many ids as queries, 3, found 2"));
  EXPECT_THAT(refusal(with(id_tensor("tokens", {1, -2, 3}))),
              HasSubstr("expected ids of 0 to 2147483647, found -2"));
  EXPECT_THAT(refusal(good, R"({"tokens":"[\"a\"]"})"),
              HasSubstr("expected as many texts as queries, 3, found 1"));
  EXPECT_THAT(refusal(good, R"({"tokens":"{}"})"),
              HasSubstr("expected a JSON list of texts, found an object"));
  EXPECT_THAT(refusal(good, R"({"causal":"yes"})"),
              HasSubstr("expected \"true\" or \"false\", found \"yes\""));
  EXPECT_THAT(refusal(pattern_tensors({1, 2, 4, 4}, even_rows(4)), R"({"causal":"true"})"),
              HasSubstr("expected no weight on later keys, found some in query 0 of L0 H0"));
  EXPECT_THAT(refusal(pattern_tensors({1, 1, 2, 4}, even_rows(4)),
                      R"({"tokens":")" + text_list({"a", "b", "c", "d"}) + "\"}"),
              HasSubstr("tokens of the keys belong in \"key_tokens\""));
  const std::string bytes = safetensors_bytes(good);
  EXPECT_THAT(refusal(bytes.substr(0, bytes.size() - 5)), HasSubstr("truncated"));
}

// ---- questions about patterns ----

TEST_F(PatternFiles, ArePooledByQueriesAndByKeysApart) {
  const auto of = run(pattern_tensors({1, 1, 3, 200}, some_weight));
  DirectAnswers answers(of, workspace_);
  const auto small = ask(answers, ThumbnailsOfHeads{});
  const Thumbnail& t = *small->of_head[0];
  ASSERT_EQ(t.rows, 3);
  ASSERT_EQ(t.cols, 64);
  for (int row = 0; row < 3; ++row)
    for (int col = 0; col < 64; ++col) {
      float most = 0;
      for (int key = 0; key < 200; ++key)
        if (key * 64 / 200 == col) most = std::max(most, some_weight(0, 0, row, key));
      EXPECT_EQ(t.values[row * 64 + col], most) << row << ", " << col;
    }
}

TEST_F(PatternFiles, HaveHeadMetrics) {
  const auto square = run(pattern_tensors({1, 1, 4, 4}, even_rows(4)),
                          R"({"tokens":")" + text_list({"a", "b", "a", "c"}) + "\"}");
  std::vector<HeadMetrics> heads = MetricsOnList{}.compute(*square, {workspace_}).heads;
  // Queries 1, 2, 3 give a half plus an eighth to keys 1, 2, 3, which are themselves.
  EXPECT_DOUBLE_EQ(heads.at(0)[HeadMetric::self], 0.625);
  EXPECT_DOUBLE_EQ(heads.at(0)[HeadMetric::previous], 0.125);
  EXPECT_DOUBLE_EQ(heads.at(0)[HeadMetric::duplicate], 0.125) << "query 2 on key 0, the same text";
  const auto cross = run(pattern_tensors({1, 1, 8, 4}, even_rows(4)));
  heads = MetricsOnList{}.compute(*cross, {workspace_}).heads;
  EXPECT_NEAR(heads.at(0)[HeadMetric::first], (7 * 0.125 + 0.5) / 7, 1e-9) << "query 4 takes half of it";
  EXPECT_TRUE(std::isnan(heads.at(0)[HeadMetric::previous]));
  EXPECT_TRUE(std::isnan(heads.at(0)[HeadMetric::self]));
  EXPECT_TRUE(std::isnan(heads.at(0)[HeadMetric::distance]));
}

TEST_F(PatternFiles, HaveTheirKeysComparedByWhatTheyAreCalledToo) {
  const auto texts = [](const std::vector<std::string>& queries, const std::vector<std::string>& keys) {
    const std::string named = R"({"tokens":")" + text_list(queries) + "\"";
    return keys.empty() ? named + "}" : named + R"(,"key_tokens":")" + text_list(keys) + "\"}";
  };
  const PromptRun own_keys = *run(pattern_tensors({1, 1, 3, 3}, causal_weight),
                                  texts({"the", "black", "cat"}, {}), "a.safetensors"),
                  others = *run(pattern_tensors({1, 1, 2, 3}, some_weight),
                                texts({"black", "cat"}, {"cat", "the", "black"}), "b.safetensors");
  PromptRun first = own_keys;
  compare_with(first, std::make_shared<const PromptRun>(others), Alignment::subsequence);
  EXPECT_THAT(first.aligned, ElementsAre(-1, 0, 1));
  EXPECT_THAT(aligned_keys(first), ElementsAre(1, 2, -1));
  PromptRun second = others;
  compare_with(second, std::make_shared<const PromptRun>(own_keys), Alignment::subsequence);
  EXPECT_THAT(second.aligned, ElementsAre(1, 2));
  EXPECT_THAT(aligned_keys(second), ElementsAre(-1, 0, 1));
}

}  // namespace
}  // namespace headscope::app::pattern_file_test
