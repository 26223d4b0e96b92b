// What follows: the metric of a run from what is asked for, where the next token's logits are not finite,
// texts that are drawn ahead compared with passes without a cache; the pass of one position; and the logit
// lens with its partial answers and their reuse.
#include <cstring>

#include "app/run/analyses/measured.h"
#include "app/run/analyses/predictions.h"
#include "app/run/analyses/token_pass.h"
#include "app/run/analyses/vectors.h"
#include "model/files/error.h"
#include "model/pass/statistics.h"
#include "tests/app/run/parts.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"

namespace headscope::app::predictions_test {
namespace {

TEST(NextAfter, SaysWhereTheRunOrTheLogitsAloneAreNotFinite) {
  const auto after = [](int position, const std::string& with_nan, std::size_t at) {
    const TemporaryFolder folder;
    write_model_with_nan(folder, with_nan, at);
    model::Workspace workspace(1);
    PromptRun run;
    run.model = load_model(folder.path(), {});
    run.tokens = tokenize(*run.model, {"The old king", {}, false});
    run.run = run.model->transformer->forward(run.tokens.ids(), workspace);
    return NextAfter{position}.compute(run, {workspace}).not_finite;
  };
  const std::string note = "the run has non-finite values, first seen in ";
  EXPECT_EQ(after(-1, "h.1.attn.c_attn.bias", 5), note + "blocks.1.attn.hook_q, head 1, position 0");
  EXPECT_EQ(after(1, "ln_f.bias", 3), note + "logits, position 1");
  EXPECT_EQ(after(-1, "wte.weight", 4095 * 8), note + "logits, position 2");
  EXPECT_EQ(scenario(12).ask(NextAfter{-1})->not_finite, "");
}

/// Draws token by token, each from a pass over all tokens without reuse.
std::vector<DrawnToken> reference_continuations(const Scenario& s, const ContinuationsOf& question,
                                                std::uint64_t seed) {
  const model::Transformer& transformer = *s.run->model->transformer;
  model::Workspace workspace(1);
  std::vector<int> ids = s.run->run->tokens;
  std::vector<float> logits(s.config().vocab_size);
  std::vector<DrawnToken> tokens;
  while (std::ssize(tokens) < question.tokens && std::ssize(ids) < s.config().n_ctx) {
    const auto run = transformer.forward(ids, workspace);
    transformer.logits(*run, run->length() - 1, 1, workspace, logits);
    const std::vector<double> probabilities = model::softmax(logits, 1);
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

/// The largest difference between a vector and the reference's, relative to the reference's norm.
double error_of(const std::vector<float>& found, const std::vector<double>& expected) {
  EXPECT_EQ(found.size(), expected.size());
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(found[i]) - expected[i]));
    norm += expected[i] * expected[i];
  }
  return difference / std::sqrt(norm);
}

TEST(PassOfToken, HasTheVectorsOfTheReference) {
  const Scenario s(kRobot);
  const auto& expected = reference(s);
  for (const int position : {0, 5, s.length() - 1}) {
    const auto pass = s.ask(PassOfToken{position});
    const auto at = static_cast<std::size_t>(position);
    EXPECT_EQ(pass->position, position);
    EXPECT_LT(error_of(pass->resid(0), expected.blocks[0].resid_pre[at]), 1e-6);
    ASSERT_EQ(pass->blocks.size(), expected.blocks.size());
    for (std::size_t layer = 0; layer < pass->blocks.size(); ++layer) {
      SCOPED_TRACE("position " + std::to_string(position) + ", layer " + std::to_string(layer));
      const BlockPass& block = pass->blocks[layer];
      const auto& e = expected.blocks[layer];
      EXPECT_LT(error_of(block.attn_out, e.attn_out[at]), 1e-5);
      EXPECT_LT(error_of(block.resid_mid, e.resid_mid[at]), 1e-5);
      EXPECT_LT(error_of(block.mlp_pre, e.mlp_pre[at]), 1e-5);
      EXPECT_LT(error_of(block.mlp_post, e.mlp_post[at]), 1e-5);
      EXPECT_LT(error_of(block.mlp_out, e.mlp_out[at]), 1e-5);
      EXPECT_LT(error_of(block.resid_post, e.resid_post[at]), 1e-5);
      EXPECT_NEAR(block.cosine(false), cosine(e.resid_pre[at], e.resid_mid[at]), 1e-5);
      EXPECT_NEAR(block.cosine(true), cosine(e.resid_mid[at], e.resid_post[at]), 1e-5);
    }
  }
}

void expect_same(const LogitLens& found, const LogitLens& expected) {
  ASSERT_EQ(found.first, expected.first);
  ASSERT_EQ(found.places, expected.places);
  ASSERT_EQ(found.readings.size(), expected.readings.size());
  EXPECT_EQ(found.tokens, expected.tokens);
  for (std::size_t i = 0; i < found.readings.size(); ++i) {
    SCOPED_TRACE(i);
    const model::LensReading &a = found.readings[i], &b = expected.readings[i];
    EXPECT_EQ(a.divergence, b.divergence);
    EXPECT_EQ(a.guesses.next_probability, b.guesses.next_probability);
    EXPECT_EQ(a.guesses.next_rank, b.guesses.next_rank);
    ASSERT_EQ(a.guesses.top.size(), b.guesses.top.size());
    for (std::size_t g = 0; g < a.guesses.top.size(); ++g) {
      EXPECT_EQ(a.guesses.top[g].id, b.guesses.top[g].id);
      EXPECT_EQ(a.guesses.top[g].probability, b.guesses.top[g].probability);
    }
  }
}

constexpr int kBlock = LensOf::kPositions;

TEST(LensOf, ReadsTheRowsOfThePassAtEveryPlace) {
  const Scenario& s = scenario(70);
  const int layers = s.config().n_layer;
  model::Workspace workspace(1);
  for (const int position : {0, 15, 16, 31, 32, 63, 64, 69}) {
    const auto lens = s.ask(LensOf::around(position));
    ASSERT_EQ(lens->places, 2 * layers + 1);
    ASSERT_EQ(lens->first, position / kBlock * kBlock);
    ASSERT_EQ(lens->positions(), position < 64 ? kBlock : 6);
    ASSERT_TRUE(lens->knows(position));
    // The same rows, computed differently: by the complete pass of one position.
    const auto pass = s.ask(PassOfToken{position});
    for (int place = 0; place < lens->places; ++place) {
      SCOPED_TRACE(std::to_string(position) + " at " + std::to_string(place));
      const auto [layer, mid] = lens_place(place);
      const std::vector<float>& row = mid ? pass->blocks[layer].resid_mid : pass->resid(layer);
      const std::vector<int> target{lens->answer(position)};
      const auto alone = s.run->model->transformer->lens(row, 1, target, LogitLens::kGuesses, workspace);
      const model::PositionStatistics &a = lens->at(position, place).guesses, &b = alone.at(0).guesses;
      EXPECT_EQ(a.log_sum_exp, b.log_sum_exp);
      EXPECT_EQ(a.next_probability, b.next_probability);
      EXPECT_EQ(a.next_rank, b.next_rank);
      EXPECT_EQ(a.top.size(), 5U);
      EXPECT_EQ(a.top.front().id, b.top.front().id);
    }
  }
}

TEST(LensOf, ReadsAChosenToken) {
  const Scenario& s = scenario(40);
  const auto plain = s.ask(LensOf{0});
  const int id = 17;
  const auto lens = s.ask(LensOf{0, TokenRef::of(id)});
  const auto third = s.ask(LensOf{0, TokenRef::best(3)});
  for (int position = 0; position < plain->positions(); ++position) {
    EXPECT_EQ(lens->answer(position), id);
    EXPECT_EQ(third->answer(position), plain->at(position, plain->places - 1).guesses.top[2].id);
    EXPECT_EQ(third->at(position, plain->places - 1).guesses.next_rank, 2);
    for (int place = 0; place < plain->places; ++place) {
      EXPECT_EQ(lens->at(position, place).divergence, plain->at(position, place).divergence);
      const auto& top = plain->at(position, place).guesses.top;
      const auto found = std::ranges::find(top, id, &model::Guess::id);
      if (found == top.end()) continue;
      EXPECT_EQ(lens->at(position, place).guesses.next_rank, found - top.begin());
    }
  }
  EXPECT_FALSE((LensOf{0, TokenRef::of(id)}.reusable_part(*plain, *s.run))) << "it is of another token";
}

TEST(LensOf, GoesOnFromWhatWasShownBeforeItWasStopped) {
  const Scenario& s = scenario(70);
  const LensOf kSecond{1};
  const LogitLens part = part_of(kSecond, *s.run, [](const LogitLens&) { return true; });
  EXPECT_EQ(part.positions(), 16);
  EXPECT_TRUE(part.knows(32) && part.knows(47) && !part.knows(31) && !part.knows(48));
  EXPECT_GT(part.bytes(), 16U * static_cast<std::size_t>(part.places) * 5 * sizeof(model::Guess));
  int parts = 0;
  expect_same(gone_on(kSecond, *s.run, part, &parts), *s.ask(kSecond));
  EXPECT_EQ(parts, 0) << "only 16 are left";
}

TEST(LensOf, TakesTheSameTokensFromThePreviousRun) {
  const Scenario &longer = scenario(60), &shorter = scenario(35);
  const LensOf kLast{1};
  model::Workspace workspace(1);
  const auto previous = shorter.ask(kLast);
  ASSERT_EQ(previous->positions(), 3);
  std::vector<int> shown;
  const LogitLens found = kLast.compute(
      *longer.run,
      {workspace, {}, nullptr, previous.get(), [&](const std::optional<LogitLens>& part, double) {
         shown.push_back(part->positions());
       }});
  EXPECT_THAT(shown, ElementsAre(19)) << "the first 3 are not computed again";
  expect_same(found, *longer.ask(kLast));
  // Fewer tokens of a longer answer, or a block with the same tokens, need no work.
  const auto nothing = [](const std::optional<LogitLens>&, double) { ADD_FAILURE(); };
  expect_same(kLast.compute(*shorter.run, {workspace, {}, nullptr, &found, nothing}), *previous);
  const auto first = shorter.ask(LensOf{0});
  expect_same(LensOf{0}.compute(*longer.run, {workspace, {}, nullptr, first.get(), nothing}),
              *longer.ask(LensOf{0}));
}

class MeasuredTest : public ::testing::Test {
 protected:
  static PromptRun run_of(const std::string& text, const model::Edits& edits = {}) {
    return *Scenario(Prompt{text, {}, false, edits}).run;
  }
  std::vector<float> logits(const PromptRun& run, int position) {
    std::vector<float> all(run.run->config.vocab_size);
    run.model->transformer->logits(*run.run, position, 1, workspace_, all);
    return all;
  }
  int guess(const PromptRun& run, int position, int rank = 0) {
    return model::largest_logits(logits(run, position), rank + 1).back().id;
  }
  model::Metric metric(const Measured& of, const PromptRun& run) {
    return gradient_metric(resolved(of, run, {workspace_}), run, {workspace_});
  }

  model::Workspace workspace_{1};
};

const char* const kText = "The old king had a dog";
const model::Edits kEdit{model::SetValues{{{model::Site::logits}, {}, {}, {17}}, {1000}}};

TEST_F(MeasuredTest, RanksAreGuessesAtThePosition) {
  const PromptRun run = run_of(kText);
  const int last = run.run->length() - 1;
  EXPECT_EQ(metric({Metric::logit}, run), (model::Metric{model::TokenLogit{guess(run, last), last}}));
  EXPECT_EQ(metric({.metric = Metric::difference, .position = 1}, run),
            (model::Metric{model::LogitDifference{guess(run, 1), guess(run, 1, 1), 1}}));
  EXPECT_EQ(metric({Metric::log_probability, TokenRef::of(7)}, run),
            (model::Metric{model::LogProbability{7, last}}));
  EXPECT_EQ(metric({Metric::loss}, run), model::Metric{model::PromptLoss{}});
}

TEST_F(MeasuredTest, RanksOfAnEditedRunAreThoseOfTheUneditedOne) {
  PromptRun run = run_of(kText, kEdit);
  const PromptRun unedited = run_of(kText);
  const int last = run.run->length() - 1;
  ASSERT_NE(guess(run, last), guess(unedited, last));
  EXPECT_EQ(metric({Metric::logit}, run), (model::Metric{model::TokenLogit{guess(run, last), last}}))
      << "no baseline";
  compare_with_unedited(run, unedited.run);
  EXPECT_EQ(metric({Metric::logit}, run), (model::Metric{model::TokenLogit{guess(unedited, last), last}}));
}

TEST_F(MeasuredTest, ADivergenceIsFromTheBaselineAtTheCounterpart) {
  PromptRun run = run_of(kText);
  const auto other = std::make_shared<const PromptRun>(run_of("The old"));
  ASSERT_LT(other->run->length(), run.run->length());
  EXPECT_THAT(testing::message_of<model::RunError>([&] { metric({Metric::divergence}, run); }),
              HasSubstr("KL needs a baseline"));
  compare_with(run, other, Alignment::position);
  const int last = run.run->length() - 1;
  EXPECT_EQ(metric({.metric = Metric::divergence, .position = 0}, run),
            (model::Metric{model::Divergence{logits(*other, 0), 0}}));
  for (const int position : {-1, last})
    EXPECT_THAT(testing::message_of<model::RunError>(
                    [&] { metric({.metric = Metric::divergence, .position = position}, run); }),
                HasSubstr("after position " + std::to_string(last) + ", which has no counterpart"));
  const auto end = std::make_shared<const PromptRun>(run_of("He had a dog"));
  compare_with(run, end, Alignment::subsequence);
  ASSERT_EQ(run.aligned[last], end->run->length() - 1);
  for (const int position : {-1, last})
    EXPECT_EQ(metric({.metric = Metric::divergence, .position = position}, run),
              (model::Metric{model::Divergence{logits(*end, end->run->length() - 1), last}}));
}

}  // namespace
}  // namespace headscope::app::predictions_test
