#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "app/cli/arguments/argument_values.h"
#include "app/cli/arguments/command.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headscope::app {

/// Makes a command of what was given, once all of it is. Throws UsageError, UnusableValue.
using Finish = std::function<Command()>;

/// One command of the parser while its options are described. Their values land where the description says,
/// in the command's own struct or in the arguments that several commands take; both must outlive the parser.
class CommandSyntax {
 public:
  /// `line`: the arguments as they stand; null: any may come.
  CommandSyntax(CLI::App& app, std::shared_ptr<Arguments> given, const std::vector<std::string>* line)
      : app_(&app), given_(std::move(given)), line_(line) {}

  /// What `run` has to do, which is void or gives an exit status, with `own` and what several commands take.
  /// `check` throws UsageError where that does not go together, and puts together what does.
  template <class Own, class Check, class Run>
  Finish finish(std::shared_ptr<Own> own, Check check, Run run) {
    return [own, check, run, given = given_, name = name(), has_model = has_model_]() -> Command {
      static_cast<Arguments&>(*own) = *given;
      check(*own);
      return Task{name, own, [own, run, has_model](const Streams& streams) {
                    if (has_model) fetch_if_missing(own->model, streams);
                    if constexpr (!std::is_void_v<decltype(run(*own, streams))>) return run(*own, streams);
                    run(*own, streams);
                    return 0;
                  }};
    };
  }

  /// The same command, for options that stand under this heading in the help, in place of "Options".
  CommandSyntax under(const std::string& heading) const;
  static constexpr const char* kPicture = "Picture";

  /// An option that takes one value: `name` without dashes, `values` as in "N,...". `read`, as in
  /// argument_values.h, is given "--name" and the text; what it makes of it lands in `value`.
  template <class Value, class Read>
  void option(const std::string& name, const std::string& values, const std::string& help, Value& value,
              Read read) {
    on_option(name, values, help, [&value, read](const std::string& flag, const std::string& text) {
      if constexpr (std::is_arithmetic_v<Value>)
        value = static_cast<Value>(read(flag, text));
      else
        value = read(flag, text);
    });
  }
  /// Takes any text.
  template <class Value>
  void option(const std::string& name, const std::string& values, const std::string& help, Value& value) {
    option(name, values, help, value, any_text);
  }
  /// Takes one of these names.
  template <class Value, class Row, std::size_t kCount>
  void choice_option(const std::string& name, const std::string& help, Value& value,
                     const Row (&all)[kCount]) {
    option(name, names_of(all, "|"), help, value, one_of(all));
  }
  /// Takes several values; `repeated`: one each time that it is given.
  template <class Value>
  void list_option(const std::string& name, const std::string& values, const std::string& help,
                   std::vector<Value>& list, bool repeated) {
    on_list(name, values, help, repeated,
            [&list](const std::vector<std::string>& texts) { list.assign(texts.begin(), texts.end()); });
  }
  void flag(const std::string& name, const std::string& help, bool& value);
  /// What stands without a name before it.
  template <class Value, class Read>
  void word(const std::string& name, const std::string& help, Value& value, Read read) {
    on_word(name, help, [&value, name, read](const std::string& text) { value = read(name, text); });
  }
  /// Options of views, under a heading.
  void view_options(const std::string& heading, std::span<const OptionSpec* const> options);
  /// What the option before was called once: it is still taken, and nowhere listed.
  void old_name(const std::string& name);

  /// After the options.
  void footer(const std::string& text);
  const Arguments& given() const { return *given_; }  ///< which outlive the parser's functions
  std::string name() const;                           ///< of the command; empty: the program
  /// What may be named after this command's name: see CommandRow::choice.
  CommandSyntax choice(std::string_view name, std::string_view help) const;
  /// Whether a command, or what may be named after one, can be meant. The options of what cannot are not
  /// described: all there are take longer than the rest of a start.
  static bool may_name(const std::vector<std::string>* line, std::string_view word);
  bool may_name(std::string_view word) const { return may_name(line_, word); }

  // Options of several commands, under headings of their own.
  void model();
  void computing();  ///< the model and how it is computed
  void prompt(bool many);
  void edits();
  void comparison();  ///< of what shows pictures; edits too
  /// A file of patterns in place of model and prompt; `compared`: with another one, too.
  void attention(bool compared);
  void selection();
  void tour();
  void over();  ///< a list of prompts for views that can be about many
  void picture(bool of_window = false);
  void no_recipe(bool& value);
  void recipe(bool& without);  ///< of what recipe_command makes where a file is named, and no_recipe
  /// All that a command reads that computes something of many prompts and says it as text or as JSON.
  void reading();
  void json();
  void out(const std::string& values, const std::string& help);
  /// The same of a picture in one of these formats ("png|svg"), which may go to standard output.
  void picture_out(const std::string& formats, const std::string& help);
  void resume();  ///< of a command that makes a file of each prompt

 private:
  using Set = std::function<void(const std::string& flag, const std::string& text)>;
  CLI::App* app_;
  std::shared_ptr<Arguments> given_;
  const std::vector<std::string>* line_;
  std::string heading_ = "Options";
  bool has_model_ = false;
  CLI::Option* last_ = nullptr;
  Set set_last_;

  void on_option(const std::string& name, const std::string& values, const std::string& help, Set set);
  void on_list(const std::string& name, const std::string& values, const std::string& help, bool repeated,
               const std::function<void(const std::vector<std::string>&)>& set);
  void on_word(const std::string& name, const std::string& help,
               const std::function<void(const std::string&)>& set);
};

/// Where `--get` asks for it: fetches the model that is named, unless it is here, and puts its folder in its
/// place. Throws HubError, Interrupted.
void fetch_if_missing(ModelArguments& model, const Streams& streams);

}  // namespace headscope::app
