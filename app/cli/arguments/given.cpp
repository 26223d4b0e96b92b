#include "app/cli/arguments/given.h"

#include <algorithm>

#include "app/cli/arguments/argument_values.h"
#include "model/files/quote.h"

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

bool Given::may_name(std::string_view word) const {
  return arguments == nullptr || std::ranges::any_of(*arguments, [&](std::string_view argument) {
           const std::size_t sign = argument.find('=');  // the parser sees the value by itself
           return argument == word || (sign != argument.npos && argument.substr(sign + 1) == word);
         });
}

std::string list_of_views() {
  return list_of([](const View&) { return true; });
}

std::string list_of_views_of_many() {
  std::string list;
  for (const View& view : views())
    if (view.over_list != nullptr) list += (list.empty() ? "" : ", ") + std::string(view.id);
  return list;
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

void require_prompt_or_attention(const Given& given) {
  if (!given.model.patterns) {
    if (!given.comparison.second_attention.empty())
      throw WrongUse("--second-attention is compared with the patterns of --attention, which is missing");
    return require_prompt(given);
  }
  const EditArguments& edits = given.prompt.edits;
  if (!given.prompt_options.empty())
    throw WrongUse("--attention is in place of a prompt: " + given.prompt_options[0] +
                   " was given beside it");
  if (given.comparison.second)
    throw WrongUse("--second is a prompt; with --attention there is --second-attention");
  if (given.prompt.start_token || edits.file || !edits.texts.empty() || edits.second_model)
    throw WrongUse(
        "--bos, --edit, --edits and --second-model need the weights of a model; a file of --attention has "
        "none");
}

void require_out(const Given& given, const char* example) {
  if (given.out.empty()) throw WrongUse(std::string("--out is missing, as in --out ") + example);
  const bool many = given.prompt.from == PromptArguments::From::list;
  if (given.out == "-" && (many || given.choices.size() > 1))
    throw WrongUse("standard output takes one file; with " +
                   std::string(many ? "--prompts" : "several views") + " --out names many, as in " +
                   (many ? "{n}-" : "{view}-") + example);
  if (given.choices.size() > 1 && given.out.find("{view}") == std::string::npos)
    throw WrongUse("with several views the name after --out needs {view}, the view's name, as in {view}-" +
                   std::string(example));
  if (many && given.out.find("{n}") == std::string::npos) {
    throw WrongUse("with --prompts the name after --out needs {n}, the prompt's number, as in {n}-" +
                   std::string(example));
  }
}

Destination destination_of(const Given& given, std::initializer_list<FileFormat> formats) {
  const bool standard = given.out == "-";
  std::string names;
  for (const FileFormat& format : formats)
    names += (names.empty()                  ? ""
              : &format + 1 == formats.end() ? " or "
                                             : ", ") +
             std::string(extension_of(format)).substr(standard ? 1 : 0);
  if (standard && !given.format) throw WrongUse("--out - needs --format, which takes " + names);
  if (!standard && given.format)
    throw WrongUse("--format is of standard output, --out -; a file has the format that its name ends in");
  const auto format = standard ? given.format : format_of(given.out);
  if (format && std::ranges::find(formats, *format) != formats.end()) return {given.out, *format};
  throw WrongUse(standard ? "--format takes " + names + " here"
                          : "the file after --out must end in " + names + ", not as " + quote(given.out) +
                                " does");
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
