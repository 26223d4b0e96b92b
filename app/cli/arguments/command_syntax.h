#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/arguments/command_options.h"
#include "app/cli/arguments/command_tree.h"
#include "app/cli/arguments/given.h"

namespace headscope::app {

/// One command of the parser while its options are described. What the options are given goes where `set`
/// says, or into the `Given`; both must outlive the parser.
class CommandSyntax {
 public:
  CommandSyntax(CLI::App& app, Given& given) : app_(&app), given_(&given) {}

  /// What the options that follow stand under in the help; "Options" at first and after each of the groups
  /// below.
  void heading(std::string text) { heading_ = std::move(text); }
  static constexpr const char* kOwn = "Options";
  static constexpr const char* kPicture = "Picture";

  /// `name` without dashes, `values` as in "N,...". `set` throws WrongUse or Unfulfillable.
  void option(const std::string& name, const std::string& values, const std::string& help,
              const std::function<void(const std::string&)>& set);
  /// The same for one value or more.
  void options(const std::string& name, const std::string& values, const std::string& help,
               const std::function<void(const std::vector<std::string>&)>& set);
  /// What stands without a name before it.
  void word(const std::string& name, const std::string& help,
            const std::function<void(const std::string&)>& set);
  void flag(const std::string& name, const std::string& help, bool& value);
  void view_option(const OptionSpec& option);
  /// What adds options here, for those that describe them elsewhere.
  AddOption adding();

  /// After the options.
  void footer(const std::string& text);
  /// What may be named after this command's name: see CommandRow::choice.
  CommandSyntax choice(std::string_view name, std::string_view help);

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
  void picture();
  /// All that a command reads that computes something of many prompts and says it as text or as JSON.
  void reading();
  void json();
  void out(const std::string& values, const std::string& help);
  /// The same of a picture in one of these formats ("png|svg"), which may go to standard output.
  void picture_out(const std::string& formats, const std::string& help);
  void resume();  ///< of a command that makes a file of each prompt

 private:
  CLI::App* app_;
  Given* given_;
  std::string heading_ = kOwn;

  PromptArguments& give_prompt(PromptArguments::From from, const char* option) const;
};

}  // namespace headscope::app
