#pragma once
#include "app/cli/arguments/command_syntax.h"
#include "app/cli/commands/figure.h"
#include "app/cli/commands/output.h"
#include "app/recipe/names.h"
#include "app/run/measured_metric.h"

// What commands share that measure a prediction by a metric of one token, or two, perhaps against a second
// prompt, and may draw it.
namespace headscope::app {

/// Declares --metric, one of `metrics`, --token, --other-token and --position. `help` says what is measured.
/// The default is `usual`, or the difference if --other-token is given.
template <class Metric, class Row, std::size_t kCount>
void measured_options(CommandSyntax& command, MeasuredMetric<Metric>& own, const Row (&metrics)[kCount],
                      const std::string& help) {
  const std::string usual(name_of(metrics, own.metric));
  command.choice_option("metric",
                        help + " (default: " + usual +
                            (own.metric == Metric::difference ? ")" : "; with\n--other-token difference)"),
                        own.given_metric, metrics);
  command.option("token", kTokenValues, "the token (default: the most probable of the unedited run)",
                 own.token, given_token);
  command.option(
      "other-token", kTokenValues,
      "the token whose logit is subtracted (default: the most probable\nother one of the unedited run)",
      own.other_token, given_token);
  command.option("position", "I", "the position of the prediction, from 0 (default -1: the last)",
                 own.position, whole(-1));
  command.footer(kTokenGrammar + metric_grammar(metrics));
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
/// name.
template <class Metric, class Row, std::size_t kCount>
void check_measured(MeasuredMetric<Metric>& measured, const Row (&metrics)[kCount]) {
  if (measured.given_metric)
    measured.metric = *measured.given_metric;
  else if (!measured.other_token.empty())
    measured.metric = Metric::difference;
  const int tokens = token_count(measured.metric);
  const std::string metric = "--metric " + std::string(name_of(metrics, measured.metric));
  for (const auto& [option, token] :
       {std::pair("--token", &measured.token), std::pair("--other-token", &measured.other_token)})
    if (tokens == 0 && !token->empty())
      throw UsageError(metric + " names no token; " + option + " does not apply");
  if (tokens < 2 && !measured.other_token.empty())
    throw UsageError("--other-token requires --metric difference");
  if (!has_position(measured.metric) && measured.position)
    throw UsageError(metric + " is over all positions; --position does not apply");
}

/// Declares --second, a prompt that a command compares with, and --align.
template <class Command>
void second_prompt_options(CommandSyntax& command, Command& own, const std::string& help) {
  command.option("second", "TEXT", help, own.second);
  command.choice_option("align",
                        "match tokens at the same positions, as far as both prompts go, or those\nof the "
                        "longest common subsequence",
                        own.alignment, kAlignmentNames);
}

/// The text of a prompt's second prompt: that of its line, else that of --second; nothing: none. `name` is
/// what messages call it.
struct SecondText {
  std::optional<std::string> text;
  std::string name = "--second";
};
template <class Command>
SecondText second_of(const Command& command, const ListedPrompt& line) {
  return line.second ? SecondText{line.second, "\"second\""} : SecondText{command.second};
}

/// Compares the run with that of its second prompt. Throws model::RunError that begins with `where` if their
/// lengths differ and no alignment is given.
template <class Command>
void compare_with_second(const Command& command, PromptRun& run, std::shared_ptr<const PromptRun> second,
                         const std::string& where, const SecondText& given) {
  const int length = second->run->length();
  compare_with(run, std::move(second), command.alignment.value_or(Alignment::position));
  if (!given.text || command.alignment || length == run.run->length()) return;
  throw model::RunError(where + "the " + given.name + " prompt has " + grouped(length) +
                        " tokens, but the prompt has " + grouped(run.run->length()) +
                        "; give --align to match them");
}

/// Declares how a command draws its picture, or writes its numbers.
template <class Command>
void drawn_output(CommandSyntax& command, Command& own) {
  command.picture();
  command.no_recipe(own.no_recipe);
  command.picture_out(
      "png|svg|pdf|csv|txt|json",
      "a picture, its data as csv, or the\nanswer as txt or json (default: a list, the "
      "strongest first); with --prompts, {n}\nin a picture's name is the prompt's number from 1");
}

/// Completes the output of a command that draws a picture or writes its numbers, and checks what goes with
/// it. Throws UsageError.
template <class Command>
void check_drawn(Command& command, const char* example) {
  const bool answer = is_answer_format(answer_format(command));
  const bool list = command.prompt.from == PromptArguments::From::list;  // whose lines may name a second one
  if (command.alignment && !command.second && !list) throw UsageError("--align requires --second");
  if (command.out_name.empty() || answer) {
    if (command.out_format) throw UsageError("--format applies only to --out -");
    reject_picture_options(command, "is for a picture; name its file after --out");
    if (command.no_recipe) throw UsageError("--no-recipe is for a picture; name its file after --out");
  } else {
    command.out = destination_of(command, example, kPicturesOrNumbers);
    if (command.out.format == FileFormat::csv) reject_picture_options(command, kNoPicture);
    set_for_target(command);
    check_pixels(command.picture, command.out.format);
    if (command.out_name == "-" && command.json)
      throw UsageError("standard output takes only one result: both --json and --out - were given");
  }
}

}  // namespace headscope::app
