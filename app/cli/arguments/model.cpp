#include <memory>

#include "app/cli/arguments/argument_values.h"
#include "app/cli/arguments/commands.h"

namespace headscope::app {

Finish describe_get(CommandSyntax& command, Given&) {
  std::string names;
  for (const KnownModel& known : known_models())
    names += (names.empty() ? "" : ", ") + std::string(known.short_name);
  const auto name = std::make_shared<std::string>();
  command.word("NAME",
               names +
                   ",\nor any other GPT-2 of the hub, as in org/name; org/name@REVISION:\na branch, a tag or "
                   "a commit of it",
               [name](const std::string& text) { *name = text; });
  command.footer(
      "What is there already is not fetched again, and what broke off goes on from where it did. The folder "
      "is\n"
      "written on standard output. HF_HOME, HF_HUB_CACHE, HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE mean what "
      "they\n"
      "mean to Hugging Face's own tools, and these find what is fetched here.");
  return [name] {
    if (name->empty()) throw WrongUse("a model's name is missing, as in headscope get gpt2");
    try {
      return GetCommand{parse_hub_model(*name)};
    } catch (const HubError& error) {
      throw WrongUse(error.what());
    }
  };
}

Finish describe_info(CommandSyntax& command, Given& given) {
  const auto own = std::make_shared<InfoCommand>();
  command.word("FILE", "a figure or a session: what it was made of, in place of a model",
               [own](const std::string& text) {
                 if (text.empty()) throw WrongUse("info takes a file's name, not nothing");
                 own->file = text;
               });
  command.model();
  command.json();
  return [own, &given] {
    if (given.model.model && !own->file.empty())
      throw WrongUse("info tells of a file or of a model: give one of them");
    return filled(*own, given);
  };
}

Finish describe_views(CommandSyntax& command, Given& given) {
  command.json();
  return [&given] { return ViewsCommand{given.json}; };
}

Finish describe_bench(CommandSyntax& command, Given& given) {
  const auto own = std::make_shared<BenchCommand>();
  command.computing();
  command.option("tokens", "N,...",
                 "lengths of the prompts (default: 16,64,256,1024, as far as\nthe context goes)",
                 [own](const std::string& text) { own->tokens = lengths("--tokens", text); });
  command.flag("materialize", "passes that return the patterns of all heads, too", own->materialize);
  command.flag("ui", "from a keystroke or another head to the window's picture, too", own->ui);
  command.json();
  return [own, &given] { return filled(*own, given); };
}

}  // namespace headscope::app
