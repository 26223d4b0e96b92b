#include "app/cli/arguments/command.h"

#include <random>
#include <regex>

#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/figure.h"
#include "app/cli/commands/recipes.h"
#include "app/views/output/sampling_options.h"
#include "app/views/parts/weight_colors.h"
#include "tests/app/command_runs.h"

namespace headscope::app::cli_test {
namespace {

TEST(Cli, WithoutACommandTheWindowOpens) {
  const auto plain = parsed<WindowCommand>({});
  EXPECT_EQ(plain.model.model, std::nullopt);
  EXPECT_EQ(plain.prompt.from, PromptArguments::From::nothing);

  const auto given = parsed<WindowCommand>(
      {"--model", "m", "--prompt", "Hi", "--bos", "--threads", "3", "--precision", "bf16"});
  EXPECT_EQ(given.model.model, "m");
  EXPECT_EQ(given.model.threads, 3);
  EXPECT_EQ(given.model.precision, model::Precision::bf16);
  EXPECT_EQ(given.prompt.from, PromptArguments::From::text);
  EXPECT_EQ(given.prompt.text, "Hi");
  EXPECT_TRUE(given.prompt.start_token);
}

TEST(Cli, TheWindowTakesAttentionInPlaceOfAModel) {
  const auto window =
      parsed<WindowCommand>({"--attention", "a.safetensors", "--second-attention", "b.safetensors"});
  EXPECT_TRUE(window.model.patterns);
  EXPECT_EQ(window.model.model, "a.safetensors");
  EXPECT_EQ(window.comparison.second_attention, "b.safetensors");
  EXPECT_EQ(parsed<WindowCommand>({"kept.headscope", "--attention", "a.safetensors"}).file, "kept.headscope");
  EXPECT_EQ(parsed<WindowCommand>({"a.safetensors", "--second-attention", "b.safetensors"}).file,
            "a.safetensors");
}

TEST(Cli, TheWindowOpensAListOfPromptsBesideAPrompt) {
  const auto window = parsed<WindowCommand>({"pairs.jsonl", "--prompt", "Hi"});
  EXPECT_EQ(window.over_list, "pairs.jsonl");
  EXPECT_TRUE(window.file.empty());
  EXPECT_EQ(window.prompt.text, "Hi");
}

TEST(Cli, CommonOptionsMayStandBeforeTheCommand) {
  const auto info = parsed<Arguments>({"--model", "m", "info", "--json"});
  EXPECT_EQ(info.model.model, "m");
  EXPECT_TRUE(info.json);
  EXPECT_EQ(parsed<PredictCommand>({"--prompt", "x", "predict"}).prompt.text, "x");
}

TEST(Cli, PromptsOfEveryKind) {
  EXPECT_THAT(parsed<Arguments>({"tokens", "--ids", "1, 2,3"}).prompt.ids, ElementsAre(1, 2, 3));
  EXPECT_THAT(parsed<Arguments>({"tokens", "--ids", ""}).prompt.ids, ElementsAre());
  EXPECT_THAT(parsed<Arguments>({"tokens", "--ids", "-1"}).prompt.ids,
              ElementsAre(-1));  // rejected by the run
  const auto file = parsed<Arguments>({"tokens", "--prompt-file", "-"}).prompt;
  EXPECT_EQ(file.from, PromptArguments::From::file);
  EXPECT_EQ(file.file, "-");
  EXPECT_EQ(parsed<Arguments>({"tokens", "--prompts", "p.jsonl"}).prompt.from, PromptArguments::From::list);
}

TEST(Cli, APromptIsTakenAsItIs) {
  const Words hostile = {"",      "-",     "--",      "--help", "-h",       "--json",       "--prompt=",
                         "{}",    "%%",    "[]",      "[a,b]",  "a,b",      "\"q\"",        "'q'",
                         "@file", "--a=b", "predict", "heads",  "x\ny\n",   "\xff\xe2\x82", " -5 ",
                         "-5",    "/help", "\\n",     "~",      "$HOME",    "a=b",          "=",
                         "--ids", "++",    "true",    "nan",    "\x1b[31m", "{n}",          "<|endoftext|>"};
  for (const std::string& text : hostile) {
    EXPECT_EQ(parsed<PredictCommand>({"predict", "--prompt", text}).prompt.text, text);
    EXPECT_EQ(parsed<PredictCommand>({"predict", "--prompt=" + text, "--json"}).prompt.text, text);
    EXPECT_EQ(parsed<WindowCommand>({"--prompt", text}).prompt.text, text);
  }
}

TEST(Cli, AValueThatLooksLikeACommandIsNone) {
  EXPECT_EQ(parsed<PredictCommand>({"--prompt", "predict", "predict"}).prompt.text, "predict");
  EXPECT_EQ(
      parsed<PlotCommand>({"plot", "heatmap", "--value-scale", "log", "--prompt", "heads", "--out", "a.png"})
          .prompt.text,
      "heads");
}

/// Recipes name options without their view.
TEST(Cli, AViewsOptionHasItsValueWithoutItsView) {
  const std::vector<Word> words = words_of({"plot", "--recipe", "a.png", "--value-scale", "log"});
  ASSERT_EQ(words.size(), 3U);
  EXPECT_EQ(words[2].option, "--value-scale");
  EXPECT_EQ(words[2].value, "log");
  const auto again = parsed<RecipeCommand>({"plot", "--recipe", "a.png", "--value-scale", "log"});
  EXPECT_EQ(again.words.size(), 1U);
}

TEST(Cli, AQueryIsAPositionFromZero) {
  const auto plot = [](Words more) {
    more.insert(more.begin(), {"plot", "heatmap", "--prompt", "x", "--out", "a.png"});
    return more;
  };
  EXPECT_EQ(parsed<PlotCommand>(plot({"--query", "4"})).selection, (Selection{0, 0, 4}));
  EXPECT_EQ(parsed<SweepCommand>({"sweep", "--prompt", "x", "--sweep-over", "layer-position"}).over,
            SweepOver::positions);
  EXPECT_THAT(wrong_use({"sweep", "--prompt", "x", "--sweep-over", "heads", "stray"}),
              HasSubstr("\"stray\""));
  EXPECT_THAT(wrong_use(plot({"--query", "-2"})), HasSubstr("--query takes"));
  EXPECT_THAT(answered({"plot", "heatmap", "--help"}).text,
              AllOf(HasSubstr("--query I "), Not(HasSubstr("--token"))));
  EXPECT_THAT(answered({"sweep", "--help"}).text,
              AllOf(HasSubstr("--sweep-over "), Not(HasSubstr("  --over"))));
}

TEST(Cli, Generate) {
  const auto generate = parsed<GenerateCommand>({"generate", "--prompt", "x", "--tokens", "7",
                                                 "--temperature", "0.5", "--top-k", "40", "--top-p", "0.9",
                                                 "--seed", "18446744073709551615", "--echo"});
  EXPECT_EQ(generate.tokens, 7);
  EXPECT_EQ(generate.sampling.temperature, 0.5);
  EXPECT_EQ(generate.sampling.top_k, 40);
  EXPECT_EQ(generate.sampling.top_p, 0.9);
  EXPECT_EQ(generate.seed, 18446744073709551615U);
  EXPECT_TRUE(generate.echo);
}

TEST(Cli, Trace) {
  const auto trace = parsed<TraceCommand>(
      {"trace", "--prompt", "x", "--hooks", "blocks.*.attn.hook_q,logits", "--out", "t.safetensors"});
  EXPECT_EQ(trace.hooks, "blocks.*.attn.hook_q,logits");
  EXPECT_EQ(trace.out, "t.safetensors");
  parsed<TraceCommand>({"trace", "--prompts", "x", "--out", "t{n}.safetensors"});
}

TEST(Cli, TraceTakesAMetricWithItsTokens) {
  const Words trace{"trace", "--prompt", "x", "--out", "t.safetensors"};
  const auto gradients = [&](const Words& more) { return parsed<TraceCommand>(trace + more).gradients; };
  EXPECT_EQ(gradients({}).given_metric, std::nullopt);
  const auto of = gradients(
      {"--gradients", "difference", "--token", " Mary", "--other-token", " John", "--position", "4"});
  EXPECT_EQ(of.metric, GradientMetric::difference);
  EXPECT_EQ(of.token, (GivenToken{GivenToken::By::text, " Mary"}));
  EXPECT_EQ(of.other_token, (GivenToken{GivenToken::By::text, " John"}));
  EXPECT_EQ(of.position, 4);
  for (const Words& baseline : {Words{"--edit", "L1H1.z=0"}, Words{"--edits", "e.json"},
                                Words{"--second", "y"}, Words{"--second-model", "m"}})
    EXPECT_EQ(gradients(Words{"--gradients", "kl"} + baseline).metric, GradientMetric::divergence);
}

TEST(Cli, EveryViewCanBePlottedWithEachOfItsOptions) {
  for (const View& view : views()) {
    const std::string id(view.id);
    const auto plot = parsed<PlotCommand>({"plot", id, "--prompt", "x", "--out", "x.svg"});
    EXPECT_EQ(plot.views, std::vector<std::string>{id});
    EXPECT_EQ(plot.options, Options{});
    const std::string help = answered({"plot", id, "--help"}).text;
    for (const OptionSpec* option : view.options)
      EXPECT_EQ(help.find("--" + std::string(option->flag_name()) + " " + values_of(*option)) == help.npos,
                option->pane_only)
          << option->name;
  }
}

TEST(Cli, AViewTakesNoOtherViewsOptions) {
  for (const View& view : views()) {
    const auto other = std::ranges::find_if(all_options(), [&](const OptionSpec* option) {
      return std::ranges::find(view.options, option) == view.options.end();
    });
    const std::string name = "--" + std::string((*other)->name);
    EXPECT_THAT(wrong_use({"plot", std::string(view.id), "--prompt", "x", "--out", "x.svg", name, "1"}),
                HasSubstr(name));
  }
}

TEST(Cli, ViewOptionsReachTheirPlace) {
  EXPECT_EQ(
      parsed<PlotCommand>({"plot", "heatmap", "--prompt", "x", "--out", "x.svg", "--value-scale", "log"})
          .options[kValueScale],
      ValueScale::logarithmic);
  EXPECT_THAT(wrong_use({"plot", "heatmap", "--prompt", "x", "--out", "x.svg", "--value-scale", "cubic"}),
              HasSubstr("--value-scale"));
  EXPECT_EQ(parsed<ShotCommand>({"shot", "--out", "x.png", "--value-scale", "log"}).options[kValueScale],
            ValueScale::logarithmic);
}

TEST(Cli, NumbersOfAViewKeepToTheLimitsOfItsOption) {
  const auto next = [](Words more) {
    more.insert(more.begin(), {"plot", "next", "--prompt", "x", "--out", "x.svg"});
    return more;
  };
  EXPECT_EQ(parsed<PlotCommand>(next({"--temperature", "2"})).options[kTemperature], 2);
  EXPECT_EQ(
      std::get<int>(parsed<PlotCommand>(next({"--count", "1000"})).options.value(*find_option("count"))),
      1000);
  for (const char* count : {"0", "1001", "-1", "3.5", "99999999999"})
    EXPECT_THAT(wrong_use(next({"--count", count})),
                HasSubstr("--count takes a whole number from 1 to 1000"));
  for (const char* temperature : {"0", "2.01", "-1", "nan", "1x"}) {
    EXPECT_THAT(wrong_use(next({"--temperature", temperature})),
                HasSubstr("--temperature takes a number from 0.05 to 2, not \"" + std::string(temperature)));
  }
}

TEST(Cli, YesOrNoOptionsMeanYesWhenNothingFollows) {
  const auto without_key0 = [](Words more) {
    more.insert(more.begin(), {"plot", "heatmap", "--prompt", "x", "--out", "x.svg"});
    return parsed<PlotCommand>(more).options[kWithoutKey0];
  };
  EXPECT_FALSE(without_key0({}));
  EXPECT_TRUE(without_key0({"--without-key0"}));
  EXPECT_TRUE(without_key0({"--without-key0", "--layer", "0"}));
  EXPECT_TRUE(without_key0({"--without-key0", "yes"}));
  EXPECT_FALSE(without_key0({"--without-key0", "no"}));
  EXPECT_FALSE(without_key0({"--without-key0=no"}));
}

TEST(Cli, PlotsPicture) {
  const auto plot = parsed<PlotCommand>({"plot",   "heatmap",     "--prompt", "x",          "--layer",
                                         "2",      "--head",      "3",        "--query",    "4",
                                         "--size", "640x480",     "--scale",  "1.5",        "--theme",
                                         "dark",   "--font-size", "12",       "--svg-text", "--no-caption",
                                         "--out",  "a.SVG"});
  EXPECT_EQ(plot.selection, (Selection{2, 3, 4}));
  EXPECT_EQ(plot.picture.width, 640);
  EXPECT_EQ(plot.picture.height, 480);
  EXPECT_EQ(plot.picture.scale, 1.5F);
  EXPECT_TRUE(plot.picture.dark);
  EXPECT_EQ(plot.picture.font_size, 12.0F);
  EXPECT_TRUE(plot.svg_text);
  EXPECT_TRUE(plot.no_caption);

  EXPECT_EQ(parsed<PlotCommand>({"plot", "heatmap", "--prompt", "x", "--out", "a.png"}).picture.height, 0);
  const auto fit =
      parsed<PlotCommand>({"plot", "heatmap", "--prompt", "x", "--size", "fit", "--out", "a.png"});
  EXPECT_EQ(fit.picture.height, 0) << "fit is the default";
  const auto wide =
      parsed<PlotCommand>({"plot", "heatmap", "--prompt", "x", "--size", "640", "--out", "a.png"});
  EXPECT_TRUE(wide.picture.width == 640 && wide.picture.height == 0 && wide.picture.page == Page::width);
}

TEST(Cli, LensAndAttribute) {
  const auto lens = parsed<LensCommand>({"lens", "--prompts", "f", "--top", "2", "--json"});
  EXPECT_EQ(lens.prompt.from, PromptArguments::From::list);
  EXPECT_EQ(lens.top, 2);
  EXPECT_TRUE(lens.json);
  EXPECT_EQ(parsed<LensCommand>({"lens", "--prompt", "x"}).guesses(), 5);

  const auto bare = parsed<AttributeCommand>({"attribute", "--prompt", "x"});
  EXPECT_TRUE(bare.measured.token.empty() && bare.measured.other_token.empty() && !bare.sources &&
              !bare.json);
  EXPECT_EQ(bare.measured.metric, GradientMetric::logit);
  EXPECT_FALSE(bare.measured.position);
  const auto full = parsed<AttributeCommand>({"attribute", "--prompt", "x", "--token", " it", "--other-token",
                                              "id:11", "--position", "3", "--sources", "2.1", "--json"});
  EXPECT_EQ(full.measured.token, (GivenToken{GivenToken::By::text, " it"}));
  EXPECT_EQ(full.measured.other_token, (GivenToken{GivenToken::By::id, "", 11}));
  EXPECT_EQ(full.measured.metric, GradientMetric::difference);
  EXPECT_EQ(full.measured.position, 3);
  EXPECT_EQ(
      parsed<AttributeCommand>({"attribute", "--prompt", "x", "--other-token", "a"}).measured.other_token,
      (GivenToken{GivenToken::By::text, "a"}));
  ASSERT_TRUE(full.sources);
  EXPECT_EQ(full.sources->layer, 2);
  EXPECT_EQ(full.sources->head, 1);
  EXPECT_TRUE(full.json);
  EXPECT_EQ(parsed<AttributeCommand>({"attribute", "--prompt", "x", "--sources", "all"}).sources->layer,
            kAll);
}

TEST(Cli, GetTakesANameOfTheHub) {
  EXPECT_EQ(parsed<GetCommand>({"get", "gpt2"}).wanted, (HubModel{"openai-community/gpt2", "main"}));
  EXPECT_EQ(parsed<GetCommand>({"get", "a/b@v1"}).wanted, (HubModel{"a/b", "v1"}));
  EXPECT_TRUE(parsed<Arguments>({"info", "--model", "gpt2", "--get"}).model.get);
  EXPECT_FALSE(parsed<Arguments>({"info", "--model", "gpt2"}).model.get);
}

TEST(Cli, HelpAndVersionAreAnswers) {
  const CommandReply help = answered({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.text, HasSubstr("--model"));
  for (const CommandRow& row : command_rows()) {
    const std::string command(row.name);
    EXPECT_THAT(help.text, AllOf(HasSubstr(command), HasSubstr(std::string(row.help).substr(0, 20))));
    const CommandReply of_command = answered({command, "--help"});
    EXPECT_EQ(of_command.status, 0);
    EXPECT_THAT(of_command.text, HasSubstr("headscope " + command));
  }
  EXPECT_EQ(answered({"--version"}).status, 0);
  const std::regex version("headscope [0-9]+\\.[0-9]+\\.[0-9]+\n");
  EXPECT_TRUE(std::regex_match(answered({"--version"}).text, version));
}

TEST(Cli, AnIdBeyondEveryVocabularyIsNoWrongUse) {
  const CommandReply answer = answered({"tokens", "--ids", "99999999999"});
  EXPECT_EQ(answer.status, 1);
  EXPECT_THAT(answer.text, HasSubstr("99999999999"));
}

TEST(Cli, AnyArgumentsWhateverGiveAnAnswerOrACommand) {
  Words words = {"--",       "-",
                 "",         "=",
                 "--=",      "-h",
                 "--help",   "-x",
                 "--prompt", "--prompt=",
                 "--ids",    "1,2",
                 "--out",    "a.png",
                 "--json",   "--size",
                 "10x10",    "plot",
                 "heatmap",  "predict",
                 "tokens",   "trace",
                 "shot",     "doctor",
                 "--view",   "--value-scale",
                 "log",      "--bos",
                 "--bos=3",  "--json=maybe",
                 "--top",    "-3",
                 "[1,2]",    "{}",
                 "%%",       "\xff\xfe",
                 "--\xff",   "99999999999999999999",
                 "1e999",    "--layer=--head"};
  std::mt19937 generator(7);
  std::vector<int> kinds(3);
  for (int round = 0; round < 1000; ++round) {
    Words arguments;
    for (auto length = generator() % 7; length > 0; --length) {
      std::string word = words[generator() % words.size()];
      if (generator() % 8 == 0) word += static_cast<char>(generator() % 255 + 1);
      arguments.push_back(std::move(word));
    }
    const ParsedCommand command = parse_command_line(arguments);  // must not throw
    const auto* answer = std::get_if<CommandReply>(&command);
    ++kinds[answer ? (answer->status == 0 ? 0 : 1) : 2];
    if (answer) {
      EXPECT_FALSE(answer->text.empty());
      EXPECT_THAT(answer->status, AllOf(::testing::Ge(0), ::testing::Le(2)));
    }
  }
  EXPECT_THAT(kinds, Each(::testing::Gt(10)));  // the words reach every kind of command
}

}  // namespace
}  // namespace headscope::app::cli_test
