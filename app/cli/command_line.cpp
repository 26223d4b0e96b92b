#include "app/cli/command_line.h"

#include <algorithm>

#include "app/cli/recipes.h"
#include "app/run/sources/paths.h"
#include "model/files/error.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

using model::quote;

std::string program_footer() {
  std::string known;
  for (const KnownName& name : kKnownNames)
    known += (known.empty() ? "" : ", ") + std::string(name.name) + " (" + std::string(name.view) + ")";
  return "Any view is a command, too, which writes its table, or with --out its picture:\n" +
         list_of_views() + ".\nNames for some of them: " + known +
         ".\n\nWithout a command, headscope opens its window.\nResults go to standard output, messages to "
         "standard "
         "error.\nExit status: 0 success, 1 failure (one line says what failed, where, and what to do), 2 "
         "wrong "
         "usage.\n\nExamples:\n  headscope --prompt \"A robot must obey\"\n  headscope predict --model "
         "~/models/gpt2 --prompt \"The capital of France is\" --rows 5\n  headscope heatmap --layer 2 --head "
         "1 "
         "--prompt \"Once upon a time\" --out pattern.svg\n  headscope COMMAND --help";
}

/// Help says of an option what it takes, but not which others it excludes.
class HelpLines : public CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_size() == 0 ? "" : option->get_type_name();
    return type.empty() ? "" : " " + type;
  }
};

/// A command's help, with one empty line between its groups.
std::string help_of(const CLI::App& app) {
  std::string text = app.help();
  for (std::size_t at; (at = text.find("\n\n\n")) != text.npos;) text.erase(at, 1);
  return text;
}

/// The words as CLI11 takes them, the last one first. For `--name=` without a value it would take the next
/// word as the value. `recipe` becomes the value of --recipe.
std::vector<std::string> for_parser(const CLI::App& app, std::span<const std::string> arguments,
                                    std::string& recipe) {
  constexpr std::string_view kRecipe = "--recipe";
  std::vector<std::string> reversed;
  const CLI::Option* last = nullptr;  // which the word before names
  for (const std::string& text : arguments) {
    const bool is_value = last != nullptr && last->get_items_expected_min() > 0;
    if (is_value && reversed.back() == kRecipe) recipe = text;
    if (!is_value && text.starts_with(std::string(kRecipe) + "=")) recipe = text.substr(kRecipe.size() + 1);
    const bool has_empty_value = !is_value && text.starts_with("--") && text.find('=') == text.size() - 1;
    const std::string name = has_empty_value ? text.substr(0, text.size() - 1) : text;
    if (has_empty_value || (!is_value && !text.empty())) last = app.get_option_no_throw(name);
    // CLI11 does not check a value that may be left out.
    const bool may_be_left_out = last != nullptr && !is_value && last->get_items_expected_min() == 0;
    if (may_be_left_out && (has_empty_value || text.empty()))
      throw UsageError(last->get_name() + " is empty");
    reversed.push_back(name);
    if (has_empty_value) reversed.emplace_back();
    if (is_value || has_empty_value || !name.starts_with("--")) last = nullptr;
  }
  std::ranges::reverse(reversed);
  return reversed;
}

/// The view that a command's name means; null: it means none.
const View* view_of_command(std::string_view name) {
  const auto* const known = std::ranges::find(kKnownNames, name, &KnownName::name);
  return find_view(known == std::end(kKnownNames) ? name : known->view);
}

/// Throws UsageError for a word that no option took.
void refuse_rest(const CLI::App& app) {
  for (const std::string& word : app.remaining()) {
    if (word.starts_with('-') && word.size() > 1) {
      std::vector<std::pair<std::string, std::string>> options;
      for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames())
          options.emplace_back("--" + name, option->get_description());
      const std::string name = word.substr(0, word.find('='));
      throw UsageError("unknown option " + quote(name) +
                       suggestion(name, options, app.get_name() + " --help"));
    }
    throw UsageError(
        "unexpected argument " + quote(word) +
        (app.get_option_no_throw("--prompt") != nullptr ? "; a prompt is given as --prompt TEXT" : ""));
  }
}

}  // namespace

std::variant<std::string, Task> parse_command_line(const std::vector<std::string>& arguments,
                                                   const std::shared_ptr<KeptModels>& models) {
  const auto rows = command_rows();
  std::span<const std::string> rest = arguments;
  const std::string first = arguments.empty() ? "" : arguments.front();
  const auto row = std::ranges::find(rows, first, &CommandRow::name);
  const View* const view = view_of_command(first);
  Task task;
  task.command = row != rows.end() || view != nullptr ? first : "";
  task.arguments = std::make_shared<Arguments>(models);
  const std::string called = "headscope" + (task.command.empty() ? "" : " " + task.command);
  try {
    const std::string help = view != nullptr     ? std::string(view->help)
                             : row != rows.end() ? std::string(row->help)
                                                 : "see inside GPT-2 while it runs";
    task.app = std::make_shared<CLI::App>(help, called);
    CLI::App& app = *task.app;
    app.allow_extras();
    app.allow_windows_style_options(false);  // a path may begin with a slash there, too
    app.formatter(std::make_shared<HelpLines>());
    app.set_help_flag("-h,--help", "show this help");
    if (task.command.empty()) {
      app.set_version_flag("--version", "headscope " + version(), "show the version");
      for (const CommandRow& one : rows)
        app.add_subcommand(std::string(one.name), std::string(one.help))->group("Commands")->allow_extras();
      app.footer(program_footer());
      task.run = describe_window(app, task.arguments);
    } else {
      rest = rest.subspan(1);
      task.run =
          view != nullptr ? describe_view(app, task.arguments, *view) : row->describe(app, task.arguments);
    }
    std::string recipe;
    std::vector<std::string> words = for_parser(app, rest, recipe);
    const bool helps = std::ranges::count(words, "--help") + std::ranges::count(words, "-h") > 0;
    if (!helps && !recipe.empty() && app.get_option_no_throw("--recipe") != nullptr)
      take_recipe(*task.arguments, system::path_of(recipe), view);
    app.parse(words);
    for (const CLI::App* misplaced : app.get_subcommands())
      throw UsageError("the command comes first: headscope " + misplaced->get_name() + " …");
    refuse_rest(app);
    return task;
  } catch (const CLI::CallForHelp&) {
    return help_of(*task.app);
  } catch (const CLI::CallForVersion&) {
    return "headscope " + version() + "\n";
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what() + std::string("; see ") + called + " --help");
  }
}

}  // namespace headscope::app
