// Texts that a model draws ahead, compared with passes over the whole texts without a cache.
#include "app/run/analyses/predictions.h"

#include "tests/app/run/parts.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::continuations_test {
namespace {

/// Draws token by token, each from a pass over all tokens without reuse.
std::vector<DrawnToken> reference_continuations(const Scenario& s, const ContinuationsOf& question,
                                                std::uint64_t seed) {
  const model::Transformer& transformer = *s.run->model->transformer;
  model::Workspace workspace(1);
  std::vector<int> ids = s.run->run->tokens;
  std::vector<float> logits(s.config().vocab_size);
  std::vector<double> probabilities(logits.size());
  std::vector<DrawnToken> tokens;
  while (std::ssize(tokens) < question.tokens && std::ssize(ids) < s.config().n_ctx) {
    const auto run = transformer.forward(ids, workspace);
    transformer.logits(*run, run->length() - 1, 1, workspace, logits);
    model::softmax(logits, 1, probabilities);
    const int id = model::draw_token(logits, {question.temperature, question.top_k, question.top_p}, seed,
                                     static_cast<int>(ids.size()));
    tokens.push_back({id, probabilities[id], static_cast<int>(ids.size()), 1});
    if (id == s.run->model->tokenizer->end_of_text()) break;
    ids.push_back(id);
  }
  return tokens;
}

void expect_same(const std::vector<DrawnToken>& found, const std::vector<DrawnToken>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(found[i].id, expected[i].id);
    EXPECT_NEAR(found[i].probability, expected[i].probability, 1e-6 * expected[i].probability);
    EXPECT_EQ(found[i].kept, expected[i].kept);
    EXPECT_EQ(found[i].computed, expected[i].computed);
  }
}

TEST(Continuations, AreWhatPassesWithoutACacheDraw) {
  const Scenario s(kRobot);
  for (const ContinuationsOf& question :
       {ContinuationsOf{3, 12, 1, 0, 1, 5, true}, ContinuationsOf{2, 12, 0.7, 20, 0.9, 0, true}}) {
    const auto found = s.ask(question);
    ASSERT_EQ(std::ssize(found->texts), question.texts);
    for (int text = 0; text < question.texts; ++text)
      expect_same(found->texts[text],
                  reference_continuations(s, question, question.seed + static_cast<std::uint64_t>(text)));
  }
}

TEST(Continuations, EndWhereTheContextDoes) {
  const int most = bundled()->transformer->config().n_ctx;
  const Scenario s = Scenario::of_length(most - 2);
  const auto found = s.ask(ContinuationsOf{1, 8});
  EXPECT_EQ(found->texts.at(0).size(), 2U);
  EXPECT_TRUE(Scenario::of_length(most).ask(ContinuationsOf{1, 8})->texts.at(0).empty());
}

TEST(Continuations, GoOnFromWhatWasShownBeforeTheyWereStopped) {
  const Scenario s(kRobot);
  const ContinuationsOf question{3, 5, 1, 0, 1, 2, true};
  const Continuations part = part_of(question, *s.run, [](const Continuations& shown) {
    return shown.texts.size() == 2 && shown.texts[1].size() == 3;
  });
  ASSERT_EQ(part.texts.size(), 2U);
  const Continuations rest = gone_on(question, *s.run, part);
  const auto whole = s.ask(question);
  ASSERT_EQ(rest.texts.size(), whole->texts.size());
  for (std::size_t i = 0; i < rest.texts.size(); ++i) expect_same(rest.texts[i], whole->texts[i]);
}

}  // namespace
}  // namespace headscope::app::continuations_test
