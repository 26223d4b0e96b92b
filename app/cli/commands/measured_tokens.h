#pragma once
#include "app/cli/arguments/command_syntax.h"
#include "app/cli/commands/output.h"
#include "app/run/measured_metric.h"

// What commands share that measure a prediction by a metric of one token, or two.
namespace headscope::app {

/// Declares --metric, one of `metrics`, --token, --other-token and --position. `help` says what is measured.
template <class Metric, class Row, std::size_t kCount>
void measured_options(CommandSyntax& command, MeasuredMetric<Metric>& own, const Row (&metrics)[kCount],
                      const std::string& help) {
  const std::string by_default(name_of(metrics, own.metric));
  command.choice_option("metric",
                        help + " (default: " + by_default +
                            (own.metric == Metric::difference ? ")" : "; with\n--other-token difference)"),
                        own.given_metric, metrics);
  token_options(command, own, metrics);
}

/// Declares --token, --other-token and --position of such a metric.
template <class Metric, class Row, std::size_t kCount>
void token_options(CommandSyntax& command, MeasuredMetric<Metric>& own, const Row (&metrics)[kCount]) {
  command.option("token", kTokenValues, "the token (default: the most probable of the unedited run)",
                 own.token, given_token);
  command.option(
      "other-token", kTokenValues,
      "the token whose logit is subtracted (default: the most probable\nother one of the unedited run)",
      own.other_token, given_token);
  command.option("position", "I", "the position of the prediction, from 0 (default -1: the last)",
                 own.position, whole(-1));
  std::string grammar = std::string(kTokenGrammar) + "Metrics:\n";
  for (const Row& row : metrics) grammar += metric_line(row.name);
  command.footer(grammar);
}

/// Sets the question's tokens to those that were given. Throws model::RunError that begins with the option.
template <class Question, class Metric>
void set_tokens(Question& question, const MeasuredMetric<Metric>& measured, const LoadedModel& model) {
  question.token = token_of(model, measured.token, "--token", question.token);
  question.against = token_of(model, measured.other_token, "--other-token", question.against);
}

/// Sets the question's tokens to those that a prompt's line names. Throws model::RunError that begins with
/// `where`.
template <class Question>
void set_tokens_of_line(Question& question, const ListedPrompt& line, int tokens, const LoadedModel& model,
                        const std::string& where) {
  saying_where(where, [&] { set_tokens_of_line(question, line, tokens, model); });
}

/// Completes the metric. Throws UsageError for tokens and a position that it does not have: `metrics` has its
/// name, `option` gave it.
template <class Metric, class Row, std::size_t kCount>
void check_measured(MeasuredMetric<Metric>& measured, const Row (&metrics)[kCount],
                    const std::string& option = "--metric") {
  if (measured.given_metric)
    measured.metric = *measured.given_metric;
  else if (!measured.other_token.empty())
    measured.metric = Metric::difference;
  const int tokens = token_count(measured.metric);
  const std::string metric = option + " " + std::string(name_of(metrics, measured.metric));
  const bool has_token = !measured.token.empty(), has_other = !measured.other_token.empty();
  refuse({{tokens == 0 && has_token, metric + " names no token; --token does not apply"},
          {tokens == 0 && has_other, metric + " names no token; --other-token does not apply"},
          {tokens < 2 && has_other, "--other-token requires " + option + " difference"},
          {!has_position(measured.metric) && measured.position,
           metric + " is over all positions; --position does not apply"}});
}

}  // namespace headscope::app
