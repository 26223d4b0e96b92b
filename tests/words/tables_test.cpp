// What the program's tables say to users, in the order of the tables, for a person or a script to read.
#include <cstdlib>
#include <fstream>

#include "app/cli/arguments/command_tree.h"
#include "app/run/analyses/head_metric.h"
#include "app/window/commands.h"
#include "tests/app/view_fixture.h"

namespace headscope::app {
namespace {

/// Lines "where<TAB>text", without empty texts.
class Lines {
 public:
  explicit Lines(std::ostream& out) : out_(out) {}
  void add(const std::string& where, std::string_view text) {
    std::string line(text);
    std::ranges::replace(line, '\n', ' ');
    if (!line.empty()) out_ << where << '\t' << line << '\n';
  }

 private:
  std::ostream& out_;
};

void add_views(Lines& lines) {
  for (const View& view : views()) {
    const std::string where = "view " + std::string(view.name());
    lines.add(where, spec_of(view.group).title);
    lines.add(where, view.title);
    lines.add(where, view.help);
    for (const KeyCommand& command : view.commands) {
      lines.add(where + " button", command.label);
      lines.add(where + " button", command.help);
    }
  }
  for (const OptionSpec* option : all_options()) {
    const std::string where = "option " + std::string(option->name);
    lines.add(where, option->label);
    lines.add(where, option->help);
    lines.add(where, option->phrase);
    if (!option->default_name.empty())  // as on its control
      lines.add(where, std::string(option->label) + " " + std::string(option->default_name));
    for (const Choice& choice : option->choices) {
      lines.add(where + " " + std::string(choice.listed_name()), choice.label);
      lines.add(where + " " + std::string(choice.listed_name()), choice.help);
      lines.add(where + " " + std::string(choice.listed_name()), choice.phrase);
    }
  }
  for (const HeadMetricKind& kind : head_metrics())
    for (const std::string_view text :
         {kind.label, kind.help, kind.title, kind.caption, kind.detail, kind.lacking, kind.unit})
      lines.add("metric " + std::string(kind.name), text);
}

void add_commands(Lines& lines, const CommandTree& command, const std::string& above) {
  const std::string where = above + command.name;
  lines.add(where, command.help);
  lines.add(where, command.footer);
  for (const auto* list : {&command.words, &command.options})
    for (const OptionDescription& option : *list) lines.add(where + " " + option.name, option.help);
  for (const CommandTree& below : command.commands) add_commands(lines, below, where + " ");
}

TEST(Tables, AreWritten) {
  const char* file = std::getenv("HEADSCOPE_TABLES");
  if (file == nullptr) GTEST_SKIP() << "HEADSCOPE_TABLES names no file";
  std::ofstream out(file);
  Lines lines(out);
  add_views(lines);
  for (const Command& command : commands()) {
    const std::string where = "window " + keys_of(command);
    lines.add(where, command.label);
    lines.add(where, command.help);
  }
  for (const KeyHelp& line : list_of_keys()) lines.add("keys " + line.keys, line.what);
  add_commands(lines, whole_program(), "command ");
  out.flush();
  EXPECT_TRUE(out.good()) << file;
}

}  // namespace
}  // namespace headscope::app
