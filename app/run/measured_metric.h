#pragma once
#include <optional>

#include "app/run/prompt_list.h"

// What is measured of a prediction, by options and by the lines of a list.
namespace headscope::app {

/// What is measured of a prediction, as options give it.
template <class Metric>
struct MeasuredMetric {
  Metric metric = Metric::logit;  ///< complete once the options have been checked
  std::optional<Metric> given_metric = {};
  GivenToken token = {};             ///< none: the most probable
  GivenToken other_token = {};       ///< none: the most probable other one
  std::optional<int> position = {};  ///< -1, or not given: the last
  bool operator==(const MeasuredMetric&) const = default;
};

/// What is measured of a prompt: what its line in a list says, else what the options say. Another token
/// without a metric chooses the difference, as among the options. Throws model::LoadError if the line cannot
/// be measured.
template <class Metric>
MeasuredMetric<Metric> measured_of(MeasuredMetric<Metric> measured, const ListedPrompt& line) {
  require_measurable(line);
  if (!measured.given_metric && !line.other_token.empty()) measured.metric = Metric::difference;
  if (line.position) measured.position = line.position;
  return measured;
}

/// Sets the question's tokens to those that a prompt's line names, as many as the metric has: a list may be
/// measured in several ways. Throws model::RunError.
template <class Question>
void set_tokens_of_line(Question& question, const ListedPrompt& line, int tokens, const LoadedModel& model) {
  if (tokens > 0) question.token = token_of(model, line.token, "\"token\"", question.token);
  if (tokens > 1) question.against = token_of(model, line.other_token, "\"other_token\"", question.against);
}

}  // namespace headscope::app
