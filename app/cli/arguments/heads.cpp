#include <memory>

#include "app/cli/arguments/argument_values.h"
#include "app/cli/arguments/commands.h"
#include "app/cli/arguments/head_options.h"

namespace headscope::app {
namespace {

MetricsCommand finished(MetricsCommand metrics, bool csv, const Given& given) {
  if (!metrics.merge.empty()) {
    if (metrics.repeated || !given.prompt_options.empty())
      throw WrongUse("--merge is in place of " + (metrics.repeated ? "--repeated" : given.prompt_options[0]) +
                     "; give one of them");
    const EditArguments& edits = given.prompt.edits;
    const bool of_prompts = given.prompt.start_token || given.prompt.skip_errors ||
                            given.prompt.shard != Shard{} || edits.file || !edits.texts.empty();
    if (of_prompts || given.model != ModelArguments{})
      throw WrongUse("--merge adds up what was measured: only --sort, --top, --csv and --json go with it");
  } else if (!metrics.repeated) {
    require_prompt_or_attention(given);
  } else if (given.model.patterns) {
    throw WrongUse("--repeated needs the weights of a model; a file of --attention has none");
  } else if (!given.prompt_options.empty()) {
    throw WrongUse("--repeated is in place of " + given.prompt_options[0] + "; give one of them");
  } else {
    metrics.repeated->seed = metrics.seed;
    const EditArguments& edits = given.prompt.edits;
    if (edits.file || !edits.texts.empty())
      throw WrongUse("--repeated measures the model as it is; --edit and --edits change runs of prompts");
  }
  if (csv && given.json) throw WrongUse("one form at a time: both --csv and --json were given");
  using Form = MetricsCommand::Form;
  metrics.form = csv ? Form::csv : given.json ? Form::json : Form::text;
  return filled(std::move(metrics), given);
}

}  // namespace

Finish describe_metrics(CommandSyntax& command, Given& given) {
  struct Own {
    MetricsCommand metrics;
    bool csv = false;
  };
  const auto own = std::make_shared<Own>();
  command.reading();
  command.attention(false);
  for (const CommandOption& option : options_of(own->metrics))
    command.option(option.name, option.values, option.help, option.set);
  command.options("merge", "FILE.json...",
                  "in place of a prompt: what --json wrote of parts of the prompts (see\n"
                  "--shard), as if they had been measured at once",
                  [own](const std::vector<std::string>& files) {
                    own->metrics.merge.assign(files.begin(), files.end());
                  });
  command.flag("csv", "CSV on standard output", own->csv);
  return [own, &given] { return finished(own->metrics, own->csv, given); };
}

Finish describe_search(CommandSyntax& command, Given& given) {
  const auto own = std::make_shared<SearchCommand>();
  command.reading();
  for (const CommandOption& option : options_of(*own))
    command.option(option.name, option.values, option.help, option.set);
  return [own, &given] {
    require_prompt(given);
    return filled(*own, given);
  };
}

}  // namespace headscope::app
