#include "app/cli/arguments/command.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <map>

#include "app/cli/arguments/argument_values.h"
#include "app/cli/arguments/words.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/recipes.h"
#include "app/run/version.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

using model::quote;

/// All subcommands, not only those that were named.
std::vector<CLI::App*> subcommands(CLI::App* app) {
  return app->get_subcommands([](CLI::App*) { return true; });
}

/// The view option with the flag "--NAME"; null: none.
const OptionSpec* view_option(std::string_view name) {
  return name.starts_with("--") ? find_option(name.substr(2)) : nullptr;
}

/// Whether views have such an option by its flag or its own name.
bool names_view_option(std::string_view name) {
  if (view_option(name) != nullptr || name == "--token" || name == "--other-token") return true;
  return name.starts_with("--") && std::ranges::any_of(all_options(), [&](const OptionSpec* option) {
           return option->flag == name.substr(2);
         });
}

class CommandLine {
 public:
  /// Describes the commands that `arguments` may name; they must outlive this.
  explicit CommandLine(const std::vector<std::string>& arguments, const Arguments& start = {})
      : app_("headscope: see inside GPT-2 while it runs", "headscope"),
        line_(&arguments),
        given_(std::make_shared<Arguments>(start)) {
    app_.allow_extras();  // also for subcommands: reject_unknown_arguments has better messages
    app_.allow_windows_style_options(false);  // a path may begin with a slash there, too
    describe_program();
    for (const CommandRow& row : command_rows()) {
      CLI::App* app = app_.add_subcommand(std::string(row.name), std::string(row.help));
      app->group("Commands");
      if (!CommandSyntax::may_name(line_, row.name)) continue;
      CommandSyntax command(*app, given_, line_);
      finish_[app] = row.describe(command);
      if (!row.choice.empty()) name_choices(app, row.choice);
    }
    app_.get_formatter()->label("SUBCOMMAND", "COMMAND");
    for (std::size_t i = 0; i < every_.size(); ++i) {
      const std::vector<CLI::App*> below = subcommands(every_[i]);
      every_.insert(every_.begin() + static_cast<std::ptrdiff_t>(i) + 1, below.begin(), below.end());
    }
  }

  // The parser's callbacks write to the objects held by finish_ and given_.
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Splits the arguments. For `--name=` without a value, CLI11 would take the next argument as the value.
  std::vector<Word> words() const {
    const std::vector<std::string>& arguments = *line_;
    std::vector<Word> words;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& text = arguments[i];
      const std::size_t sign = text.find('=');
      const std::string name = text.substr(0, sign);
      if (!takes_value(name)) {
        words.push_back({text.starts_with('-') && text.size() > 1 ? text : "", text, {text}});
        continue;
      }
      Word& word = words.emplace_back(Word{name, "", {name}});
      const bool last = i + 1 == arguments.size();
      if (sign != std::string::npos) {
        word.value = text.substr(sign + 1);
      } else if (const OptionSpec* option = view_option(name);
                 option != nullptr && std::holds_alternative<bool>(option->default_value) &&
                 (last || arguments[i + 1].starts_with('-'))) {
        word.value = "yes";
      } else if (last) {
        throw UsageError(name + " needs a value");
      } else {
        word.value = arguments[++i];
      }
      word.arguments.push_back(word.value);
    }
    return words;
  }

  /// The arguments for an option, see with_options.
  std::vector<std::string> arguments_of(const NamedOption& named) const {
    const std::string flag = "--" + named.name;
    const CLI::Option* option = nullptr;
    for (const CLI::App* app : every_)
      for (const CLI::Option* one : app->get_options())
        if (option == nullptr && one->check_lname(named.name)) option = one;
    const OptionSpec* of_view = view_option(flag);
    if (named.name.find('=') != std::string::npos || (option == nullptr && of_view == nullptr))
      throw UsageError("unknown option " + quote(named.name));
    const std::string values = of_view != nullptr                     ? values_of(*of_view)
                               : option->get_items_expected_max() > 0 ? option->get_type_name()
                                                                      : "";
    if (const auto* yes = std::get_if<bool>(&named.value)) {
      if (values == "yes|no") return {flag + (*yes ? "=yes" : "=no")};
      if (!values.empty()) throw UsageError(flag + " takes " + values + ", not true or false");
      return *yes ? std::vector{flag} : std::vector<std::string>();
    }
    if (values.empty()) throw UsageError(flag + " takes true or false");
    if (const auto* text = std::get_if<std::string>(&named.value)) return {flag + "=" + *text};
    const auto& texts = std::get<std::vector<std::string>>(named.value);
    if (option != nullptr && (option->get_items_expected_max() > 1 ||
                              option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll)) {
      std::vector<std::string> arguments;
      for (const std::string& text : texts) arguments.push_back(flag + "=" + text);
      return arguments;
    }
    std::string joined;
    for (const std::string& text : texts) {
      if (text.find(',') != std::string::npos)
        throw UsageError(flag + ": " + quote(text) +
                         " has a comma, which separates the texts of a list; give the option as one text");
      joined += (&text == &texts.front() ? "" : ",") + text;
    }
    return {flag + "=" + joined};
  }

  ParsedCommand parse() {
    try {
      std::vector<std::string> reversed;
      for (const Word& word : words())
        reversed.insert(reversed.end(), word.arguments.begin(), word.arguments.end());
      std::ranges::reverse(reversed);
      app_.parse(reversed);
      return command();
    } catch (const CLI::CallForHelp&) {
      return CommandReply{app_.help(), 0};
    } catch (const CLI::CallForVersion&) {
      return CommandReply{"headscope " + version() + "\n", 0};
    } catch (const CLI::ParseError& error) {
      return wrong_use(error.what());
    } catch (const UsageError& error) {
      return wrong_use(error.what());
    } catch (const UnusableValue& error) {
      return CommandReply{error.what(), 1};
    }
  }

 private:
  CLI::App app_;
  const std::vector<std::string>* line_;
  std::shared_ptr<Arguments> given_;
  std::map<const CLI::App*, Finish> finish_;             // for the program and each command
  std::map<const CLI::App*, std::string_view> choices_;  // CommandRow::choice
  std::vector<CLI::App*> every_{&app_};                  // the program, the commands and their choices

  void describe_program() {
    app_.set_help_flag("-h,--help", "show this help");
    app_.set_version_flag("--version", "headscope " + version(), "show the version");
    app_.footer(
        "Without a command, headscope opens its window.\n\n"
        "Results go to standard output, messages to standard error.\n"
        "Exit status: 0 success, 1 failure (one line says what failed, where, and what to do), 2 wrong "
        "usage.\n\n"
        "Examples:\n"
        "  headscope --prompt \"A robot must obey\"\n"
        "  headscope predict --model ~/models/gpt2 --prompt \"The capital of France is\" --top 5\n"
        "  headscope plot heatmap --layer 2 --head 1 --prompt \"Once upon a time\" --out pattern.svg\n"
        "  headscope COMMAND --help");
    CommandSyntax program(app_, given_, line_);
    finish_[&app_] = describe_window(program);
  }

  /// Lists the choices in the help of a command that takes one.
  void name_choices(CLI::App* app, std::string_view choice) {
    choices_[app] = choice;
    std::string capitals(choice);
    std::ranges::transform(capitals, capitals.begin(),
                           [](char c) { return static_cast<char>(c - 'a' + 'A'); });
    app->formatter(std::make_shared<CLI::Formatter>());
    app->get_formatter()->label("SUBCOMMAND", capitals);
    for (CLI::App* below : subcommands(app))
      below->group(capitals.front() + std::string(choice.substr(1)) + "s");
  }

  /// Whether an option takes a value. View options are known even without their view, since the view may come
  /// from a recipe.
  bool takes_value(const std::string& name) const {
    if (names_view_option(name)) return true;
    const auto named = [&](const CLI::Option* option) {
      return name.starts_with("--") && option->check_lname(name.substr(2)) &&
             option->get_items_expected_max() > 0;
    };
    return std::ranges::any_of(
        every_, [&](const CLI::App* app) { return std::ranges::any_of(app->get_options(), named); });
  }

  /// The chosen command and, for plot, the view.
  std::vector<CLI::App*> chosen() const {
    std::vector<CLI::App*> path;
    for (const CLI::App* app = &app_; !app->get_subcommands().empty(); app = path.back())
      path.push_back(app->get_subcommands().front());
    return path;
  }

  CommandReply wrong_use(std::string text) const {
    std::string command = "headscope";
    for (const CLI::App* app : chosen()) command += " " + app->get_name();
    if (text.ends_with('.')) text.pop_back();
    if (text.find("--help") == std::string::npos) text += "; see " + command + " --help";
    return {std::move(text), 2};
  }

  /// Throws UsageError for arguments that no command or option took.
  void reject_unknown_arguments() const {
    for (CLI::App* app : every_) {
      for (const std::string& word : app->remaining()) {
        const bool option = word.starts_with('-') && word.size() > 1;
        if (!option && choices_.contains(app)) refuse_choice(app, word);
        if (option) throw UsageError("unknown option " + quote(word.substr(0, word.find('='))));
        if (app == &app_ && app->get_subcommands().empty())
          throw UsageError("unknown command " + quote(word));
        const bool has_prompt = std::ranges::any_of(
            chosen(), [](const CLI::App* one) { return one->get_option_no_throw("--prompt") != nullptr; });
        throw UsageError("unexpected argument " + quote(word) +
                         (has_prompt ? "; a prompt is given as --prompt TEXT" : ""));
      }
    }
  }

  [[noreturn]] void refuse_choice(CLI::App* app, const std::string& word) const {
    std::string names;
    for (const CLI::App* below : subcommands(app)) names += (names.empty() ? "" : ", ") + below->get_name();
    throw UsageError("unknown " + std::string(choices_.at(app)) + " " + quote(word) + "; expected one of " +
                     names);
  }

  static std::vector<std::string> names_of(const std::vector<CLI::App*>& apps) {
    std::vector<std::string> names;
    for (const CLI::App* app : apps) names.push_back(app->get_name());
    return names;
  }

  /// "one prompt at a time: both --prompt and --ids were given".
  static std::string both(const char* rule, const std::vector<std::string>& given) {
    return given.size() < 2 ? ""
                            : std::string(rule) + ": both " + given[0] + " and " + given[1] + " were given";
  }

  ParsedCommand command() {
    reject_unknown_arguments();
    // A file for the window to open and a command: the word was meant as another command.
    if (const CLI::Option* file = app_.get_option_no_throw("FILE");
        file != nullptr && file->count() > 0 && !app_.get_subcommands().empty())
      throw UsageError("unknown command " + quote(file->results().front()));
    const std::vector<std::string> commands = names_of(app_.get_subcommands()),
                                   &prompts = given_->prompt_options;
    const bool tour = !given_->tour.name.empty();
    refuse({{prompts.size() > 1, both("one prompt at a time", prompts)},
            {commands.size() > 1, both("one command at a time", commands)},
            {tour && !prompts.empty(), "a tour has its own prompt: both --tour and " +
                                           (prompts.empty() ? "" : prompts[0]) + " were given"},
            {tour && given_->comparison.side != Side::run,
             "each stop of a tour chooses what is shown: both --tour and --show were given"},
            {!tour && given_->tour.stop != 1, "--stop requires --tour"},
            {given_->model.get && !given_->model.model, "--get requires --model"}});
    const CLI::App* app = app_.get_subcommands().empty() ? &app_ : app_.get_subcommands().front();
    if (app != &app_) given_->choices = names_of(app->get_subcommands());
    return finish_.at(app)();
  }
};

}  // namespace

std::vector<Word> words_of(const std::vector<std::string>& arguments) {
  return CommandLine(arguments).words();
}

std::vector<std::string> with_options(const std::vector<std::string>& words,
                                      std::span<const NamedOption> options) {
  std::vector<std::string> arguments = words;
  if (options.empty()) return arguments;
  const CommandLine line(words);
  for (const NamedOption& option : options) {
    const std::vector<std::string> own = line.arguments_of(option);
    arguments.insert(arguments.end(), own.begin(), own.end());
  }
  return arguments;
}

bool has_option(std::span<const Word> words, std::string_view option) {
  return std::ranges::any_of(words, [&](const Word& word) { return word.option == option; });
}

ParsedCommand parse_command_line(const std::vector<std::string>& arguments, const Arguments& start) {
  if (auto recipe = recipe_command(arguments, start)) return *std::move(recipe);
  return CommandLine(arguments, start).parse();
}

}  // namespace headscope::app
