#pragma once
#include "app/cli/arguments/command_syntax.h"
#include "app/cli/commands/output.h"

// What commands share that measure a prediction by one token's logit, or two tokens'.
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

}  // namespace headscope::app
