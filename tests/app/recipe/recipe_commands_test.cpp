// Figures recreated from their recipes.

#include <nlohmann/json.hpp>

#include "app/cli/arguments/command.h"
#include "app/cli/commands/command_arguments.h"
#include "app/cli/program.h"
#include "app/recipe/recipe.h"
#include "app/run/sources/paths.h"
#include "app/views/option_names.h"
#include "app/views/parts/list_means.h"
#include "app/views/view.h"
#include "model/files/file_io.h"
#include "tests/app/command_runs.h"
#include "tests/support/temporary_folder.h"
#include "viz/scene/notes.h"

namespace headscope::app::recipe_commands_test {
namespace {

namespace fs = std::filesystem;

class RecipeCommands : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string bytes(const std::string& name) const { return model::read_file(folder_.path() / name); }
  /// Runs a command and returns the bytes of the file it writes.
  std::string made(std::vector<std::string> arguments, const std::string& name) const {
    arguments.insert(arguments.end(), {"--out", file(name)});
    const Ran ran = run_command(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, IsEmpty());
    return ran.status == 0 ? bytes(name) : "";
  }
  Recipe recipe(const std::string& name) const { return read_recipe(folder_.path() / name); }

  TemporaryFolder folder_;
};

const std::vector<std::string> kAsked{
    "--prompt", "The old king had a dog, and the old king", "--layer", "1", "--head", "2", "--query", "6"};

class EveryView : public RecipeCommands, public ::testing::WithParamInterface<std::string> {};

std::vector<std::string> all_ids_of_views() {
  std::vector<std::string> ids;
  for (const View& view : views()) ids.emplace_back(view.id);
  return ids;
}
INSTANTIATE_TEST_SUITE_P(Views, EveryView, ::testing::ValuesIn(all_ids_of_views()),
                         [](const auto& test) { return test.param; });

TEST_P(EveryView, IsMadeAgainWithItsOptions) {
  const View& view = *find_view(GetParam());
  std::vector<std::string> plot = std::vector<std::string>{"plot", GetParam()} + kAsked;
  if (can_show_means(view)) plot.resize(plot.size() - 2);  // means over a list have no query
  const auto next = [&](const OptionSpec& option) {
    if (&option == view.list_mean) return view.list_mean_value;
    return stepped(option, option.default_value, 1);
  };
  Options changed;
  for (const OptionSpec* option : view.options) {
    const bool is_kept = !option->pane_only && !option->reset_on_prompt_change;
    if (is_kept && next(*option) != option->default_value) changed.set(*option, next(*option));
  }
  for (const WrittenOption& option : written_options(changed, std::array{&view}, true))
    plot = plot + std::vector<std::string>{"--" + option.name, option.value};
  plot =
      plot + std::vector<std::string>{"--theme", "dark", "--font-size",  "12.5",  "--size",      "1400x1600",
                                      "--scale", "0.75", "--no-caption", "--bos", "--precision", "f16"};
  if (view.over_list != nullptr || view.list_mean != nullptr)
    plot = plot + std::vector<std::string>{"--over",
                                           folder_.write("list.txt", "The old king\nA dog\xff\n").string()};
  for (const OptionSpec* option : view.options)
    if (option->cells)
      plot = plot + std::vector<std::string>{"--" + std::string(option->flag_name()), "3.2,4.3"};
  const Ran ran = run_command(plot + std::vector<std::string>{"--out", file("a.png")});
  if (ran.status != 0) {
    ASSERT_THAT(ran.err, HasSubstr("the view heads does not fit any size with these options"));
    GTEST_SKIP() << ran.err;
  }
  EXPECT_EQ(made({"plot", "--recipe", file("a.png")}, "b.png"), bytes("a.png"));
}

TEST_F(RecipeCommands, APictureIsMadeAgainInEveryFormat) {
  const std::vector<std::string> plot = std::vector<std::string>{"plot", "heatmap"} + kAsked;
  for (const std::string format : {"png", "svg", "pdf"}) {
    const std::string first = made(plot, "a." + format);
    EXPECT_EQ(made({"plot", "--recipe", file("a." + format)}, "b." + format), first);
  }
  EXPECT_EQ(made({"plot", "--recipe", file("a.svg")}, "c.png"), bytes("a.png"));
  EXPECT_EQ(made({"plot", "--recipe", file("a.pdf")}, "d.png"), bytes("a.png"));
}

/// Width and height of a PNG.
std::pair<unsigned, unsigned> size_of_png(const std::string& png) {
  const auto number = [&](std::size_t at) {
    unsigned value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(png.at(at + i));
    return value;
  };
  return {number(16), number(20)};
}

TEST_F(RecipeCommands, FiguresForPaperAndSlidesAreMadeAgain) {
  using Words = std::vector<std::string>;
  const Words plot = Words{"plot", "query"} + kAsked + Words{"--no-title", "--theme", "dark", "--for"};
  for (const std::string target : {"column", "page", "slide"}) {
    const std::string first = made(plot + Words{target}, "a.svg");
    EXPECT_EQ(made({"plot", "--recipe", file("a.svg")}, "b.svg"), first) << target;
    const Recipe of_first = recipe("a.svg");
    EXPECT_EQ(name_of(kTargetNames, of_first.figure->target), target);
    EXPECT_FALSE(of_first.figure->title);
    EXPECT_EQ(made(arguments_of(of_first), "c.svg"), first) << "the command it names";
  }
  EXPECT_EQ(size_of_png(made({"plot", "--recipe", file("a.svg")}, "d.png")), std::pair(3840U, 2160U));
  EXPECT_EQ(size_of_png(made({"plot", "--recipe", file("a.svg"), "--for", "page"}, "e.png")).first, 1950U);
  EXPECT_EQ(
      size_of_png(made({"plot", "--recipe", file("a.svg"), "--for", "screen", "--size", "700x500"}, "f.png")),
      std::pair(1400U, 1000U));
}

TEST_F(RecipeCommands, EditsAndAComparisonAreMadeAgain) {
  const std::vector<std::vector<std::string>> comparisons{
      {"--edit", "L0H1.z=0; L1.pattern[5,2]~=0.5; L1.pattern[5,1]~=0.25", "--edit", "mask=none", "--show",
       "difference"},
      {"--edit", "L1.resid_pre[3]<-\"A dog had\"[1]", "--edit", "positions=none"},
      {"--second", "The young king had a cat", "--align", "token", "--show", "difference"},
      {"--second", "The \xff king", "--show", "baseline"}};
  for (const auto& comparison : comparisons) {
    const std::string first =
        made(std::vector<std::string>{"plot", "heatmap"} + kAsked + comparison, "a.png");
    EXPECT_EQ(made({"plot", "--recipe", file("a.png")}, "b.png"), first);
  }
}

TEST_F(RecipeCommands, ADifferenceWithNothingToCompareShowsTheRun) {
  made(std::vector<std::string>{"plot", "heatmap"} + kAsked, "plain.svg");
  made(std::vector<std::string>{"plot", "heatmap"} + kAsked +
           std::vector<std::string>{"--edit", "L0H1.z=0", "--show", "difference"},
       "a.svg");
  Recipe unedited = recipe("a.svg");
  for (WrittenEdit& edit : unedited.session.edits) edit.on = false;
  EXPECT_THAT(command_of(unedited), Not(HasSubstr("--show")));
  folder_.write("off.headscope", to_json(unedited));
  const auto picture = [](const std::string& svg) { return svg.substr(svg.find("</metadata>")); };
  EXPECT_EQ(picture(made({"plot", "--recipe", file("off.headscope")}, "off.svg")),
            picture(bytes("plain.svg")));
  EXPECT_EQ(picture(made({"plot", "--recipe", file("off.headscope"), "--edit", "L0H1.z=0"}, "on.svg")),
            picture(bytes("a.svg")));
}

TEST_F(RecipeCommands, SweepsAreMadeAgainAsPlots) {
  const std::vector<std::string> sweep{"sweep", "--prompt", "The old king had a dog"};
  const std::vector<std::vector<std::string>> others{
      {},
      {"--sweep-over", "layer-position", "--metric", "kl", "--size", "700x600", "--theme", "dark"},
      {"--token", "id:11", "--position", "3", "--metric", "probability", "--ablate", "mean"},
      {"--second", "The old king had a cat", "--edit", "L0H1.z=0"},
      {"--second", "The young queen had a small cat", "--align", "token"}};
  for (const auto& more : others) {
    const std::string first = made(sweep + more, "a.png");
    EXPECT_EQ(made({"plot", "--recipe", file("a.png")}, "b.png"), first);
    EXPECT_EQ(recipe("a.png").session.view, "sweep");
  }
  made(sweep + std::vector<std::string>{"--no-recipe"}, "c.svg");
  EXPECT_THAT(run_command({"info", file("c.svg")}).err, HasSubstr("found none"));
}

TEST_F(RecipeCommands, PromptsOfAnyBytesAreMadeAgain) {
  for (const std::string& prompt :
       {std::string("\xff\xfe \x01\n</metadata>"), std::string("--layer"), std::string("-"),
        std::string("a\0b", 3), std::string(), std::string("\xe4\xbd\xa0\xe5\xa5\xbd ]]> &amp; \"'")}) {
    for (const std::string format : {"png", "svg"}) {
      const std::string first = made({"plot", "heatmap", "--prompt=" + prompt}, "a." + format);
      EXPECT_EQ(recipe("a." + format).session.prompt.text, prompt);
      EXPECT_EQ(made({"plot", "--recipe", file("a." + format)}, "b." + format), first);
    }
  }
  const std::string ids = made({"plot", "tokens", "--ids", "5,300,7"}, "a.png");
  EXPECT_EQ(made({"plot", "--recipe", file("a.png")}, "b.png"), ids);
}

TEST_F(RecipeCommands, OptionsThatAreGivenTakeThePlaceOfTheRecipes) {
  made(std::vector<std::string>{"plot", "heatmap"} + kAsked, "a.png");
  made({"plot", "--recipe", file("a.png"), "--head", "3", "--prompt", "Another prompt of many tokens",
        "--theme", "dark"},
       "b.png");
  EXPECT_EQ(recipe("b.png").session.prompt.text, "Another prompt of many tokens");
  EXPECT_EQ(recipe("b.png").session.selection, (Selection{1, 3, 6, -1}));
  EXPECT_TRUE(recipe("b.png").session.look.dark);
  made({"plot", "--recipe=" + file("b.png"), "--ids=1,2,3", "--query=-1", "query"}, "c.svg");
  EXPECT_EQ(recipe("c.svg").session.view, "query");
  EXPECT_EQ(recipe("c.svg").session.prompt.ids, (std::vector{1, 2, 3}));
  EXPECT_EQ(recipe("c.svg").session.prompt.text, "");
  EXPECT_EQ(recipe("c.svg").session.selection, (Selection{1, 3, -1, -1}));
}

TEST_F(RecipeCommands, AWidthIsMadeAgain) {
  for (const std::string view : {"heatmap", "metrics"}) {
    const std::string first = made(
        std::vector<std::string>{"plot", view} + kAsked + std::vector<std::string>{"--size", "640"}, "a.png");
    const Recipe a = recipe("a.png");
    EXPECT_EQ(a.figure->page, Page::width);
    EXPECT_EQ(made({"plot", "--recipe", file("a.png")}, "b.png"), first);
    EXPECT_EQ(made(arguments_of(a), "c.png"), first);
    EXPECT_NE(made({"plot", "--recipe", file("a.png"), "--size", "fit"}, "d.png"), first);
  }
}

TEST_F(RecipeCommands, NothingIsCarriedWhereThatIsNotWanted) {
  const std::vector<std::string> plot = std::vector<std::string>{"plot", "heatmap"} + kAsked;
  for (const std::string format : {"png", "svg"}) {
    const std::string bare = made(plot + std::vector<std::string>{"--no-recipe"}, "a." + format);
    EXPECT_EQ(viz::find_note(bare, kRecipeNote), std::nullopt);
    EXPECT_THAT(bare, Not(HasSubstr("old king had a dog, and")));
    const Ran ran = run_command({"plot", "--recipe", file("a." + format), "--out", file("b.png")});
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("found none"));
    made({"plot", "heatmap", "--prompt", "x"}, "c." + format);
    made({"plot", "--recipe", file("c." + format), "--no-recipe"}, "d." + format);
    EXPECT_EQ(viz::find_note(bytes("d." + format), kRecipeNote), std::nullopt);
  }
}

TEST_F(RecipeCommands, InfoTellsWhatAFigureWasMadeOf) {
  made(std::vector<std::string>{"plot", "heatmap", "--edit", "L0H1.z=0"} + kAsked, "a.svg");
  const std::string words = run_command({"info", file("a.svg")}).out;
  EXPECT_THAT(words, AllOf(HasSubstr("tales"), HasSubstr("sha256:"), HasSubstr("old·king"),
                           HasSubstr("L0H1.z=0"), HasSubstr("heatmap")));
  const auto json = nlohmann::json::parse(run_command({"info", "--json", file("a.svg")}).out);
  EXPECT_EQ(json["prompt"]["text"], kAsked[1]);
  EXPECT_EQ(run_command({"info", file("none.png")}).status, 1);
  EXPECT_EQ(run_command({"info", file("a.svg"), "--model", "x"}).status, 2);
}

TEST_F(RecipeCommands, OtherWeightsAreASentenceUnlessTheModelIsNamed) {
  made({"plot", "heatmap", "--prompt", "x"}, "a.svg");
  Recipe other = recipe("a.svg");
  other.session.model.weights = "sha256:" + std::string(64, '0');
  folder_.write("b.headscope", to_json(other));
  const Ran ran = run_command({"plot", "--recipe", file("b.headscope"), "--out", file("b.png")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("different weights"), HasSubstr("--model")));
  EXPECT_FALSE(fs::exists(file("b.png")));
  made({"plot", "--recipe", file("b.headscope"), "--model", bundled_model().string()}, "b.png");
}

TEST_F(RecipeCommands, AModelIsANameAndNeverAPlace) {
  made({"plot", "heatmap", "--prompt", "x"}, "a.svg");
  Recipe other = recipe("a.svg");
  for (const std::string& name : {bundled_model().string(), std::string("../tales"), std::string("no/such"),
                                  std::string(), std::string("."), std::string("/")}) {
    other.session.model.name = name;
    folder_.write("b.headscope", to_json(other));
    const Ran ran = run_command({"plot", "--recipe", file("b.headscope"), "--out", file("b.png")});
    EXPECT_EQ(ran.status, 1) << name;
    EXPECT_THAT(ran.err, HasSubstr("--model")) << name;
  }
}

TEST_F(RecipeCommands, ARecipeNeverSaysWhatIsWritten) {
  made({"plot", "heatmap", "--prompt", "x"}, "a.svg");
  auto json = nlohmann::json::parse(to_json(recipe("a.svg")));
  json["out"] = file("stolen.png");
  json["figure"]["out"] = file("stolen.png");
  json["command"] = "headscope plot heatmap --out " + file("stolen.png");
  folder_.write("b.headscope", json.dump());
  made({"plot", "--recipe", file("b.headscope")}, "c.png");
  EXPECT_FALSE(fs::exists(file("stolen.png")));
  json["options"]["out"] = file("stolen.png");
  folder_.write("b.headscope", json.dump());
  const Ran ran = run_command({"plot", "--recipe", file("b.headscope"), "--out", file("d.png")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("does not have"));
  const Ran bare = run_command({"plot", "--recipe", file("a.svg")});
  EXPECT_EQ(bare.status, 2);
  EXPECT_THAT(bare.err, HasSubstr("--out is missing"));
}

TEST_F(RecipeCommands, AFileAloneOpensTheWindow) {
  for (const std::string name : {"a.headscope", "some/figure", "b.png"}) {
    const ParsedCommand command = parse_command_line({name});
    ASSERT_NE(command_arguments<WindowCommand>(command), nullptr) << name;
    EXPECT_EQ(command_arguments<WindowCommand>(command)->file, name);
  }
  EXPECT_EQ(std::get<CommandReply>(parse_command_line({"nonsense"})).status, 2);
  EXPECT_EQ(std::get<CommandReply>(parse_command_line({"a.headscope", "--prompt", "x"})).status, 2);
  EXPECT_EQ(run_command({file("none.headscope")}).status, 1);
}

TEST_F(RecipeCommands, AWindowIsMadeAgain) {
  const std::vector<std::string> shot{
      "shot",    "--view",      "query",  "--prompt", "The old king had a dog",
      "--layer", "1",           "--edit", "L0H1.z=0", "--size",
      "900x700", "--font-size", "13",     "--theme",  "dark"};
  const std::string first = made(shot, "a.png");
  EXPECT_TRUE(recipe("a.png").figure->window);
  EXPECT_EQ(made({"plot", "--recipe", file("a.png")}, "b.png"), first);
  EXPECT_EQ(made({"shot", "--recipe", file("a.png")}, "c.png"), first);
  const Ran ran = run_command({"shot", "--recipe", file("a.png"), "--layer", "2", "--out", file("d.png")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("except for its size"));
  EXPECT_EQ(viz::find_note(made(shot + std::vector<std::string>{"--no-recipe"}, "e.png"), kRecipeNote),
            std::nullopt);
}

TEST_F(RecipeCommands, WhatARecipeHasAndAnotherPromptDoesNotIsSaidToBeTheRecipes) {
  made({"plot", "heatmap", "--prompt", "The old king had", "--query", "3", "--key", "2"}, "a.svg");
  const Words again{"plot", "--recipe", file("a.svg"), "--out", file("b.svg"), "--prompt", "The old"};
  EXPECT_THAT(fail(again), HasSubstr("it comes from the recipe: override it with --query"));
  EXPECT_THAT(fail(again + Words{"--query", "1"}),
              HasSubstr("it comes from the recipe: override it with --key"));
  EXPECT_EQ(run_command(again + Words{"--query", "1", "--key", "0"}).status, 0);
}

TEST_F(RecipeCommands, AWindowHasItsSecondView) {
  const std::vector<std::string> shot{"shot",    "--view",   "sweep",       "--beside",
                                      "heatmap", "--prompt", "The old king"};
  const std::string first = made(shot, "a.png");
  EXPECT_NE(made({"shot", "--view", "sweep", "--prompt", "The old king"}, "b.png"), first);
  EXPECT_EQ(recipe("a.png").session.second_view, "heatmap");
  EXPECT_THAT(run_command({"info", file("a.png")}).out,
              AllOf(HasSubstr("with sweep and heatmap"), HasSubstr("--beside heatmap")));
  EXPECT_EQ(made(arguments_of(recipe("a.png")), "c.png"), first);
  EXPECT_EQ(
      run_command({"shot", "--view", "lens", "--beside", "lens", "--prompt", "x", "--out", file("d.png")})
          .status,
      2);
}

TEST_F(RecipeCommands, CommandsNameOptionsByTheirFlags) {
  const auto line = [&](const std::string& name) { return run_command({"info", file(name)}).out; };
  const Words prompt{"--prompt", "The old king had a"};
  const std::string figure = made(
      Words{"plot", "sweep", "--metric", "difference", "--token", " dog", "--other-token", "rank:2"} + prompt,
      "a.svg");
  EXPECT_THAT(line("a.svg"), AllOf(HasSubstr("--token id:"), HasSubstr("--other-token rank:2"),
                                   Not(HasSubstr("sweep-id")), Not(HasSubstr("sweep-other-rank"))));
  EXPECT_EQ(made(arguments_of(recipe("a.svg")), "b.svg"), figure);
  made(Words{"plot", "saliency", "--metric", "loss"} + prompt, "c.svg");
  EXPECT_THAT(line("c.svg"), AllOf(HasSubstr("option     metric loss"), HasSubstr("--metric loss"),
                                   Not(HasSubstr("saliency-metric"))));
  // A second prompt would choose to patch: what was asked for instead is said.
  const std::string ablated = made(
      Words{"plot", "sweep", "--second", "The old queen had a", "--sweep-change", "zero"} + prompt, "d.svg");
  EXPECT_EQ(made(arguments_of(recipe("d.svg")), "e.svg"), ablated);
  EXPECT_NE(made(Words{"plot", "sweep", "--second", "The old queen had a"} + prompt, "f.svg"), ablated);
  EXPECT_THAT(line("f.svg"), HasSubstr("--sweep-change patch"));
  const std::string window = made(Words{"shot", "--view", "sweep", "--beside", "saliency", "--sweep-metric",
                                        "kl", "--saliency-metric", "loss", "--size", "1024x700"} +
                                      prompt,
                                  "g.png");
  EXPECT_THAT(line("g.png"), AllOf(HasSubstr("--sweep-metric kl"), HasSubstr("--saliency-metric loss")));
  EXPECT_EQ(made(arguments_of(recipe("g.png")), "h.png"), window);
  const std::string token =
      made(Words{"shot", "--view", "sweep", "--token", " dog", "--size", "1024x700"} + prompt, "i.png");
  EXPECT_THAT(line("i.png"), HasSubstr("--token id:"));
  EXPECT_EQ(made(arguments_of(recipe("i.png")), "j.png"), token);
  EXPECT_NE(made({"shot", "--recipe", file("i.png"), "--token", "rank:2"}, "k.png"), token);
}

TEST_F(RecipeCommands, AWindowIsMadeOfAViewThatHasAPlaceOfItsOwnInIt) {
  made({"plot", "next", "--prompt", "The old king"}, "a.svg");
  made({"shot", "--recipe", file("a.svg"), "--size", "1024x700"}, "b.png");
  EXPECT_EQ(recipe("b.png").session.view, Session{}.view);
}

TEST_F(RecipeCommands, WhatIsGivenBesideARecipeIsReadAsElsewhere) {
  made({"plot", "heatmap", "--prompt", "The old king"}, "a.svg");
  folder_.write("p.jsonl", "\"one two\"\nnot json\n\"three\"\n");
  const Ran many = run_command({"plot", "--recipe", file("a.svg"), "--skip-errors", "lines", "--prompts",
                                file("p.jsonl"), "--out", file("{n}.svg")});
  EXPECT_EQ(many.status, 0) << many.err;
  EXPECT_EQ(recipe("3.svg").session.view, "lines");
  EXPECT_EQ(recipe("3.svg").session.prompt.text, "three");
  made({"plot", "--recipe", file("a.svg"), "--prompt", "--help"}, "b.svg");
  EXPECT_EQ(recipe("b.svg").session.prompt.text, "--help");
}

TEST_F(RecipeCommands, TriesOfAnotherVocabularyAreASentence) {
  made({"plot", "tree", "--prompt", "The old king"}, "a.svg");
  Recipe other = recipe("a.svg");
  other.session.tries = {{{1, 999999}, 1, {0.5}}};
  folder_.write("b.headscope", to_json(other));
  const Ran ran = run_command({"plot", "--recipe", file("b.headscope"), "--out", file("b.png")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("does not have"));
}

}  // namespace
}  // namespace headscope::app::recipe_commands_test
