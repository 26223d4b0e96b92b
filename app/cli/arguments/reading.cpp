#include <limits>
#include <memory>

#include "app/cli/arguments/argument_values.h"
#include "app/cli/arguments/commands.h"

namespace headscope::app {

Finish describe_tokens(CommandSyntax& command, Given& given) {
  command.model();
  command.prompt(true);
  command.json();
  return [&given] {
    require_prompt(given);
    return filled(TokensCommand{}, given);
  };
}

Finish describe_predict(CommandSyntax& command, Given& given) {
  const auto own = std::make_shared<PredictCommand>();
  command.reading();
  command.option("top", "K", "how many (default: 10)", [own](const std::string& text) {
    own->top = whole_number("--top", text, 1, std::numeric_limits<int>::max());
  });
  command.flag("all-positions", "after every position, with the rank (from 1) of the token that does follow",
               own->all_positions);
  return [own, &given] {
    require_prompt(given);
    return filled(*own, given);
  };
}

Finish describe_lens(CommandSyntax& command, Given& given) {
  const auto own = std::make_shared<LensCommand>();
  command.reading();
  add_lens_options(command.adding(), *own);
  return [own, &given] {
    require_prompt(given);
    return filled(*own, given);
  };
}

Finish describe_attribute(CommandSyntax& command, Given& given) {
  const auto own = std::make_shared<AttributeCommand>();
  command.reading();
  add_attribute_options(command.adding(), *own);
  return [own, &given] {
    require_prompt(given);
    return filled(*own, given);
  };
}

Finish describe_generate(CommandSyntax& command, Given& given) {
  const auto own = std::make_shared<GenerateCommand>();
  command.computing();
  command.prompt(false);
  command.edits();
  add_generate_options(command.adding(), *own);
  command.flag("echo", "write the prompt first", own->echo);
  return [own, &given] {
    require_prompt(given);
    return filled(*own, given);
  };
}

Finish describe_trace(CommandSyntax& command, Given& given) {
  const auto own = std::make_shared<TraceCommand>();
  command.computing();
  command.prompt(true);
  command.edits();
  command.option("hooks", "GLOB,...",
                 "only the hooks whose names match, as in blocks.0.attn.*,logits\n"
                 "(default: all; hook_result only when it is named)",
                 [own](const std::string& text) { own->hooks = text; });
  command.out("FILE.safetensors", "the file; with --prompts, {n} in its name is the prompt's\nnumber from 1");
  command.resume();
  return [own, &given] {
    require_prompt(given);
    require_out(given, "run.safetensors");
    if (given.out == "-")
      throw WrongUse("a trace is written at all its places at once: --out takes a file, not standard output");
    own->out = given.out;
    return filled(*own, given);
  };
}

}  // namespace headscope::app
