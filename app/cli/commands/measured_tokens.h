#pragma once
#include "app/cli/arguments/command_syntax.h"
#include "app/cli/commands/figure.h"
#include "app/cli/commands/output.h"
#include "app/recipe/names.h"

// What commands share that measure a prediction by one token's logit, or two tokens', perhaps against a
// second prompt, and may draw it.
namespace headscope::app {

/// Declares --token, --other-token and --position of a command with such members.
template <class Command>
void measured_tokens(CommandSyntax& command, Command& own) {
  command.option("token", "TEXT|ID",
                 "the token, e.g. \" it\", or its id (default: the most probable\nof the unedited run)",
                 own.token, token_text);
  command.option(
      "other-token", "TEXT|ID",
      "the token whose logit is subtracted (default: the second most\nprobable of the unedited run)",
      own.other_token, token_text);
  command.option("position", "I", "the position of the prediction, from 0 (default -1: the last)",
                 own.position, whole(-1));
}

/// Sets the question's tokens to those that were given. Throws model::RunError that begins with the option.
template <class Question, class Command>
void set_tokens(Question& question, const Command& command, const model::Tokenizer& tokenizer) {
  question.token = token_of(tokenizer, command.token, "--token", question.token);
  question.against = token_of(tokenizer, command.other_token, "--other-token", question.against);
}

/// Throws UsageError for tokens and a position that the command's metric does not have: `name` is its name.
template <class Command>
void check_measured_tokens(const Command& command, std::string_view name) {
  const int tokens = token_count(command.metric);
  const std::string metric = "--metric " + std::string(name);
  if (tokens == 0 && !command.token.empty())
    throw UsageError(metric + " names no token; --token does not apply");
  if (tokens < 2 && !command.other_token.empty())
    throw UsageError("--other-token requires --metric difference");
  if (tokens == 0 && command.position)
    throw UsageError(metric + " is over all positions; --position does not apply");
}

/// Declares --align of a command with --from, a second prompt.
template <class Command>
void second_prompt_alignment(CommandSyntax& command, Command& own) {
  command.choice_option("align",
                        "match tokens at the same positions, as far as both prompts go, or those\nof the "
                        "longest common subsequence",
                        own.alignment, kAlignmentNames);
}

/// Compares the run with that of --from. Throws model::RunError that begins with `where` if their lengths
/// differ and no alignment is given.
template <class Command>
void compare_with_second(const Command& command, PromptRun& run, std::shared_ptr<const PromptRun> from,
                         const std::string& where) {
  const int length = from->run->length();
  compare_with(run, std::move(from), command.alignment.value_or(Alignment::position));
  if (!command.from || command.alignment || length == run.run->length()) return;
  throw model::RunError(where + "the --from prompt has " + grouped(length) + " tokens, but the prompt has " +
                        grouped(run.run->length()) + "; give --align to match them");
}

/// Declares how a command draws its picture, or writes its numbers, and --resume.
template <class Command>
void drawn_output(CommandSyntax& command, Command& own) {
  command.picture();
  command.no_recipe(own.no_recipe);
  command.picture_out("png|svg|pdf|csv",
                      "a picture, or its data as csv (default: a list, the\nstrongest first); with "
                      "--prompts, {n} in its name is the prompt's number from 1");
  command.resume();
}

/// Completes the output of a command that draws a picture or writes its numbers, and checks what goes with
/// it. Throws UsageError.
template <class Command>
void check_drawn(Command& command, const char* example) {
  if (command.prompt.resume && (command.out_name.empty() || command.json))
    throw UsageError("--resume requires --out and cannot be combined with --json");
  if (command.alignment && !command.from) throw UsageError("--align requires --from");
  if (!command.out_name.empty()) {
    command.out = destination_of(command, example, kPicturesOrNumbers);
    check_pixels(command.picture, command.out.format);
  }
  if (command.out_name == "-" && command.json)
    throw UsageError("standard output takes only one result: both --json and --out - were given");
}

}  // namespace headscope::app
