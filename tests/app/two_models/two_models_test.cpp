// A prompt in two models of the same shape: what the worker runs and keeps, and what the views show.

#include <atomic>

#include "app/run/analyses/heads.h"
#include "app/run/analyses/parameters.h"
#include "app/run/analyses/predictions.h"
#include "app/run/analyses/sweep.h"
#include "app/run/analyses/token_pass.h"
#include "app/run/sources/weights_hash.h"
#include "app/views/export.h"
#include "model/pass/statistics.h"
#include "tests/app/run/worker_fixture.h"
#include "tests/app/two_models/second_model.h"
#include "tests/app/view_fixture.h"
#include "tests/support/sentences.h"

namespace headscope::app::two_models_test {
namespace {

using model::Site;

const std::filesystem::path& second_folder() {
  static const SecondModelFolder folder;
  return folder.path();
}
std::shared_ptr<const LoadedModel> second() {
  static const auto model = load_model(second_folder(), {});
  return model;
}

/// The prompt, compared with the same prompt or another one in the second model.
Scenario of_two_models(const std::string& other = kRobot) {
  model::Workspace workspace(2);
  const Scenario first(kRobot), there(Prompt{other, {}, false}, {2, 1, -1}, second());
  PromptRun made = *first.run;
  compare_with(made, there.run, Alignment::position);
  made.second_model = second();
  return Scenario(std::move(made), {2, 1, 3});
}

TEST(TwoModels, AreComparedWhereShapesAndVocabulariesAreOne) {
  EXPECT_NO_THROW(check_comparable(*bundled(), *second()));
  const auto said = [](const LoadedModel& with) {
    const std::string sentence = message_of<model::RunError>([&] { check_comparable(*bundled(), with); });
    EXPECT_TRUE(is_sentence(sentence));
    return sentence;
  };
  const auto of_shape = [](int Gpt2Shape::*side, int length) {
    Gpt2Shape shape = SecondModelFolder::kTales;
    shape.*side = length;
    return load_model(SecondModelFolder("b", 1, shape).path(), {});
  };
  for (const auto& [side, length, words] :
       {std::tuple{&Gpt2Shape::layers, 5, "the first has 6 layers, the second 5"},
        {&Gpt2Shape::heads, 4, "the first has 8 heads per layer, the second 4"},
        {&Gpt2Shape::width, 128, "the first has 256 residual stream dimensions, the second 128"},
        {&Gpt2Shape::vocabulary, 4100, "the first has 4096 tokens in the vocabulary, the second 4100"}})
    EXPECT_EQ(said(*of_shape(side, length)), "tales and b cannot be compared: " + std::string(words));
  EXPECT_NO_THROW(check_comparable(*bundled(), *of_shape(&Gpt2Shape::positions, 32)))
      << "a shorter context is no other shape";
}

TEST(TwoModels, HaveTokensThatMeanTheSame) {
  const SecondModelFolder other("b");
  const std::string words = bytes_of_file(other.path() / "vocab.json");
  std::string exchanged = words;
  const auto exchange = [&](const std::string& a, const std::string& b) {
    const auto at_a = exchanged.find(a), at_b = exchanged.find(b);
    ASSERT_NE(at_a, std::string::npos);
    ASSERT_NE(at_b, std::string::npos);
    exchanged.replace(at_a, a.size(), b), exchanged.replace(at_b, b.size(), a);
  };
  exchange("\"A\":", "\"B\":");
  std::ofstream(other.path() / "vocab.json", std::ios::binary) << exchanged;
  EXPECT_THAT(
      message_of<model::RunError>([&] { check_comparable(*bundled(), *load_model(other.path(), {})); }),
      AllOf(StartsWith("tales and b cannot be compared: token "),
            EndsWith(R"( is "A" in the first, "B" in the second)")));
}

TEST(TwoModels, EveryViewShowsBothAndWhatIsBetweenThem) {
  const Scenario s = of_two_models();
  const Scenario alone(Prompt{kRobot, {}, false}, {2, 1, 3}, second());
  for (const View& view : views()) {
    SCOPED_TRACE(view.id);
    const ViewContext other = on_side(Side::baseline, view, s.context(800, 600));
    const ViewContext expected = alone.context(800, 600);
    // These are about the first model's guess: other numbers, and numbers in cells may not fit.
    const bool of_the_firsts_guess = view.id == "attribution" || view.id == "saliency" ||
                                     view.id == "circuit_graph" || view.id == "flow" || view.id == "sweep";
    if (!of_the_firsts_guess) {
      EXPECT_EQ(view.build(other).scene.items.size(), view.build(expected).scene.items.size());
      EXPECT_EQ(export_bytes(FileFormat::csv, view, other, {}),
                export_bytes(FileFormat::csv, view, expected, {}));
    }
    EXPECT_EQ(caption(view, other), caption(view, expected));
    const ViewContext change = on_side(Side::difference, view, s.context(800, 600));
    for (const std::string& text : texts(view.build(change).scene)) {
      EXPECT_THAT(text, Not(HasSubstr("second prompt")));
      EXPECT_THAT(text, Not(HasSubstr("first prompt")));
    }
  }
}

TEST(TwoModels, OneIsPatchedFromTheOther) {
  const Scenario s = of_two_models();
  SweepOf question{
      .edit = SweepEdit::patch, .from = patch_prompt_of(*s.run), .measured = difference_at(s.length() - 1)};
  EXPECT_TRUE(question.from.second_model);
  for (const auto& [over, site] :
       {std::pair{SweepOver::heads, Site::z}, {SweepOver::positions, Site::resid_pre}}) {
    question.over = over;
    question.site = site;
    const auto sweep = s.ask(question);
    model::Workspace workspace(2);
    for (const int layer : {0, 3, 5}) {
      const int column = 4;
      const auto edits = question.edits(layer, column);
      EXPECT_TRUE(std::get<model::PatchFrom>(edits.at(0)).second);
      model::ForwardOptions options;
      options.plan = bundled()->transformer->plan(edits, workspace, {},
                                                  {second()->transformer.get(), s.run->run->tokens});
      const auto run = bundled()->transformer->forward(s.run->run->tokens, workspace, options);
      std::vector<float> logits(4096);
      bundled()->transformer->logits(*run, s.length() - 1, 1, workspace, logits);
      EXPECT_EQ(sweep->at(layer, column).logit, static_cast<double>(logits[sweep->measured.token.id()]));
    }
  }
  EXPECT_THAT(texts(ViewFixture("sweep", s, 900, 600, {{"sweep-change", "patch"}}).scene()),
              Contains("Each head patched from other"));
  EXPECT_THAT(message_of<model::RunError>([&] { Scenario(kRobot).ask(question); }),
              HasSubstr("patches from a second model, but there is none"));
}

/// A neuron's effect on a token's logit, per unit of activation.
double written(const LoadedModel& model, int layer, int neuron, int id) {
  model::Workspace workspace(1);
  const ParameterRows row =
      parameter_rows(*model.transformer, "h." + std::to_string(layer) + ".mlp.c_proj.weight", neuron, 1);
  std::vector<float> logits(4096);
  model.transformer->unembed(row.values, workspace, logits);
  return static_cast<double>(logits[id]);
}

TEST(TwoModels, NeuronsPushWithTheWeightsOfTheirOwnModel) {
  const Scenario s = of_two_models();
  const View& view = *find_view("mlp");
  const ViewContext c = on_side(Side::difference, view, s.context(1200, 900));
  const int layer = c.selection.layer;
  const auto after = c.ask_on(Side::run, PassOfToken{c.chosen_query}),
             before = c.ask_on(Side::baseline, PassOfToken{c.chosen_query});
  const Table table = view.table(c);
  ASSERT_GT(table.rows(), 0U);
  for (const std::vector<std::string>& row : text_rows(table)) {
    const int neuron = std::stoi(row[1]), id = std::stoi(row[4]);
    const auto activation = [&](const TokenPass& pass) {
      return static_cast<double>(pass.blocks[layer].mlp_post[neuron]);
    };
    const double expected = activation(*after) * written(*bundled(), layer, neuron, id) -
                            activation(*before) * written(*second(), layer, neuron, id);
    EXPECT_NEAR(std::stod(row[6]), expected, 1e-4 * std::max(1.0, std::abs(expected))) << neuron;
  }
  EXPECT_THAT(texts(view.build(c).scene), Contains(HasSubstr("its own model's weights")));
}

TEST(TwoModels, TextsThatMayFollowArePatchedToTheirEnds) {
  model::Workspace workspace(1);
  PromptRun run = *of_two_models().run;
  const model::Edits edits{model::PatchFrom{{{Site::attn_out, 4}, {}, {}, {}}, {}, {}, true}};
  const auto patched = [&](const std::vector<int>& ids) {
    model::ForwardOptions options;
    options.plan = bundled()->transformer->plan(edits, workspace, {}, {second()->transformer.get(), ids});
    return bundled()->transformer->forward(ids, workspace, options);
  };
  std::vector<int> ids = run.run->tokens;
  run.run = patched(ids);
  const Scenario s(run);
  const auto drawn = s.ask(ContinuationsOf{.texts = 1, .tokens = 3, .temperature = 0});
  ASSERT_EQ(drawn->texts.at(0).size(), 3U);
  std::vector<float> logits(4096);
  for (const DrawnToken& token : drawn->texts[0]) {
    const auto now = patched(ids);
    bundled()->transformer->logits(*now, now->length() - 1, 1, workspace, logits);
    EXPECT_EQ(token.id, std::ranges::max_element(logits) - logits.begin());
    EXPECT_NEAR(std::log(token.probability),
                static_cast<double>(logits[token.id]) - model::log_sum_exp(logits), 1e-6);
    ids.push_back(token.id);
  }
}

// ---- the worker ----

template <class Q>
std::shared_ptr<const AnswerOf<Q>> answer_of(const Snapshot& snapshot, const Question& question) {
  const auto known = snapshot.answers.find(question);
  return known ? std::static_pointer_cast<const AnswerOf<Q>>(known->value) : nullptr;
}

class TwoModelsInTheWorker : public WorkerOfTales {
 protected:
  TwoModelsInTheWorker() {
    want_.prompt.text = kRobot;
    compare_in(second_folder());
  }
  void compare_in(const std::filesystem::path& folder) {
    want_.second_model = folder;
    want_.second = Prompt{want_.prompt.text, {}, false};
  }
  void expect_as_afresh() {
    const Question other = Question(NextAfter{-1}).on_baseline(),
                   hash = Question(HashOfWeights{}).on_baseline();
    want_.questions = {NextAfter{-1}, other, hash};
    const auto found = settled(), expected = afresh(want_);
    EXPECT_EQ(found->error, expected->error);
    for (const Question& question : {Question(NextAfter{-1}), other})
      EXPECT_EQ(answer_of<NextAfter>(*found, question)->logits,
                answer_of<NextAfter>(*expected, question)->logits);
    EXPECT_EQ(*answer_of<HashOfWeights>(*found, hash), *answer_of<HashOfWeights>(*expected, hash));
  }
};

TEST_F(TwoModelsInTheWorker, TheNextPromptLoadsNothing) {
  want_.questions = {Question(HashOfWeights{}).on_baseline()};
  const auto shown = settled();
  EXPECT_EQ(shown->second_model->name, "other");
  EXPECT_EQ(*answer_of<HashOfWeights>(*shown, want_.questions[0]), weights_hash(second_folder()));
  want_.prompt.text = "The old king";
  compare_in(second_folder());
  const auto next = settled();
  EXPECT_EQ(next->second_model, shown->second_model);
  EXPECT_EQ(next->run->baseline->model, shown->second_model);
  EXPECT_EQ(next->run->baseline->run->tokens, next->run->run->tokens);
}

TEST_F(TwoModelsInTheWorker, KeepsNothingOfAPreviousSecondModel) {
  const SecondModelFolder third("third", 2);
  expect_as_afresh();
  compare_in(third.path());
  expect_as_afresh();
  want_.prompt.edits = {model::PatchFrom{{{Site::attn_out, 2}, {}, {0, 1}, {}}, {11, 12}, {}, true}};
  expect_as_afresh();
  compare_in(second_folder());
  expect_as_afresh();
  compare_in(testing::kBundledModel);
  expect_as_afresh();
}

TEST_F(TwoModelsInTheWorker, OneThatIsNotThereIsSaidAsLongAsItIsWantedAndTheRestGoesOn) {
  compare_in(second_folder() / "nowhere");
  auto shown = settled();
  EXPECT_THAT(shown->error, HasSubstr("nowhere"));
  const auto count = shown->error_count;
  ASSERT_TRUE(shown->run);
  EXPECT_FALSE(shown->run->baseline);
  want_.prompt.text = "The old king";
  compare_in(second_folder() / "nowhere");
  want_.prompt.edits = {model::ScaleValues{{{Site::z, 1}, 2, {}, {}}, 0}};
  shown = settled();
  EXPECT_THAT(shown->error, HasSubstr("nowhere"));
  EXPECT_EQ(shown->error_count, count) << "said once";
  ASSERT_TRUE(shown->run->baseline) << "without changes, as without a second model";
  EXPECT_EQ(shown->run->baseline->model, shown->model);
  compare_in(second_folder());
  EXPECT_EQ(settled()->error, "");
}

TEST_F(TwoModelsInTheWorker, TheFirstIsLoadedWhateverBecomesOfTheSecond) {
  for (const bool closes : {true, false}) {
    std::atomic<Worker*> watched = nullptr;
    WorkerRequest other = want_;
    other.second_model = closes ? std::filesystem::path() : testing::kBundledModel;
    other.second = closes ? std::nullopt : want_.second;
    bool changed = false;
    Worker worker({.threads = 2, .wake = [&] {
                     Worker* const at = watched;
                     if (!at || changed || at->snapshot()->busy != Busy::loading) return;
                     changed = true;
                     at->want(other);
                   }});
    watched = &worker;
    worker.want(want_);
    const auto shown = worker.settle();
    EXPECT_TRUE(changed);
    ASSERT_TRUE(shown->model);
    ASSERT_TRUE(shown->run);
    EXPECT_EQ(shown->run->baseline == nullptr, closes);
  }
}

TEST_F(TwoModelsInTheWorker, TheSecondGetsTheFirstsTokens) {
  const SecondModelFolder other("b");
  const std::string merges = bytes_of_file(other.path() / "merges.txt");
  std::size_t end = 0;
  for (int line = 0; line < 100; ++line) end = merges.find('\n', end) + 1;
  std::filesystem::resize_file(other.path() / "merges.txt", end);
  compare_in(other.path());
  const auto shown = settled();
  EXPECT_EQ(shown->error, "");
  ASSERT_TRUE(shown->run->baseline);
  EXPECT_NE(tokenize(*shown->second_model, want_.prompt).ids(), shown->run->tokens.ids());
  EXPECT_EQ(shown->run->baseline->run->tokens, shown->run->run->tokens);
}

TEST_F(TwoModelsInTheWorker, AskedForAgainItIsReadAgainWhereItsFilesAreOthers) {
  const SecondModelFolder other("b");
  compare_in(other.path());
  const auto before = settled();
  ++want_.second_request;
  EXPECT_EQ(settled()->second_model, before->second_model) << "its files are the same";
  std::filesystem::remove(other.path() / "model.safetensors");
  std::filesystem::copy(testing::kBundledModel / "model.safetensors", other.path() / "model.safetensors");
  ++want_.second_request;
  const auto after = settled();
  EXPECT_NE(after->second_model, before->second_model);
  EXPECT_EQ(after->error, "");
  expect_as_afresh();
}

TEST_F(TwoModelsInTheWorker, PatchesOfItsOwnRunFollowThePrompt) {
  const model::EditSite place{{Site::attn_out, 2}, {}, {1, 2}, {}};
  for (const char* text : {"A robot must", "A robot must obey", "A wolf must obey"}) {
    SCOPED_TRACE(text);
    want_.prompt.text = text;
    want_.prompt.edits = {model::PatchFrom{place, {}, {}, true}};
    want_.questions = {NextAfter{-1}};
    compare_in(second_folder());
    const auto shown = settled();
    EXPECT_EQ(shown->error, "");
    WorkerRequest want = want_;
    want.prompt.edits = {model::PatchFrom{place, shown->run->run->tokens, {}, true}};
    EXPECT_EQ(answer_of<NextAfter>(*shown, NextAfter{-1})->logits,
              answer_of<NextAfter>(*afresh(want), NextAfter{-1})->logits);
  }
}

TEST_F(TwoModelsInTheWorker, AShorterContextLeavesTheRestWithoutACounterpart) {
  Gpt2Shape shape = SecondModelFolder::kTales;
  shape.positions = 4;
  const SecondModelFolder narrow("narrow", 1, shape);
  compare_in(narrow.path());
  const auto shown = settled();
  EXPECT_EQ(shown->error, "");
  ASSERT_TRUE(shown->run->baseline);
  EXPECT_EQ(shown->run->baseline->run->length(), 4);
  EXPECT_EQ(shown->run->aligned[3], 3);
  EXPECT_EQ(shown->run->aligned[4], -1);
}

}  // namespace
}  // namespace headscope::app::two_models_test
