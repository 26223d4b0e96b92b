// The glossary: how it is parsed, and which term a label means.
#include "app/text/glossary.h"

#include <set>

#include "app/desktop/bundled_guide.h"
#include "model/files/error.h"
#include "tests/app/view_fixture.h"

namespace headscope::app {
namespace {

Glossary parsed(const std::string& text) {
  return {parse_guide_page("# Glossary\n\n" + text, "glossary.md"), "glossary.md"};
}

TEST(Glossary, EntriesHaveWhatThePageSays) {
  const Glossary glossary = parsed(
      "An introduction.\n\n## KV cache\n\nAlso: cache, cached\n\nKeys and\nvalues.\n\n    k, v\n\n"
      "View: [cache](views.md#cache-cache)\n\n## Bit\n\nA unit.\n");
  ASSERT_EQ(glossary.entries().size(), 2U);
  EXPECT_EQ(glossary.entries()[0],
            (GlossaryEntry{"KV cache", {"cache", "cached"}, "Keys and values.", "k, v", "cache"}));
  EXPECT_EQ(glossary.entries()[1], (GlossaryEntry{"Bit", {}, "A unit.", "", ""}));
}

TEST(Glossary, ErrorsNameTheLine) {
  for (const auto& [text, line] : {std::pair{"## A\n", ":3:"},
                                   {"## A\n\none\n\n## B\n\nAlso: a\n\ntwo\n", ":7:"},
                                   {"## A\n\none\n\nAlso: b\n", ":7:"},
                                   {"## A\n\none\n\ntwo\n", ":7:"},
                                   {"## A\n\none\n\nView: [x](y)\n\n    f\n", ":7:"},
                                   {"## !\n\none\n", ":3:"}}) {
    try {
      parsed(text);
      ADD_FAILURE() << text;
    } catch (const model::LoadError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string("glossary.md") + line)) << text;
    }
  }
}

TEST(Glossary, FindsWholeWordsTheLongestFirst) {
  const Glossary glossary = parsed(
      "## Logit\n\nl\n\n## Logit lens\n\nll\n\n## Query\n\nAlso: queries\n\nq\n\n## Loss\n\nx\n\n## "
      "Top-k\n\nt\n");
  const auto term = [&](std::string_view label) {
    const GlossaryEntry* entry = glossary.find(label);
    return entry ? entry->term : "";
  };
  EXPECT_EQ(term("Logit lens of “he”"), "Logit lens");
  EXPECT_EQ(term("LOGITS"), "Logit");
  EXPECT_EQ(term("a query's logit"), "Query") << "as many words, as long: the first";
  EXPECT_EQ(term("queries"), "Query");
  EXPECT_EQ(term("losses"), "Loss");
  EXPECT_EQ(term("top k"), "Top-k");
  EXPECT_EQ(term("logistic"), "");
  EXPECT_EQ(term("“logit”"), "") << "the user's own word";
  EXPECT_EQ(term("logit of “loss”"), "Logit");
  EXPECT_EQ(term(""), "");
  const auto matches = glossary.matches("logits, logit lens: loss");
  ASSERT_EQ(matches.size(), 3U);
  EXPECT_EQ(matches[1].entry->term, "Logit lens");
  EXPECT_EQ(matches[1].start, 8U);
  EXPECT_EQ(matches[1].end, 18U);
}

TEST(Glossary, WordsAreLettersOfLatinAndGreek) {
  EXPECT_THAT(words_in("Δ loss × 2 … x_1·y→z “a b” é"), ElementsAre("Δ", "loss", "2", "x_1", "y", "z", "é"));
  EXPECT_THAT(words_in("“open"), ElementsAre("open"));
}

class BundledGlossary : public ::testing::Test {
 protected:
  const Guide guide_ = load_guide(source_dir() / "assets/guide");
};

TEST_F(BundledGlossary, EntriesAreShortSentencesAboutAViewThatExists) {
  std::set<std::string> terms;
  for (const GlossaryEntry& entry : guide_.glossary.entries()) {
    SCOPED_TRACE(entry.term);
    terms.insert(entry.term);
    EXPECT_TRUE(entry.text.ends_with('.')) << entry.text;
    EXPECT_LE(entry.text.size(), 300U) << "too long for a tooltip";
    EXPECT_LE(entry.formula.size(), 60U);
    if (!entry.view.empty()) {
      const View* view = find_view(entry.view);
      ASSERT_NE(view, nullptr) << entry.view;
      EXPECT_EQ(view->name(), entry.view) << "the current name";
    }
  }
  std::vector<std::string> in_order;
  for (const GlossaryEntry& entry : guide_.glossary.entries()) in_order.push_back(entry.term);
  const auto folded = [](std::string word) {
    std::ranges::transform(word, word.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return word;
  };
  EXPECT_TRUE(std::ranges::is_sorted(in_order, {}, folded)) << "alphabetical, for those who read it on paper";
}

TEST_F(BundledGlossary, KnowsTheWordsOfTheField) {
  for (const char* word : {"token",
                           "vocabulary",
                           "embedding",
                           "position embedding",
                           "query",
                           "key",
                           "value",
                           "head",
                           "layer",
                           "attention pattern",
                           "score",
                           "mask",
                           "softmax",
                           "residual stream",
                           "LayerNorm",
                           "MLP",
                           "neuron",
                           "logit",
                           "probability",
                           "loss",
                           "perplexity",
                           "entropy",
                           "KL divergence",
                           "OV circuit",
                           "QK circuit",
                           "induction head",
                           "previous-token head",
                           "ablation",
                           "mean ablation",
                           "activation patching",
                           "edit",
                           "baseline",
                           "difference",
                           "logit lens",
                           "direct logit attribution",
                           "unembedding",
                           "resid_pre",
                           "resid_mid",
                           "resid_post",
                           "hook",
                           "z",
                           "head output",
                           "attention sink",
                           "temperature",
                           "top-k",
                           "top-p",
                           "seed",
                           "sweep",
                           "head metric",
                           "recipe",
                           "session",
                           "figure",
                           "cosine similarity",
                           "norm",
                           "rank",
                           "bits",
                           "eigenvalue",
                           "copying score"}) {
    const GlossaryEntry* entry = guide_.glossary.find(word);
    ASSERT_NE(entry, nullptr) << word;
  }
  EXPECT_EQ(guide_.glossary.find("Q, K, V")->term, "W_Q, W_K, W_V");
  EXPECT_EQ(guide_.glossary.find("Head metrics")->term, "Head metric");
  EXPECT_EQ(guide_.glossary.find("Attention from query 8")->term, "Attention");
}

}  // namespace
}  // namespace headscope::app
