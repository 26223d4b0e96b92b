// What arguments fill; and that every error that a command line can cause is one sentence that names what is
// wrong.
#include <regex>

#include "app/ascii.h"
#include "app/cli/arguments.h"
#include "app/views/parts/weight_colors.h"
#include "tests/app/cli/command_runs.h"
#include "tests/support/environment.h"
#include "tests/support/temporary_folder.h"

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
  EXPECT_EQ(a.session.precision, model::Precision::bf16);
  EXPECT_EQ(a.prompt.from, From::given);
  EXPECT_EQ(a.session.prompt.text, "Hi");
  EXPECT_EQ(a.session.prompt.start_token, true);
  EXPECT_EQ(*a.session.second, "Ho");
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
    EXPECT_EQ(parsed({"lens", "--prompt", "x", "--second", text, "--json"}).session.second, text);
  }
}

TEST(Arguments, EditsAreTakenInTheirOrderAndWhole) {
  const Arguments a = parsed({"lens", "--edit", "[L1.z=0,L0.z=0]", "--prompt", "x", "--edit=L2.z=0"});
  EXPECT_THAT(a.session.edits, ElementsAre("[L1.z=0,L0.z=0]", "L2.z=0"));
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

/// ARGUMENTS => NAMED [& NAMED]: a line each; 'what has blanks' is one argument.
constexpr const char* kWrong[] = {
    // Commands and their options.
    "dance => dance & see headscope --help",
    "score --prompt x => did you mean scores & query",
    "--nonsense => --nonsense",
    "next --prompt x --position 3 => did you mean & --query",
    "predict => --prompt",
    "predict --prompt => --prompt & predict --help",
    "predict --prompt x --promt y => did you mean --prompt",
    "predict --prompt x --prompts y => --prompt & --prompts",
    "predict --prompt x --arrangement arcs => --arrangement",
    "generate --prompt x --temperature nan => --temperature & nan",
    "generate --prompt x --json --echo => --echo",
    "serve => --stdio",
    "get => headscope get gpt2",
    "a.safetensors --attention b.safetensors => attention patterns",
    "a.txt --over b.txt => one list of prompts",
    // Models and prompts.
    "predict --prompt-file nowhere => nowhere",
    "tokens --ids 1,x => --ids & x",
    "predict --prompt x --shard 0/2 => --shard & --prompts",
    "predict --prompts - --shard 2/2 => --shard",
    // Edits and comparisons.
    "predict --prompt a --edit nonsense => nonsense",
    "predict --prompt a --edit 'off: L0.z=0' => off:",
    "predict --prompt a --edit L1.z=0 L0.z=0 => unexpected & L0.z=0",
    "predict --prompt a --edits nowhere.txt => nowhere.txt",
    "predict --prompt a --edit L2.z<-second => second model",
    "heatmap --prompt a --show difference => --show",
    "heatmap --prompt a --align token => --align & --second",
    "embedding --prompt a --edit L0.z=0 --show difference => embedding & heatmap",
    // The selection, and what is measured.
    "heatmap --prompt a --layer 9 => layer 9 & --layer",
    "heatmap --prompt a --query 9 => token 9 & --query",
    "heatmap --prompt 'a b c' --query 1 --key 2 => key 2 & --key",
    "attribution --prompt 'a b' --token 4 => --token & text:4 & id:4 & rank:4",
    "saliency --prompt 'a b' --token rank:2 --other-token rank:2 --metric difference => both tokens",
    "saliency --prompt a --baseline mean => --baseline has no effect",
    "circuit --prompt 'a b' --edges 0 => --edges & 1",
    "sweep --prompt a --sweep-change patch => nothing to patch & second prompt",
    "next --prompt x --count 0 => --count takes a whole number from 1 to 1000 & 0",
    // Lists and means.
    "sweep --prompt a --mean => --mean & --prompts",
    "sweep --prompts - --mean --out a.png => standard input",
    "search --prompts x --mean --out a.png => search & no means",
    "search --prompt a --text list => --over",
    "parameters --prompt a --over l.txt => --over & metrics",
    // Answers and pictures in files.
    "predict --prompt x --out a.txt --json => one format",
    "predict --prompt x --out - => --out - & --format",
    "predict --prompt x --out a.png --format png => --format & --out -",
    "predict --prompt x --bom => --bom",
    "predict --prompt x --out a{n}.json => {n}",
    "heatmap --prompt x --size 400x300 => --size is for pictures",
    "heatmap --prompt x --svg-text --out a.png => --svg-text is for SVG",
    "heatmap --prompt x --out nowhere/a.png => nowhere",
    "heatmap --prompt x --out a.png --size 30000x30000 --scale 16 => pixels",
    "heatmap --recipe nowhere --out a.png => nowhere",
    "shot --prompt x => --out",
    "shot --prompt x --size 300x200 --out a.png => 300x200",
    "shot --prompt x --second-attention nowhere --out a.png => --second-attention & --attention",
    "shot --prompt x --view heatmap --strips products --out a.png => --strips & not shown",
    "shot --tour 2-attention --show baseline --out a.png => --tour & --show",
    // Traces.
    "trace --prompt x --out - => standard output",
    "trace --prompt x --out a.safetensors --hooks blocks.9.* => blocks.9.*",
    "trace --prompt x --out a.safetensors --position 3 => --position & --gradients",
    "trace --prompt x --out a.safetensors --gradients kl => --gradients kl",
    "trace --prompt x --out a.safetensors --gradients logit --second y => --second & kl",
};

TEST(Refusals, AreOneSentenceThatNamesWhatIsWrong) {
  for (const char* line : kWrong) {
    SCOPED_TRACE(line);
    const auto halves = split(line, " => "), quoted = split(halves.at(0), "'");
    Words arguments;
    for (std::size_t i = 0; i < quoted.size(); ++i)
      for (const std::string_view word : split(quoted[i], i % 2 == 1 ? "'" : " "))
        if (i % 2 == 1 || !word.empty()) arguments.emplace_back(word);
    const Ran ran = run_command(arguments);
    EXPECT_TRUE(ran.status == 1 || ran.status == 2) << ran.status;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, AllOf(StartsWith("headscope: "), EndsWith("\n")));
    EXPECT_LT(ran.err.size(), 700U);
    EXPECT_EQ(std::ranges::count_if(ran.err, [](char c) { return static_cast<unsigned char>(c) < 0x20; }), 1);
    for (const std::string_view name : split(halves.at(1), " & "))
      EXPECT_THAT(ran.err, HasSubstr(std::string(name)));
  }
}

TEST(Refusals, OfAFolderWithoutAModelSayWhichOneItShadows) {
  const TemporaryFolder here, cache;
  std::filesystem::create_directory(here.path() / "gpt2");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(here.path());
  set_variable("HF_HUB_CACHE", cache.path().string());
  EXPECT_THAT(fail({"info", "--model", "gpt2"}), HasSubstr("run headscope get gpt2"));
  const auto model =
      cache.write("models--openai-community--gpt2/snapshots/1/config.json", R"({"model_type":"gpt2"})");
  EXPECT_THAT(fail({"info", "--model", "gpt2"}), HasSubstr(model.parent_path().string()));
  unset_variable("HF_HUB_CACHE");
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace headscope::app::arguments_test
