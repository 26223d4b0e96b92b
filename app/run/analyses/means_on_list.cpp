#include "app/run/analyses/means_on_list.h"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

#include "app/counted.h"
#include "app/run/analyses/logit_lens.h"
#include "app/run/analyses/measured_cells.h"
#include "app/run/analyses/over_prompts.h"
#include "model/files/error.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

/// The position after which a prompt is measured; -1: its last. Throws RunError if it has no such position.
int position_in(const PromptRun& run, int wanted) {
  const int length = run.run->length();
  if (wanted >= length)
    throw model::RunError("there is no position " + std::to_string(wanted) + ": the last one is " +
                          std::to_string(length - 1));
  return wanted < 0 ? length - 1 : wanted;
}

/// Compares a prompt with the second one of its line. Throws RunError if it has none of the same length.
void compare_with_line(PromptRun& run, const ListedPrompt& line, model::Workspace& workspace,
                       const std::stop_token& stop) {
  if (!line.second) throw model::RunError("it has no second prompt to patch from");
  auto second = std::make_shared<PromptRun>();
  second->model = run.model;
  second->prompt = {*line.second, {}, run.prompt.start_token};
  second->tokens = tokenize(*run.model, second->prompt);
  if (second->tokens.run_length < second->tokens.length())
    throw model::RunError(beyond_context(second->tokens, *run.model));
  const int length = second->tokens.length();
  if (length != run.run->length())
    throw model::RunError("its second prompt has " + counted(length, "token") + ", but the prompt has " +
                          grouped(run.run->length()));
  model::ForwardOptions options;
  options.stop = stop;
  second->run = run.model->transformer->forward(second->tokens.ids(), workspace, options);
  compare_with(run, std::move(second), Alignment::position);
}

/// Means over a list: `measure(run, line, where, answer)` returns the numbers of one prompt;
/// the answer is that of those before it.
template <class Measure>
MeansOnList means_over(const OverPrompts& over, const PromptRun& of,
                       const Computation<MeansOnList>& computation, const Measure& measure) {
  const std::vector<ListedPrompt>& prompts = over.list->prompts;
  const auto add = [&](const PromptRun& run, std::size_t index, MeansOnList& answer) {
    const ListedPrompt& line = prompts[index];
    const std::string where = "prompt " + grouped(static_cast<std::int64_t>(index) + 1) + ": ";
    MeasuredCells measured;
    try {
      require_measurable(line);
      measured = measure(run, line, where, answer);
    } catch (const model::Stopped&) {
      throw;  // goes on where it was
    } catch (...) {
      answer.begun.reset();
      throw;
    }
    answer.begun.reset();
    answer.means.add(measured, where);
  };
  MeansOnList answer = over_prompts(over, prompts.size(), of, computation, add, [](MeansOnList&) {});
  if (answer.means.empty())
    throw model::RunError("no prompt of " + model::quote(over.list->name) +
                          " can be measured: " + answer.progress.problem);
  return answer;
}

}  // namespace

std::size_t MeansOnList::bytes() const {
  return means.bytes() + progress.problem.size() + layers.size() * sizeof(SampleMean) +
         (begun ? begun->bytes() : 0);
}

MeansOnList SweepOnList::compute(const PromptRun& run, const Computation<MeansOnList>& computation) const {
  if (asked.over == SweepOver::neurons) throw model::RunError(kNoMeanOfNeurons);
  constexpr std::chrono::milliseconds kPause{250};  // between two parts of a prompt's sweep
  auto shown = std::chrono::steady_clock::now();
  const auto measure = [&](const PromptRun& listed, const ListedPrompt& line, const std::string&,
                           MeansOnList& answer) {
    PromptRun one = listed;
    SweepOf question = asked;
    question.largest_of = metric;
    question.estimates = false;
    question.position = position_in(one, line.position.value_or(-1));
    set_tokens_of_line(question, line, token_count(metric), *one.model);
    if (question.edit == SweepEdit::patch) {
      compare_with_line(one, line, computation.workspace, computation.stop);
      question.from = patch_prompt_of(one);
    }
    const std::optional<Sweep> begun = answer.begun;
    const auto all = static_cast<double>(over.list->prompts.size()),
               before = static_cast<double>(answer.progress.done);
    const Sweep sweep =
        question.compute(one, {computation.workspace, computation.stop, begun ? &*begun : nullptr, nullptr,
                               [&](Sweep part, double done) {
                                 answer.begun = std::move(part);
                                 const auto now = std::chrono::steady_clock::now();
                                 if (now - shown < kPause) return;
                                 shown = now;
                                 computation.show(answer, (before + done) / all);
                               }});
    return cells_of(question, sweep, metric);
  };
  return means_over(over, run, computation, measure);
}

MeansOnList LensOnList::compute(const PromptRun& run, const Computation<MeansOnList>& computation) const {
  return means_over(over, run, computation,
                    [&](const PromptRun& one, const ListedPrompt& line, const std::string&, MeansOnList&) {
                      const int position = position_in(one, line.position.value_or(-1));
                      const LensOf question =
                          LensOf::around(position, token_of(*one.model, line.token, "\"token\"", token));
                      const LogitLens lens = question.compute(one, {computation.workspace, computation.stop});
                      return cells_of(lens, position);
                    });
}

MeansOnList AttributionOnList::compute(const PromptRun& run,
                                       const Computation<MeansOnList>& computation) const {
  MeasuredMetric<GradientMetric> asked;
  if (against.by != TokenChoice::By::none) asked.given_metric = asked.metric = GradientMetric::difference;
  return means_over(
      over, run, computation,
      [&](const PromptRun& one, const ListedPrompt& line, const std::string& where, MeansOnList& answer) {
        const auto measured = measured_of(asked, line);
        const bool subtracts = measured.metric == GradientMetric::difference;
        AttributionOf question{position_in(one, measured.position.value_or(-1)), token, against};
        if (subtracts && against.by == TokenChoice::By::none) question.against = TokenChoice::other();
        set_tokens_of_line(question, line, token_count(measured.metric), *one.model);
        const Attribution parts = question.compute(one, {computation.workspace, computation.stop});
        if (answer.subtracts.value_or(subtracts) != subtracts)
          throw std::runtime_error(where +
                                   (subtracts ? "it names another token, the first prompt none"
                                              : "it names no other token, but the first prompt does") +
                                   "; means are of one measurement");
        answer.subtracts = subtracts;
        answer.layers.resize(static_cast<std::size_t>(parts.layers));
        for (int layer = 0; layer < parts.layers; ++layer) answer.layers[layer].add(parts.layer(layer));
        return cells_of(parts);
      });
}

}  // namespace headscope::app
