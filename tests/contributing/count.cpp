#include <ostream>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/engine.h"

namespace headscope::app {
namespace {

/// The number of tokens in prompts.
struct CountCommand : Arguments {
  int longer = 0;  ///< counts prompts with more tokens than this
};

void run_count(const CountCommand& command, const Streams& streams) {
  const Engine engine = start_engine(command, streams);
  for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const Prompt& prompt) {
    const int tokens = tokenize_whole(*engine.model, prompt, source.where()).length();
    if (tokens > command.longer) streams.out << tokens << '\n';
  });
}

}  // namespace

Finish describe_count(CommandSyntax& command) {
  const auto own = std::make_shared<CountCommand>();
  command.computing();
  command.prompt(true);
  command.option("longer", "N", "prompts of more than N tokens (default: 0)", own->longer, whole(0));
  return command.finish(own, require_prompt, run_count);
}

}  // namespace headscope::app
