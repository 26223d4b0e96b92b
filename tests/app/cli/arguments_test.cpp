// What arguments fill: parsing, apart from what is refused (see refusals_test).
#include "app/cli/arguments.h"

#include <regex>

#include "app/views/parts/weight_colors.h"
#include "tests/app/cli/command_runs.h"

namespace headscope::app::arguments_test {
namespace {

using From = PromptArguments::From;

/// The text of --help or --version.
std::string reply(const Words& arguments) {
  return std::get<std::string>(parse_command_line(arguments));
}

std::vector<std::string> commands() {
  std::vector<std::string> names{""};
  for (const CommandRow& row : command_rows()) names.emplace_back(row.name);
  for (const KnownName& known : kKnownNames) names.emplace_back(known.name);
  for (const View& view : views()) names.emplace_back(view.id);
  return names;
}

TEST(Help, OfEachCommandNamesItsOptionsAndFitsTwoScreens) {
  for (const std::string& command : commands()) {
    const Words words = command.empty() ? Words{} : Words{command};
    const std::string help = reply(words + Words{"--help"});
    EXPECT_LT(std::ranges::count(help, '\n'), 130) << command;
    const auto parsed = parse_command_line(words);
    for (const CLI::Option* option : std::get<Task>(parsed).app->get_options()) {
      const bool is_shown = !option->get_group().empty();
      EXPECT_TRUE(!is_shown || help.find(option->get_name()) != help.npos) << command << option->get_name();
    }
    if (command.empty()) continue;
    EXPECT_THAT(help, HasSubstr("headscope " + command));
    EXPECT_THAT(reply({"--help"}), HasSubstr(command));
  }
  EXPECT_TRUE(std::regex_match(reply({"--version"}), std::regex("headscope [0-9]+\\.[0-9]+\\.[0-9]+\n")));
}

TEST(Arguments, WithoutACommandOpenTheWindow) {
  const auto window = parse_command_line({"--model", "m", "--prompt", "Hi", "--bos", "--threads", "3",
                                          "--precision", "bf16", "--second", "Ho", "--over", "l.txt"});
  const Task& task = std::get<Task>(window);
  EXPECT_EQ(task.command, "");
  const Arguments& a = *task.arguments;
  EXPECT_EQ(a.model.name, "m");
  EXPECT_EQ(a.threads, 3);
  EXPECT_EQ(a.session.model.precision, model::Precision::bf16);
  EXPECT_EQ(a.prompt.from, From::given);
  EXPECT_EQ(a.session.prompt.text, "Hi");
  EXPECT_EQ(a.session.prompt.start_token, true);
  EXPECT_EQ(a.session.second->text, "Ho");
  EXPECT_EQ(a.over, "l.txt");
  const Arguments patterns = parsed({"--attention", "a.safetensors", "--second-attention", "b.safetensors"});
  EXPECT_TRUE(patterns.model.patterns);
  EXPECT_EQ(patterns.model.name, "a.safetensors");
  EXPECT_EQ(patterns.second_attention, "b.safetensors");
}

TEST(Arguments, NamePromptsOfEveryKind) {
  EXPECT_THAT(parsed({"tokens", "--ids", "1, 2,-3"}).session.prompt.ids, ElementsAre(1, 2, -3));
  EXPECT_TRUE(parsed({"tokens", "--ids", ""}).has_prompt());
  EXPECT_EQ(parsed({"tokens", "--prompt-file", "-"}).prompt.from, From::file);
  const Arguments list =
      parsed({"tokens", "--prompts", "p.jsonl", "--shard", "2/7", "--skip-errors", "--no-bos"});
  EXPECT_TRUE(list.is_list());
  EXPECT_EQ(list.prompt.file, "p.jsonl");
  EXPECT_EQ(list.prompt.shard, (Shard{2, 7}));
  EXPECT_TRUE(list.prompt.skip_errors);
  EXPECT_EQ(list.session.prompt.start_token, false);
}

TEST(Arguments, ATextIsTakenAsItIs) {
  for (const std::string& text :
       Words{"",         "-",       "--",     "--help",       "-h",       "--json", "--prompt", "--prompt=",
             "--recipe", "{}",      "%%",     "[]",           "[a,b]",    "a,b",    "\"q\"",    "@file",
             "--a=b",    "predict", "x\ny\n", "\xff\xe2\x82", " -5 ",     "-5",     "/help",    "~",
             "=",        "++",      "true",   "nan",          "\x1b[31m", "{n}"}) {
    for (const Words& command : {Words{"predict"}, Words{}}) {
      EXPECT_EQ(parsed(command + Words{"--prompt", text}).session.prompt.text, text);
      EXPECT_EQ(parsed(command + Words{"--prompt=" + text, "--bos"}).session.prompt.text, text);
    }
    EXPECT_EQ(parsed({"lens", "--prompt", "x", "--second", text, "--json"}).session.second->text, text);
  }
}

TEST(Arguments, EditsAreTakenInTheirOrderAndWhole) {
  const Arguments a = parsed({"lens", "--edit", "[L1.z=0,L0.z=0]", "--prompt", "x", "--edit=L2.z=0"});
  EXPECT_THAT(a.session.edits, ElementsAre(WrittenEdit{"[L1.z=0,L0.z=0]"}, WrittenEdit{"L2.z=0"}));
}

TEST(Arguments, ASwitchOfAViewMeansYesWithoutAValue) {
  const auto is_on = [](const Words& more) {
    return parsed(Words{"heatmap", "--prompt", "x"} + more).session.options[kWithoutKey0];
  };
  EXPECT_FALSE(is_on({}));
  EXPECT_TRUE(is_on({"--without-key0"}));
  EXPECT_TRUE(is_on({"--without-key0", "--layer", "0"}));
  EXPECT_TRUE(is_on({"--without-key0", "yes"}));
  EXPECT_FALSE(is_on({"--without-key0", "no"}));
  EXPECT_FALSE(is_on({"--without-key0=no"}));
}

}  // namespace
}  // namespace headscope::app::arguments_test
