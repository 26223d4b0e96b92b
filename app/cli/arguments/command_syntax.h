#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/cli/arguments/answer_file.h"
#include "app/cli/arguments/argument_values.h"
#include "app/cli/arguments/command.h"
#include "app/views/table.h"
#include "system/path_text.h"

namespace CLI {
class App;
}  // namespace CLI

namespace headscope::app {

/// Makes the command after all arguments are parsed. Throws UsageError, UnusableValue.
using Finish = std::function<ParsedCommand()>;

/// Describes the options of one command to the parser. Values are stored in the command's own struct or in
/// the shared arguments; both must outlive the parser.
class CommandSyntax {
 public:
  /// `line`: the arguments to parse.
  CommandSyntax(CLI::App& app, std::shared_ptr<Arguments> given, const std::vector<std::string>* line)
      : app_(&app), given_(std::move(given)), line_(line) {}

  /// Finishes the description. The command calls `run`, which returns nothing or an exit status, with `own`
  /// and the shared arguments. `check` throws UsageError for arguments that contradict each other, and
  /// completes them.
  template <class Own, class Check, class Run>
  Finish finish(std::shared_ptr<Own> own, Check check, Run run) {
    return [own, check, run, given = given_, name = name(), has_model = has_model_, answers = answers_,
            has_json = has_json_, app = app_, alone = alone_]() -> ParsedCommand {
      check_alone(*app, alone);
      static_cast<Arguments&>(*own) = *given;
      bool* csv = nullptr;
      if constexpr (requires { own->csv; }) csv = &own->csv;
      const bool to_file = writes_answer(answers, *own, csv != nullptr);
      if (to_file) choose_answer_format(*own, csv);
      check(*own);
      if constexpr (requires { own->ablates_with_means(); })
        check_mean_over(*own, own->ablates_with_means());
      else
        check_mean_over(*own, std::nullopt);
      const bool prints_csv = csv != nullptr && *csv;
      check_byte_order_mark(*own, prints_csv);
      return Task{name, own, has_json, [own, run, has_model, to_file, prints_csv](const Streams& streams) {
                    const auto answer = [&](const Streams& to) {
                      if (prints_csv && own->picture.byte_order_mark) to.out << kByteOrderMark;
                      return status_of(run, *own, to);
                    };
                    if (has_model) fetch_if_missing(own->model, streams);
                    if (to_file) {
                      AnswerFile file(*own, streams);
                      const int status = answer(file.streams());
                      file.commit();
                      return status;
                    }
                    return answer(streams);
                  }};
    };
  }

  /// The same command, for options under this heading in the help instead of "Options".
  CommandSyntax under(const std::string& heading) const;
  static constexpr const char* kPicture = "Picture";

  /// An option that takes one value: `name` without dashes, `values` as shown in the help, such as "N,...".
  /// `read`, see argument_values.h, gets "--name" and the text; its result is stored in `value`.
  template <class Value, class Read>
  void option(const std::string& name, const std::string& values, const std::string& help, Value& value,
              Read read) {
    on_option(name, values, help, [&value, read](const std::string& flag, const std::string& text) {
      store(value, read(flag, text));
    });
  }
  /// An option that takes any text.
  template <class Value>
  void option(const std::string& name, const std::string& values, const std::string& help, Value& value) {
    option(name, values, help, value, any_text);
  }
  /// An option that takes one of these names.
  template <class Value, class Row, std::size_t kCount>
  void choice_option(const std::string& name, const std::string& help, Value& value,
                     const Row (&all)[kCount]) {
    option(name, names_of(all, "|"), help, value, one_of(all));
  }
  /// An option that takes several values; `repeated`: one value each time it is given.
  template <class Value>
  void list_option(const std::string& name, const std::string& values, const std::string& help,
                   std::vector<Value>& list, bool repeated) {
    on_list(name, values, help, repeated, [&list](const std::vector<std::string>& texts) {
      list.clear();
      for (const std::string& text : texts) store(list.emplace_back(), text);
    });
  }
  void flag(const std::string& name, const std::string& help, bool& value);
  /// A flag that sets the value to `sets`.
  void flag(const std::string& name, const std::string& help, std::optional<bool>& value, bool sets);
  /// A positional argument.
  template <class Value, class Read>
  void word(const std::string& name, const std::string& help, Value& value, Read read) {
    on_word(name, help, [&value, name, read](const std::string& text) { store(value, read(name, text)); });
  }
  /// The options of all views, by their flags, under a heading; where several views have a flag, also by
  /// their own names. Given ones wait in Arguments::unplaced_options until it is known which views are shown.
  void options_of_shown_views(const std::string& heading);
  /// A choice for each view: the options that `add` adds, then the view's own.
  void each_view(const std::function<void(CommandSyntax&, const View&)>& add);

  /// An option that takes the place of all others but these ("out", ...): the command throws UsageError for
  /// any other beside it.
  void only_with(const std::string& name, const std::vector<std::string>& others) { alone_ = {name, others}; }

  /// A paragraph after the options in the help.
  void footer(const std::string& text);
  const Arguments& given() const { return *given_; }  ///< outlives the parser's functions
  std::string name() const;                           ///< name of the command; empty: the program
  /// A word that may follow this command's name: see CommandRow::choice.
  CommandSyntax choice(std::string_view name, std::string_view help) const;
  /// Whether the arguments may name a command or choice. The options of others are not described, since
  /// describing all of them takes longer than the rest of the start.
  static bool may_name(const std::vector<std::string>* line, std::string_view word);
  bool may_name(std::string_view word) const { return may_name(line_, word); }

  // Options that several commands share, under their own headings.
  void model();
  void computing();  ///< the model and how it computes
  void prompt(bool many);
  void edits(bool list_means = true);  ///< `list_means`: their means can be over a list
  void second_prompt(const std::string& help);
  void comparison(bool list_means = true);  ///< for commands that make pictures; includes the edits
  /// An attention file instead of a model and a prompt; `compared`: also one to compare it with.
  void attention(bool compared);
  void selection();
  void tour();
  void over();  ///< a list of prompts for views that can show one
  void picture(bool of_window = false);
  void no_recipe(bool& value);
  /// For the commands that recipe_command makes; includes no_recipe. `more`: for its help.
  void recipe(bool& without, const std::string& more = "");
  /// All shared options of a command that computes something for prompts, besides its output.
  void reading();
  void json();
  void out(const std::string& values, const std::string& help);
  /// The same for a picture in one of these formats ("png|svg"), which may go to standard output. With "json"
  /// among them, the answer that the command prints may go there, too.
  void picture_out(const std::string& formats, const std::string& help);
  /// --json, and a file for the answer of a command that prints it as text or JSON; `csv`: also as CSV.
  void answer_out(bool csv = false);

 private:
  /// Whether a command's --out takes the answer that it prints otherwise.
  enum class AnswerOut { never, or_picture, always };

  template <class Own>
  static bool writes_answer(AnswerOut answers, const Own& own, bool csv) {
    if (answers != AnswerOut::or_picture) return answers == AnswerOut::always;
    if constexpr (requires { own.writes_means(); }) csv = csv && own.writes_means();
    const std::string format = answer_format(own);
    return is_answer_format(format) || (csv && format == "csv");
  }

  void byte_order_mark();  ///< for commands that write CSV

  /// The exit status of a command's function.
  template <class Own, class Run>
  static int status_of(const Run& run, const Own& own, const Streams& streams) {
    if constexpr (!std::is_void_v<decltype(run(own, streams))>) return run(own, streams);
    run(own, streams);
    return 0;
  }

  /// Stores what was read; text becomes a path where a path is wanted.
  template <class Value, class Read>
  static void store(Value& value, Read read) {
    constexpr bool kIsPath = std::is_same_v<Value, std::filesystem::path> ||
                             std::is_same_v<Value, std::optional<std::filesystem::path>>;
    if constexpr (std::is_arithmetic_v<Value>)
      value = static_cast<Value>(read);
    else if constexpr (kIsPath && std::is_same_v<Read, std::string>)
      value = system::path_of(read);
    else
      value = std::move(read);
  }

  /// See only_with.
  struct Alone {
    std::string name = {};
    std::vector<std::string> others = {};
  };
  static void check_alone(const CLI::App& app, const Alone& alone);

  using Set = std::function<void(const std::string& flag, const std::string& text)>;
  CLI::App* app_;
  std::shared_ptr<Arguments> given_;
  const std::vector<std::string>* line_;
  std::string heading_ = "Options";
  bool has_model_ = false;
  bool has_json_ = false;
  bool has_footer_ = false;
  AnswerOut answers_ = AnswerOut::never;
  Alone alone_;

  void on_option(const std::string& name, const std::string& values, const std::string& help, Set set);
  void options_of_view(const View& view);
  void view_token(const View& view, bool other);
  void on_list(const std::string& name, const std::string& values, const std::string& help, bool repeated,
               const std::function<void(const std::vector<std::string>&)>& set);
  void on_word(const std::string& name, const std::string& help,
               const std::function<void(const std::string&)>& set);
};

/// If `--get` was given, fetches the named model unless it is on this machine, and replaces the name by its
/// folder. Throws HubError, system::Interrupted.
void fetch_if_missing(ModelArguments& model, const Streams& streams);

}  // namespace headscope::app
