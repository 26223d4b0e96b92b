#pragma once
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/arguments/command.h"
#include "app/views/export.h"

namespace headscope::app {

/// What the options that several commands take write to: into the same place, so that an option may stand
/// before the command's name as well as after it.
struct Given {
  ModelArguments model;
  PromptArguments prompt;
  std::vector<std::string> prompt_options;  ///< which of the ways to give a prompt were used
  ComparisonArguments comparison;
  Selection selection;
  bool selected = false;  ///< whether any of it was given
  TourArguments tour;
  std::filesystem::path over;  ///< a list of prompts; empty: none
  Options view_options;
  PictureArguments picture;
  bool size_given = false;
  bool scale_given = false;
  std::string out;
  std::optional<FileFormat> format;  ///< of standard output
  bool json = false;
  std::vector<std::string> choices;  ///< what was named after the command's name: views

  /// The command line as it stands; null: any may come.
  const std::vector<std::string>* arguments = nullptr;
  /// Whether a command, or what may be named after one, can be meant. The options of what cannot are not
  /// described: all there are take longer than the rest of a start.
  bool may_name(std::string_view word) const;
};

/// Makes a command of what was given, once all of it is. Throws WrongUse, Unfulfillable.
using Finish = std::function<Command()>;

/// With what several commands take.
template <class OwnOptions>
OwnOptions filled(OwnOptions command, const Given& given) {
  command.model = given.model;
  if constexpr (requires { command.prompt; }) command.prompt = given.prompt;
  if constexpr (requires { command.json; }) command.json = given.json;
  return command;
}

// What a command cannot do without. They throw WrongUse.

void require_prompt(const Given& given);
/// Or a file of patterns, and nothing that needs weights beside it.
void require_prompt_or_attention(const Given& given);

/// `example`: a file's name as in "run.safetensors". With many prompts it needs the prompt's number.
void require_out(const Given& given, const char* example);

/// Where the picture or its numbers go, in one of these formats.
Destination destination_of(const Given& given, std::initializer_list<FileFormat> formats);

/// A view's id.
void require_view(const std::string& id);

void require_at_most_one(std::span<const std::string> commands);

/// "heads, heatmap, ...".
std::string list_of_views();

/// Those that can be about a list of prompts.
std::string list_of_views_of_many();

/// Those that can stand in the middle of the window.
std::string list_of_tabs();

}  // namespace headscope::app
