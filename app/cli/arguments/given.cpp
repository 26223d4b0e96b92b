#include "app/cli/arguments/given.h"

#include <algorithm>

#include "app/cli/argument_values.h"
#include "model/quote.h"

namespace headscope::app {
namespace {

using model::quote;

std::string list_of(bool (*is_meant)(const View&)) {
  std::string list;
  for (const View& view : views())
    if (is_meant(view)) list += (list.empty() ? "" : ", ") + std::string(view.id);
  return list;
}

}  // namespace

std::string list_of_views() {
  return list_of([](const View&) { return true; });
}

std::string list_of_tabs() {
  return list_of([](const View& view) { return view.place == Place::tab; });
}

void require_prompt(const Given& given) {
  if (given.prompt.from == PromptArguments::From::nothing)
    throw WrongUse("a prompt is missing: give --prompt TEXT, --ids or --prompt-file");
  const bool many = given.prompt.from == PromptArguments::From::list;
  if (!many && given.prompt.shard.count > 1)
    throw WrongUse("--shard takes its part of a list: it needs --prompts");
  if (!many && given.prompt.resume) throw WrongUse("--resume goes on with a list: it needs --prompts");
}

void require_out(const Given& given, const char* example) {
  if (given.out.empty()) throw WrongUse(std::string("--out is missing, as in --out ") + example);
  const bool many = given.prompt.from == PromptArguments::From::list;
  if (many && given.out.find("{n}") == std::string::npos) {
    throw WrongUse("with --prompts the name after --out needs {n}, the prompt's number, as in {n}-" +
                   std::string(example));
  }
}

void require_format(const Given& given, std::initializer_list<FileFormat> formats, const char* names) {
  const auto format = format_of(given.out);
  if (!format || std::ranges::find(formats, *format) == formats.end()) {
    throw WrongUse("the file after --out must end in " + std::string(names) + ", not as " + quote(given.out) +
                   " does");
  }
}

void require_view(const std::string& id) {
  if (!find_view(id)) throw WrongUse("there is no view " + quote(id) + "; there are " + list_of_views());
}

void require_at_most_one(std::span<const std::string> commands) {
  if (commands.size() > 1) {
    throw WrongUse("one command at a time: both " + commands[0] + " and " + commands[1] + " were given");
  }
}

}  // namespace headscope::app
