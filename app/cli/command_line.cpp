#include "app/cli/command_line.h"

#include <algorithm>

#include "app/cli/recipes.h"
#include "app/run/version.h"
#include "model/files/quote.h"
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

/// For `--name=` without a value CLI11 takes the next argument as the value.
std::vector<std::string> for_parser(std::span<const std::string> arguments) {
  std::vector<std::string> reversed;
  for (const std::string& text : arguments) {
    if (text.starts_with("--") && text.find('=') == text.size() - 1) {
      reversed.push_back(text.substr(0, text.size() - 1));
      reversed.emplace_back();
    } else {
      reversed.push_back(text);
    }
  }
  std::ranges::reverse(reversed);
  return reversed;
}

/// Throws UsageError for a word that no option took.
void refuse_rest(const CLI::App& app) {
  for (const std::string& word : app.remaining()) {
    if (word.starts_with('-') && word.size() > 1) {
      std::vector<std::string> names;
      for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
      const std::string meant = nearest(word.substr(0, word.find('=')), names);
      throw UsageError("unknown option " + quote(word.substr(0, word.find('='))) +
                       (meant.empty() ? "" : "; did you mean " + meant + "?"));
    }
    throw UsageError(
        "unexpected argument " + quote(word) +
        (app.get_option_no_throw("--prompt") != nullptr ? "; a prompt is given as --prompt TEXT" : ""));
  }
}

/// The value of --recipe; empty: it is not given.
std::string recipe_in(std::span<const std::string> arguments) {
  constexpr std::string_view kName = "--recipe";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].starts_with(std::string(kName) + "=")) return arguments[i].substr(kName.size() + 1);
    if (arguments[i] == kName && i + 1 < arguments.size()) return arguments[i + 1];
  }
  return "";
}

}  // namespace

const View* view_of_command(std::string_view name) {
  const auto* const known = std::ranges::find(kKnownNames, name, &KnownName::name);
  return find_view(known == std::end(kKnownNames) ? name : known->view);
}

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
    app.set_help_flag("-h,--help", "show this help");
    if (task.command.empty()) {
      app.set_version_flag("--version", "headscope " + version(), "show the version");
      for (const CommandRow& one : rows)
        app.add_subcommand(std::string(one.name), std::string(one.help))->group("Commands")->allow_extras();
      app.footer(program_footer());
      task.run = describe_window(app, task.arguments);
    } else {
      rest = rest.subspan(1);
      if (const std::string file = recipe_in(rest); !file.empty())
        take_recipe(*task.arguments, system::path_of(file), view);
      task.run =
          view != nullptr ? describe_view(app, task.arguments, *view) : row->describe(app, task.arguments);
    }
    app.parse(for_parser(rest));
    for (const CLI::App* misplaced : app.get_subcommands())
      throw UsageError("the command comes first: headscope " + misplaced->get_name() + " …");
    refuse_rest(app);
    return task;
  } catch (const CLI::CallForHelp&) {
    return task.app->help();
  } catch (const CLI::CallForVersion&) {
    return "headscope " + version() + "\n";
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what() + std::string("; see ") + called + " --help");
  }
}

}  // namespace headscope::app
