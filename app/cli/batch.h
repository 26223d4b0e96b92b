#pragma once
#include <functional>

#include "app/cli/arguments/prompt_source.h"
#include "app/cli/program.h"

namespace headscope::app {

/// What is done with one of the prompts that a command was given.
using PromptWork = std::function<void(const PromptSource& source, const Prompt& prompt)>;

/// Does it with each of them in turn: of a list with those of the shard. A terminal sees how far it is, a log
/// a line now and then. A prompt that cannot be read or run is the end of it (model::LoadError,
/// model::RunError), or where errors are skipped a sentence on `err`, and at the end one that counts them; a
/// RunError where none of a whole list went well. Returns how many were skipped.
int for_each_prompt(const PromptArguments& arguments, const Streams& streams, const PromptWork& work);

}  // namespace headscope::app
