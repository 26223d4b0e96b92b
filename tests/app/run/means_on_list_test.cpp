// Means over a list of prompts compared with a plain float64 mean of each prompt's answer.
#include "app/run/analyses/means_on_list.h"

#include <array>
#include <cmath>

#include "app/run/analyses/logit_lens.h"
#include "app/run/analyses/next_token.h"
#include "app/run/place_names.h"
#include "model/files/error.h"
#include "tests/app/prompt_lists.h"
#include "tests/app/view_fixture.h"
#include "tests/support/naive_mean.h"

namespace headscope::app::means_on_list_test {
namespace {

using std::string;

const std::vector<string> kNames{"Fox", "Badger", "Wolf", "Lion"};

int id_of_token(const string& text) {
  const auto tokens = bundled()->tokenizer->encode(text);
  EXPECT_EQ(tokens.size(), 1U) << text;
  return tokens.at(0).id;
}

/// A prompt for each name, patched from that with the next name, whose logits are compared.
PromptList pairs() {
  PromptList list{"pairs.jsonl", {}};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const string &here = kNames[i], &there = kNames[(i + 1) % kNames.size()];
    ListedPrompt& line = list.prompts.emplace_back();
    line.text = testing::king_gave_to(here);
    line.second = testing::king_gave_to(there);
    line.token = {GivenToken::By::text, " " + there, 0};
    line.other_token = {GivenToken::By::text, " " + here, 0};
  }
  return list;
}

OverPrompts over(PromptList list) {
  return {std::make_shared<const PromptList>(std::move(list)), false};
}

/// Any run of the model.
const Scenario& any() {
  static const Scenario s("A dog");
  return s;
}

void expect_mean(const SampleMean& found, const std::vector<double>& numbers, const string& what) {
  const auto [mean, error] = testing::mean_and_error(numbers);
  EXPECT_EQ(found.count(), std::ssize(numbers)) << what;
  EXPECT_NEAR(found.mean(), mean, 1e-12) << what;
  EXPECT_NEAR(found.standard_error(), error, 1e-12) << what;
}

template <class Q>
string failure_of(const Q& question) {
  model::Workspace workspace(1);
  const Answer answer = Question(question).compute(*any().run, {.workspace = workspace});
  EXPECT_EQ(answer.value, nullptr);
  return answer.failure;
}

/// The sweep of one line, asked in the plain way.
Sweep alone(const ListedPrompt& line, SweepOf question) {
  Scenario s{Prompt{line.text, {}, false}};
  question.position = s.length() - 1;
  if (line.second) {
    s.compare(Prompt{*line.second, {}, false});
    question.from = patch_prompt_of(*s.run);
  }
  if (!line.token.empty()) question.token = TokenChoice::of(id_of_token(line.token.text));
  if (!line.other_token.empty()) question.against = TokenChoice::of(id_of_token(line.other_token.text));
  return *s.ask(question);
}

TEST(MeansOnList, OfSweepsAreThoseOfEachPrompt) {
  const OverPrompts list = over(pairs());
  for (const SweepEdit edit : {SweepEdit::zero, SweepEdit::patch})
    for (const SweepMetric metric : {SweepMetric::difference, SweepMetric::divergence}) {
      SweepOf asked;
      asked.edit = edit;
      const auto found = any().ask(SweepOnList{list, asked, metric});
      std::vector<Sweep> each;
      for (ListedPrompt line : list.list->prompts) {
        if (edit == SweepEdit::zero) line.second.reset();
        each.push_back(alone(line, asked));
      }
      const model::Config& config = any().config();
      ASSERT_EQ(found->means.size(), static_cast<std::size_t>(config.n_layer * config.n_head) + 1);
      EXPECT_EQ(found->prompts(), 4U);
      std::size_t cell = 0;
      for (int layer = 0; layer < config.n_layer; ++layer)
        for (int head = 0; head < config.n_head; ++head, ++cell) {
          EXPECT_EQ(found->means.cell(cell).name, head_name(layer, head));
          std::vector<double> numbers;
          numbers.reserve(each.size());
          for (const Sweep& sweep : each) numbers.push_back(sweep.difference(metric, layer, head));
          expect_mean(found->means.mean(cell), numbers, head_name(layer, head));
        }
      std::vector<double> before;
      for (const Sweep& sweep : each) before.push_back(sweep.before.of(metric));
      expect_mean(found->means.mean(cell), before, "in the run");
    }
}

TEST(MeansOnList, OfTheLensAreThoseOfEachPrompt) {
  const OverPrompts list = over(pairs());
  const auto found = any().ask(LensOnList{list});
  const int places = 2 * any().config().n_layer + 1;
  ASSERT_EQ(found->means.size(), static_cast<std::size_t>(3 * places));
  std::vector<std::vector<double>> numbers(found->means.size());
  for (const ListedPrompt& line : list.list->prompts) {
    const Scenario s(line.text);
    const int last = s.length() - 1;
    const auto lens = s.ask(LensOf::around(last, TokenChoice::of(id_of_token(line.token.text))));
    for (int place = 0; place < places; ++place) {
      const model::LensReading& reading = lens->at(last, place);
      const std::array all{static_cast<double>(reading.guesses.next_probability),
                           reading.guesses.next_rank + 1.0, bits(reading.divergence)};
      for (std::size_t i = 0; i < all.size(); ++i)
        numbers[static_cast<std::size_t>(place) * 3 + i].push_back(all[i]);
    }
  }
  for (std::size_t i = 0; i < numbers.size(); ++i)
    expect_mean(found->means.mean(i), numbers[i], found->means.cell(i).name);
}

TEST(MeansOnList, OfAttributionsAreThoseOfEachPrompt) {
  const OverPrompts list = over(pairs());
  const auto found = any().ask(AttributionOnList{list});
  EXPECT_EQ(found->subtracts, true) << "the lines name another token";
  const model::Config& config = any().config();
  std::vector<double> embedding, head, mlp, layer, logit;
  for (const ListedPrompt& line : list.list->prompts) {
    const Scenario s(line.text);
    const auto a = s.ask(AttributionOf{s.length() - 1, TokenChoice::of(id_of_token(line.token.text)),
                                       TokenChoice::of(id_of_token(line.other_token.text))});
    embedding.push_back(a->token_embedding);
    head.push_back(a->head(2, 3));
    mlp.push_back(a->mlps[1]);
    layer.push_back(a->layer(4));
    logit.push_back(a->logit);
  }
  const auto cell = [&](int l, int col) {
    return 2 + static_cast<std::size_t>(l * (config.n_head + 2) + col);
  };
  expect_mean(found->means.mean(0), embedding, "token embedding");
  expect_mean(found->means.mean(cell(2, 3)), head, "L2 H3");
  expect_mean(found->means.mean(cell(1, config.n_head + 1)), mlp, "L1 MLP");
  expect_mean(found->means.mean(found->means.size() - 1), logit, "the model's");
  ASSERT_EQ(std::ssize(found->layers), config.n_layer);
  expect_mean(found->layers[4], layer, "layer 4");
}

TEST(MeansOnList, PromptsThatCannotBeMeasuredAreSkippedAndCounted) {
  PromptList list = pairs();
  list.prompts.insert(list.prompts.begin() + 1, ListedPrompt{{.text = "The king", .ids = {}}});
  list.prompts.push_back({{.text = testing::king_gave_to("Fox"), .ids = {}}, "too short"});
  list.prompts.push_back({{.text = "", .ids = std::vector<int>(any().config().n_ctx + 1, 5)}});
  SweepOf patch;
  patch.edit = SweepEdit::patch;
  const auto found = any().ask(SweepOnList{over(list), patch});
  EXPECT_EQ(found->prompts(), 4U);
  EXPECT_EQ(found->progress.skipped, 3U);
  EXPECT_EQ(found->progress.problem, "prompt 2: it has no second prompt to patch from");
  EXPECT_EQ(found->means.mean(0).count(), 4);
  const auto same = any().ask(SweepOnList{over(pairs()), patch});
  EXPECT_EQ(found->means.mean(0).mean(), same->means.mean(0).mean());
  list.prompts = {list.prompts[5]};
  EXPECT_THAT(failure_of(SweepOnList{over(list), patch}), HasSubstr("its second prompt has "));
}

TEST(MeansOnList, OverPositionsNeedPromptsOfOneLength) {
  SweepOf asked;
  asked.over = SweepOver::positions;
  asked.site = model::Site::resid_pre;
  const PromptList lengths{"two.txt",
                           {{{.text = "The king", .ids = {}}}, {{.text = "The king had a dog", .ids = {}}}}};
  EXPECT_THAT(failure_of(SweepOnList{over(lengths), asked}),
              AllOf(StartsWith("prompt 2: it has "), EndsWith("need prompts of the same length")));
  const PromptList same{"two.txt", {{{.text = "The king", .ids = {}}}, {{.text = "The dog", .ids = {}}}}};
  const auto found = any().ask(SweepOnList{over(same), asked});
  EXPECT_EQ(found->means.size(), static_cast<std::size_t>(any().config().n_layer * 2 + 1));
  asked.over = SweepOver::neurons;
  EXPECT_EQ(failure_of(SweepOnList{over(same), asked}), kNoMeanOfNeurons);
}

TEST(MeansOnList, GoOnWhereTheyWereStopped) {
  const SweepOnList question{over(pairs()), {}};
  const auto whole = any().ask(question);
  model::Workspace workspace(1);
  std::optional<MeansOnList> part;
  std::stop_source stop;
  const Computation<MeansOnList> first{workspace, stop.get_token(), nullptr, nullptr,
                                       [&](MeansOnList shown, double done) {
                                         EXPECT_GT(done, 0);
                                         part = std::move(shown);
                                         if (part->progress.done >= 2) stop.request_stop();
                                       }};
  try {
    static_cast<void>(question.compute(*any().run, first));
  } catch (const model::Stopped&) {
    ASSERT_TRUE(part);
    EXPECT_LT(part->progress.done, 4U);
  }
  const MeansOnList rest = question.compute(*any().run, {workspace, {}, part ? &*part : nullptr});
  ASSERT_EQ(rest.means.size(), whole->means.size());
  for (std::size_t i = 0; i < rest.means.size(); ++i) {
    EXPECT_EQ(rest.means.mean(i).mean(), whole->means.mean(i).mean());
    EXPECT_EQ(rest.means.mean(i).standard_error(), whole->means.mean(i).standard_error());
  }
}

}  // namespace
}  // namespace headscope::app::means_on_list_test
