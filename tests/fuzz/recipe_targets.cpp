// Sessions and figures' recipes: an untrusted one may change what is shown, but never which files are read
// and written.
#include <algorithm>

#include "app/cli/recipes.h"
#include "app/recipe/recipe.h"
#include "app/run/sources/model_discovery.h"
#include "system/path_text.h"
#include "tests/fuzz/targets.h"
#include "tests/support/temporary_folder.h"

namespace headscope::fuzz {
namespace {

using namespace headscope::app;

void promise_recipe(const Recipe& recipe) {
  const std::string json = to_json(recipe);
  promise(to_json(recipe_of(json, "again")) == json, "a session is read back as it was written");
  promise(is_printable(command_of(recipe)), "the command of a figure can be shown");
  Recipe figure = recipe;
  if (!figure.figure) figure.figure = Figure{};
  promise(std::ranges::all_of(recipe_note(figure).text, [](char c) { return c >= 0x20 && c < 0x7f; }),
          "a note is of printable ASCII");
}

/// Models and attention files are named without a folder, and searched in the user's folders.
void promise_harmless(const Arguments& a) {
  promise(a.model.by_name && !a.model.get && !a.second_model, "a recipe's models are known by name");
  promise(!a.model.patterns || system::is_file_name(*a.model.name),
          "a recipe's attention file has no folder");
  for (const std::filesystem::path& file :
       {a.second_attention, a.edits_file, a.mean_over, a.over, a.prompt.file, a.recipe})
    promise(file.empty(), "a recipe names no file to read");
  promise(a.out.empty() && a.format.empty() && a.merge.empty() && a.tour.empty() && a.threads == 0,
          "a recipe does not say where to write");
}

}  // namespace

Outcome check_recipe(std::string_view file) {
  static const testing::TemporaryFolder folder(memory_folder());
  const std::filesystem::path path = folder.write("figure", file);
  return read_or_refused<std::runtime_error>([&] {
    const Recipe recipe = recipe_of(file, "figure");
    promise_recipe(recipe);
    Arguments arguments(nullptr);
    take_recipe(arguments, path, find_view(recipe.session.view));
    promise_harmless(arguments);
  });
}

}  // namespace headscope::fuzz
