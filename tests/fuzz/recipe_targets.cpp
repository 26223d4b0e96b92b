// Sessions and figures' recipes: an untrusted one may change what is shown, but never which files are
// written.
#include <algorithm>
#include <array>
#include <functional>
#include <variant>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/words.h"
#include "app/cli/commands/figure.h"
#include "app/cli/commands/recipes.h"
#include "app/recipe/recipe.h"
#include "app/run/sources/model_discovery.h"
#include "model/files/error.h"
#include "system/path_text.h"
#include "tests/fuzz/targets.h"

namespace headscope::fuzz {
namespace {

using namespace headscope::app;

/// Options of `plot` and `shot` that a recipe must not set, such as paths and settings for the machine.
constexpr std::array<std::string_view, 12> kOfTheUser{
    "--out",    "--model", "--get",         "--prompt-file", "--prompts", "--edits",
    "--recipe", "--shard", "--skip-errors", "--threads",     "--tour",    "--no-recipe"};

void promise_recipe(const Recipe& recipe) {
  const std::string json = to_json(recipe);
  const Recipe again = parse_recipe(json, "again");
  promise(to_json(again) == json, "a session is read back as it was written");
  promise(is_printable(command_of(recipe)), "the command of a figure can be shown");

  Recipe figure = recipe;
  if (!figure.figure) figure.figure = Figure{};
  const std::string note = recipe_note(figure).text;
  promise(std::ranges::all_of(note, [](char c) { return c >= 0x20 && c < 0x7f; }),
          "a note is of printable ASCII");
  const std::vector<std::string> arguments = arguments_of(figure);
  const std::vector<Word> words = words_of(arguments);
  for (const char* option : {"--out", "-o"})
    promise(!has_option(words, option), "no recipe says where to write");
  for (const std::string& word : arguments)
    for (const std::string_view option : kOfTheUser)
      promise(word != option && !word.starts_with(std::string(option) + "="),
              "what is the user's stands in no recipe");

  if (std::hash<std::string>()(note) % 8 != 0)
    return;  // parsing a whole command line takes as long as a hundred inputs
  static const std::vector<Word> kOut{{"--out", "x.png", {"--out", "x.png"}}};
  const ParsedCommand command = command_from(figure, kOut);
  // Attention files are named without a folder and searched in the user's folders.
  const auto names_no_place = [](const ModelArguments& model, const ComparisonArguments& compared) {
    return (model.patterns ? system::is_file_name(*model.model) : !model.model) &&
           (compared.second_attention.empty() || system::is_file_name(compared.second_attention.string()));
  };
  if (const auto* plot = command_arguments<PlotCommand>(command))
    promise(plot->out.file == "x.png" && names_no_place(plot->model, plot->comparison) &&
                plot->prompt.file.empty() && !plot->prompt.edits.file,
            "a figure is written where the user says");
  else if (const auto* shot = command_arguments<ShotCommand>(command))
    promise(shot->out.file == "x.png" && names_no_place(shot->model, shot->comparison) &&
                shot->prompt.file.empty() && !shot->prompt.edits.file && shot->tour.name.empty(),
            "a figure is written where the user says");
  else
    promise(std::holds_alternative<CommandReply>(command), "a figure's recipe makes a figure");
}

}  // namespace

Outcome check_session(std::string_view json) {
  return read_or_refused<model::LoadError>([&] { promise_recipe(parse_recipe(json, "file")); });
}

Outcome check_figure(std::string_view file) {
  return read_or_refused<model::LoadError>([&] { promise_recipe(recipe_of(file, "file")); });
}

}  // namespace headscope::fuzz
