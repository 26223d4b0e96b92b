// Completions and the manual page contain every command and every option.
#include "app/cli/arguments/command_tree.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <regex>
#include <set>

#include "app/cli/commands/commands.h"

namespace headscope::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string output(const std::vector<std::string>& arguments) {
  const Command command = parse_command_line(arguments);
  const auto* reply = std::get_if<Reply>(&command);
  if (!reply || reply->status != 0) ADD_FAILURE() << (reply ? reply->text : "no reply");
  return reply ? reply->text : std::string();
}

/// The options that a help text lists, without dashes.
std::set<std::string> options_in(const std::string& help) {
  static const std::regex option(R"(^  (?:-\w,)?--([a-z0-9-]+))", std::regex::multiline);
  std::set<std::string> names;
  for (std::sregex_iterator it(help.begin(), help.end(), option), end; it != end; ++it)
    names.insert((*it)[1]);
  return names;
}

/// The command paths that have a help text.
std::vector<std::vector<std::string>> every_path() {
  std::vector<std::vector<std::string>> paths{{}};
  for (const CommandRow& row : command_rows()) paths.push_back({std::string(row.name)});
  for (const View& view : views()) paths.push_back({"plot", std::string(view.name())});
  return paths;
}

TEST(Manual, HasTheGrammarOfEdits) {
  const std::string page = output({"manual"});
  const std::size_t at = page.find("\n.SH EDITS\n");
  ASSERT_NE(at, std::string::npos);
  const std::string edits = page.substr(at + 1, page.find("\n.SH ", at + 1) - at);
  for (const char* written : {"L5H1.z=0", "mask=none", "positions=0,0,", "L4.resid_pre[5]<"})
    EXPECT_THAT(edits, HasSubstr(written));
}

TEST(Completions, HaveEveryCommandAndEveryOption) {
  const std::string bash = output({"completion", "bash"}), zsh = output({"completion", "zsh"}),
                    fish = output({"completion", "fish"}), manual = output({"manual"});
  std::size_t count = 0;
  for (std::vector<std::string> path : every_path()) {
    std::string joined;
    for (const std::string& word : path) joined += (joined.empty() ? "" : " ") + word;
    EXPECT_THAT(bash, HasSubstr("\n    '" + joined + "') options="));
    if (!path.empty()) {
      EXPECT_THAT(zsh, HasSubstr("\n        '" + path.back() + ":"));
      EXPECT_THAT(fish, HasSubstr(" -a " + path.back() + " -d "));
      EXPECT_THAT(manual,
                  HasSubstr(path.size() == 1 ? ".SS headscope " + joined + "\n" : "\\fB" + joined + "\\fR"));
    }
    const std::string function = joined.empty() ? "" : "_" + std::regex_replace(joined, std::regex(" "), "_");
    path.emplace_back("--help");
    for (const std::string& option : options_in(output(path))) {
      ++count;
      const std::size_t line = bash.find("\n    '" + joined + "') options=");
      EXPECT_THAT(bash.substr(line, bash.find('\n', line + 1) - line), HasSubstr("--" + option)) << joined;
      const std::size_t begin = zsh.find("\n_headscope" + function + "() {");
      const std::string own = zsh.substr(begin, zsh.find("\n}\n", begin) - begin);
      EXPECT_TRUE(std::ranges::any_of(
          std::string("'=[}"), [&](char c) { return own.find("--" + option + c) != std::string::npos; }))
          << joined << " --" << option;
      // For fish, a command also has the options shared by its choices.
      const std::string above = path.size() > 2 ? "(" + joined + "|" + path.front() + ")" : joined;
      const std::string place = joined.empty() ? "__headscope_at" : "__headscope_in " + above;
      EXPECT_TRUE(std::regex_search(fish, std::regex("\n[^\n]*-n \"" + place + "\" -l " + option + " ")))
          << joined << option;
      EXPECT_THAT(manual, HasSubstr("\\-\\-" + std::regex_replace(option, std::regex("-"), "\\-"))) << joined;
    }
  }
  EXPECT_GT(count, 500U);
}

TEST(Completions, TheShellIsNamed) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"completion"}, {"completion", "tcsh"}, {"completion", "bash", "zsh"}}) {
    const Command command = parse_command_line(arguments);
    EXPECT_EQ(std::get<Reply>(command).status, 2);
    EXPECT_THAT(std::get<Reply>(command).text, HasSubstr("bash"));
  }
}

TEST(Offer, IsReadOffTheValues) {
  EXPECT_THAT(offer_of("light|dark").words, ElementsAre("light", "dark"));
  EXPECT_THAT(offer_of("N|auto").words, ElementsAre("auto"));
  EXPECT_EQ(offer_of("FILE.png|svg|csv").kind, Offer::Kind::files);
  EXPECT_EQ(offer_of("NAME|FILE.md").kind, Offer::Kind::files);
  EXPECT_EQ(offer_of("DIR").kind, Offer::Kind::folders);
  for (const char* values : {"TEXT", "N", "ID,...", "TEXT|ID", "R:R,C:C", ""})
    EXPECT_EQ(offer_of(values).kind, Offer::Kind::nothing) << values;
}

/// A program with texts that are hard to quote.
CommandTree hostile() {
  CommandTree program{"headscope", "", "", {}, {}, {}};
  program.options = {{"--odd", "", "X", "it's [a: b] \\ `c` $d\nand more", "Options"}};
  program.commands = {
      {"go", "'.quoted", ".footer\n'x\n\n\\end", {{"--help", "-h", "", "this", "Options"}}, {}, {}}};
  return program;
}

TEST(Completions, QuoteWhatTheShellsWouldRead) {
  EXPECT_THAT(zsh_completion(hostile()), HasSubstr(R"('--odd=[it'\''s \[a\: b\] \\ `c` $d and more]:X: ')"));
  EXPECT_THAT(fish_completion(hostile()), HasSubstr(R"(-d 'it\'s [a: b] \\ `c` $d and more')"));
}

TEST(Manual, QuotesWhatTroffWouldRead) {
  const std::string page = manual_page(hostile(), "1.2", "2026-01-02");
  EXPECT_THAT(page, HasSubstr(".TH HEADSCOPE 1 2026-01-02 \"headscope 1.2\""));
  EXPECT_THAT(page, HasSubstr("it\\(aqs [a: b] \\e \\(gac\\(ga $d and more\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&.footer\n\\&\\(aqx\n\\&\n\\eend\n"));
  EXPECT_THAT(page, Not(HasSubstr("\n'")));
  EXPECT_THAT(page, HasSubstr("share/headscope/guide/*.md")) << "refers to the guide";
}

}  // namespace
}  // namespace headscope::app
