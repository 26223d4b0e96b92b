#include "app/run/analyses/metric_choice.h"

#include <utility>
#include <vector>

#include "app/counted.h"
#include "app/run/analyses/predictions.h"
#include "model/files/error.h"
#include "model/pass/each_kind.h"

namespace headscope::app {
namespace {

/// The run whose guesses ranks count.
const PromptRun& ranking_run(const PromptRun& run) {
  return run.baseline && !compares_different_inputs(run) ? *run.baseline : run;
}

std::vector<float> baseline_logits(const PromptRun& run, int position, model::Workspace& workspace) {
  if (!run.baseline) throw model::RunError("KL needs a baseline to compare the run with, but there is none");
  const int there = counterpart_of(run, position);
  if (there < 0)
    throw model::RunError("KL compares the predictions after position " + std::to_string(position) +
                          ", which has no counterpart in the baseline's " +
                          counted(run.baseline->run->length(), "token") +
                          "; choose another position, or match equal tokens (--align token)");
  return logits_after(*run.baseline, there, workspace);
}

}  // namespace

model::Metric metric_for(const MetricChoice& choice, const PromptRun& run, model::Workspace& workspace) {
  const int length = run.run->length(), at = choice.position < 0 ? length - 1 : choice.position;
  if (choice.metric == GradientMetric::loss) return model::PromptLoss{};
  if (at >= length)
    throw model::RunError("there is no position " + std::to_string(at) + ": the last one is " +
                          std::to_string(length - 1));
  if (choice.metric == GradientMetric::divergence)
    return model::Divergence{baseline_logits(run, at, workspace), at};
  const std::vector<float> logits = logits_after(ranking_run(run), at, workspace);
  const int token = id_of(choice.token, logits);
  if (choice.metric == GradientMetric::difference)
    return model::LogitDifference{token, other_id_of(choice.against, logits, token), at};
  if (choice.metric == GradientMetric::logit) return model::TokenLogit{token, at};
  return model::LogProbability{token, at};
}

double unit_of(const model::Metric& metric) {
  const bool is_of_logits = std::holds_alternative<model::TokenLogit>(metric) ||
                            std::holds_alternative<model::LogitDifference>(metric);
  return is_of_logits ? 1 : bits(1);
}

std::string describe(const model::Metric& metric, const PromptRun& run) {
  const auto token = [&](int id) {
    return token_label(*run.model->tokenizer, id) + " (id " + std::to_string(id) + ")";
  };
  const auto after = [](int position) { return " after position " + std::to_string(position); };
  return std::visit(
      model::EachKind{
          [&](const model::TokenLogit& of) { return "logit of " + token(of.token) + after(of.position); },
          [&](const model::LogitDifference& of) {
            return "logit of " + token(of.token) + " minus " + token(of.against) + after(of.position);
          },
          [&](const model::LogProbability& of) {
            return "log probability of " + token(of.token) + after(of.position) + ", nats";
          },
          [](const model::PromptLoss&) { return std::string("loss of the prompt, nats"); },
          [&](const model::Divergence& of) { return "KL(baseline || run)" + after(of.position) + ", nats"; },
      },
      metric);
}

}  // namespace headscope::app
