// Figures are made again, from their recipes and by the commands that these name: of views, lists, second
// models and attention files.
#include "app/cli/recipes.h"
#include "app/recipe/recipe.h"
#include "app/run/sources/paths.h"
#include "app/views/view.h"
#include "tests/app/cli/command_runs.h"
#include "tests/app/two_models/second_model.h"
#include "tests/app/views/view_suite.h"
#include "tests/support/environment.h"
#include "tests/support/pattern_files.h"
#include "viz/scene/notes.h"

namespace headscope::app::figures_test {
namespace {

using namespace headscope::testing;

class Figures : public FigureFiles {
 protected:
  /// Expects the same figure of its recipe and, but for a list, of the command that it names.
  void expect_made_again(const std::string& name) const {
    const Recipe of = recipe(name);
    const std::string first = bytes(name), command = of.figure->window ? "shot" : of.session.view;
    EXPECT_TRUE(made({command, "--recipe", path(name)}, "again-" + name) == first) << command_of(of);
    if (of.session.prompts) return;
    EXPECT_TRUE(made(arguments_of(of), "command-" + name) == first) << command_of(of);
  }
};

const Words kAsked{
    "--prompt", "The old king had a dog, and the old king", "--layer", "1", "--head", "2", "--query", "6"};

class EveryFigure : public Figures, public ::testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Views, EveryFigure, ::testing::ValuesIn(ids_of_views()),
                         [](const auto& test) { return test.param; });

TEST_P(EveryFigure, IsMadeAgainWithItsOptions) {
  const View& view = *find_view(GetParam());
  Words words = Words{GetParam()} + kAsked;
  Options changed;
  for (const OptionSpec* option : view.options) {
    const bool is_other_list = option == view.over_list.option && view.list_mean.option != nullptr;
    if (option->of_prompt || option->reset_on_prompt_change || is_other_list) continue;
    changed.set(*option, option == view.list_mean.option ? view.list_mean.value
                         : option->cells                 ? std::vector{head_number(3, 2), head_number(4, 3)}
                                                         : stepped(*option, option->default_value, 1));
  }
  const View* const shown[] = {&view};
  for (const OptionSpec* option : chosen_options(shown, changed))
    words = words + Words{"--" + std::string(option->flag_name()), to_text(*option, changed.value(*option))};
  words =
      words +
      split_words(
          "--theme dark --font-size 12.5 --size 1400x1600 --scale 0.75 --no-caption --bos --precision f16");
  if (view.over_list.option != nullptr || view.list_mean.option != nullptr)
    words = words + Words{"--over", folder_.write("list.txt", "The old king\nA dog\xff\n").string()};
  const Ran ran = run_command(words + Words{"--out", path("a.png")});
  if (ran.status != 0) {
    ASSERT_THAT(ran.err, HasSubstr("does not fit any size with these options"));
    GTEST_SKIP() << ran.err;
  }
  expect_made_again("a.png");
}

TEST_F(Figures, OfEverySizeAndTargetAreMadeAgain) {
  for (const Words& how : {Words{}, Words{"--size", "640"}, Words{"--size", "640x700", "--theme", "dark"},
                           Words{"--for", "column", "--no-title"}, Words{"--for", "page", "--size", "fit"},
                           Words{"--for", "slide"}})
    for (const char* name : {"a.png", "a.svg", "a.pdf"}) {
      made(Words{"query"} + kAsked + how, name);
      expect_made_again(name);
    }
}

TEST_F(Figures, OfEditsAndComparisonsAreMadeAgain) {
  for (const Words& words :
       {Words{"heatmap", "--edit", "L0H1.z=0; L1.pattern[5,2]~=0.5", "--edit", "mask=none", "--show",
              "difference"},
        Words{"heatmap", "--edit", "L1.resid_pre[3]<-\"A dog had\"[1]", "--edit", "positions=none"},
        Words{"heatmap", "--second", "The \xff king", "--align", "token", "--show", "baseline"},
        Words{"sweep", "--second", "The old king had a cat, and the old king"},
        Words{"sweep", "--second", "The old king had a cat, and the old king", "--sweep-change", "zero"},
        Words{"sweep", "--metric", "difference", "--token", " dog", "--other-token", "rank:2"}}) {
    made(words + kAsked, "a.png");
    expect_made_again("a.png");
  }
}

TEST_F(Figures, OfPromptsOfAnyBytesAreMadeAgain) {
  for (const std::string& prompt :
       {std::string("\xff\xfe \x01\n</metadata>"), std::string("--layer"), std::string("-"), std::string(),
        std::string("\xe4\xbd\xa0\xe5\xa5\xbd ]]> &amp; \"'")})
    for (const char* name : {"a.png", "a.svg"}) {
      made({"heatmap", "--prompt=" + prompt}, name);
      EXPECT_EQ(recipe(name).session.prompt.text, prompt);
      expect_made_again(name);
    }
  made({"tokens", "--ids", "5,300,7"}, "a.png");
  expect_made_again("a.png");
}

TEST_F(Figures, OfTheWindowAreMadeAgain) {
  made(split_words("shot --view sweep --beside saliency --sweep-metric kl --saliency-metric loss --layer 1 "
                   "--edit L0H1.z=0 --size 1024x700 --font-size 13 --theme dark") +
           Words{"--prompt", "The old king had a dog"},
       "a.png");
  EXPECT_TRUE(recipe("a.png").figure->window);
  expect_made_again("a.png");
  const Words again{"shot", "--recipe", path("a.png"), "--out", path("b.png")};
  EXPECT_THAT(fail(again + Words{"--layer", "2"}, 2), HasSubstr("except for its size"));
}

TEST_F(Figures, TakeWhatIsGivenInPlaceOfTheRecipes) {
  made(Words{"heatmap"} + kAsked + Words{"--key", "5"}, "a.svg");
  made({"query", "--recipe", path("a.svg"), "--head", "3", "--ids", "1,2,3", "--query=-1", "--key=-1",
        "--theme", "dark"},
       "b.svg");
  const Session s = recipe("b.svg").session;
  EXPECT_EQ(s.view, "query");
  EXPECT_EQ(s.prompt.ids, (std::vector{1, 2, 3}));
  EXPECT_EQ(s.prompt.text, "");
  EXPECT_EQ(s.selection, (Selection{1, 3, -1, -1}));
  EXPECT_TRUE(s.dark);
  const Words again{"heatmap", "--recipe", path("a.svg"), "--out", path("b.svg"), "--prompt", "The old"};
  EXPECT_THAT(fail(again), HasSubstr("it comes from the recipe: override it with --query"));
}

TEST_F(Figures, CarryNoRecipeWhereNoneIsWanted) {
  for (const char* name : {"a.png", "a.svg"}) {
    made(Words{"heatmap", "--no-recipe"} + kAsked, name);
    EXPECT_EQ(viz::find_note(bytes(name), kRecipeNote), std::nullopt);
    EXPECT_THAT(fail({"heatmap", "--recipe", path(name), "--out", path("b.png")}), HasSubstr("found none"));
  }
}

TEST_F(Figures, TellWhatTheyWereMadeOf) {
  made(Words{"heatmap", "--edit", "L0H1.z=0"} + kAsked, "a.svg");
  EXPECT_THAT(succeed({"info", path("a.svg")}),
              AllOf(HasSubstr("tales"), HasSubstr("sha256:"), HasSubstr("old·king"),
                    ::testing::ContainsRegex("\nedit +L0H1.z=0\n"), HasSubstr("headscope heatmap")));
  EXPECT_EQ(answer_of({"info", path("a.svg")})["prompt"], kAsked[1]);
}

TEST_F(Figures, NeedModelsOfTheNameAndTheWeightsThatTheyNameUnlessOneIsGiven) {
  made({"heatmap", "--prompt", "x"}, "a.svg");
  Recipe other = recipe("a.svg");
  const auto again = [&](const Words& more = {}) {
    folder_.write("b.headscope", to_json(other));
    return Words{"heatmap", "--recipe", path("b.headscope"), "--out", path("b.png")} + more;
  };
  other.session.weights = "sha256:" + std::string(64, '0');
  EXPECT_THAT(fail(again()), AllOf(HasSubstr("different weights"), HasSubstr("--model")));
  succeed(again({"--model", bundled_model().string()}));
  for (const std::string& name :
       {bundled_model().string(), std::string("../tales"), std::string(), std::string("/")}) {
    other.session.model = name;
    EXPECT_THAT(fail(again()), HasSubstr("--model")) << name;
  }
}

TEST_F(Figures, DoNotSayWhatIsWritten) {
  made({"heatmap", "--prompt", "x"}, "a.svg");
  auto json = nlohmann::json::parse(to_json(recipe("a.svg")));
  json["out"] = path("stolen.png");
  folder_.write("b.headscope", json.dump());
  EXPECT_THAT(fail({"heatmap", "--recipe", path("b.headscope"), "--out", path("d.png")}),
              HasSubstr("does not have"));
}

namespace fs = std::filesystem;

class Recipes : public FigureFiles {
 protected:
  Words again(const std::string& view, const std::string& name, const Words& more = {}) const {
    return Words{view, "--recipe", path(name)} + more;
  }
};

TEST_F(Recipes, GoWithAListAndAnotherView) {
  made(Words{"heatmap"} + kAsked, "a.svg");
  const std::string list = folder_.write("p.txt", "one two\nthree\n").string();
  succeed(again("lines", "a.svg", {"--query", "0", "--prompts", list, "--out", path("{n}.svg")}));
  EXPECT_EQ(recipe("2.svg").session.view, "lines");
  EXPECT_EQ(recipe("2.svg").session.prompt.text, "three");
  EXPECT_EQ(answer_of(again("heatmap", "a.svg"))["columns"], answer_of(Words{"heatmap"} + kAsked)["columns"]);
  made(again("shot", "a.svg", {"--size", "1024x700"}), "b.png");
  EXPECT_EQ(recipe("b.png").session.view, "heatmap");
}

TEST_F(Recipes, OfSessionsLeaveOutEditsThatAreOff) {
  made(Words{"heatmap"} + kAsked, "a.svg");
  Recipe session{recipe("a.svg").session, {}};
  session.session.edits = {"off: L0H1.z=0"};
  folder_.write("b.headscope", to_json(session));
  EXPECT_EQ(answer_of(again("heatmap", "b.headscope")), answer_of(again("heatmap", "a.svg")));
}

TEST_F(Recipes, OfAnotherVocabularyAreASentence) {
  made({"tree", "--prompt", "x"}, "a.svg");
  Recipe tries = recipe("a.svg");
  tries.session.tries = {{{1, 999999}, {0.5}}};
  folder_.write("b.headscope", to_json(tries));
  EXPECT_THAT(fail(again("tree", "b.headscope")), HasSubstr("does not have"));
}

TEST_F(Recipes, FindTheSecondModel) {
  const SecondModelFolder other, same_name("other", 7);
  const std::string there = (other.parent() / "a.svg").string();
  const Words difference{"--second-model", other.path().string(), "--show", "difference"};
  succeed(Words{"heatmap"} + kAsked + difference + Words{"--out", there});
  const std::string figure = bytes_of_file(there);
  EXPECT_EQ(made({"heatmap", "--recipe", there}, "b.svg"), figure) << "it lies beside it";
  // Elsewhere it is not found, and one of other weights is not taken for it.
  folder_.write("a.svg", figure);
  EXPECT_THAT(fail(again("heatmap", "a.svg")), AllOf(HasSubstr("\"other\""), HasSubstr("--second-model")));
  EXPECT_EQ(made(again("heatmap", "a.svg", {"--second-model", other.path().string()}), "c.svg"), figure);
  fs::copy(path("a.svg"), same_name.parent() / "a.svg");
  EXPECT_THAT(fail({"heatmap", "--recipe", (same_name.parent() / "a.svg").string()}),
              HasSubstr("the second model \"other\" has different weights"));
  // Of one in the cache the recipe has its name.
  const TemporaryFolder cache;
  cache.write("models--org--second/refs/main", "abc");
  fs::create_directories(cache.path() / "models--org--second/snapshots");
  fs::copy(other.path(), cache.path() / "models--org--second/snapshots/abc");
  set_variable("HF_HUB_CACHE", cache.path().string());
  const std::string named =
      made(Words{"heatmap", "--second-model", "org/second", "--show", "difference"} + kAsked, "d.svg");
  EXPECT_EQ(recipe("d.svg").session.second_model, "org/second");
  EXPECT_EQ(made(again("heatmap", "d.svg"), "e.svg"), named);
  unset_variable("HF_HUB_CACHE");
}

TEST_F(Recipes, FindAttentionFilesByWhatIsInThem) {
  const auto file = [&](const WeightOf& weight, const std::string& name) {
    return folder_.write(name, safetensors_bytes(pattern_tensors({4, 5, 12, 12}, weight), "")).string();
  };
  const std::string first = file(even_rows(12), "a.safetensors"),
                    second = file(causal_weight, "b.safetensors");
  const Words both{"--attention", first, "--second-attention", second, "--show", "difference"};
  const std::string figure = made(Words{"heatmap"} + both, "a.svg");
  EXPECT_EQ(figure.find(folder_.path().string()), figure.npos) << "nothing in a recipe is a path";
  EXPECT_EQ(made(again("heatmap", "a.svg"), "b.svg"), figure);
  EXPECT_EQ(made(again("heatmap", "a.svg", {"--attention", first, "--second-attention", second}), "c.svg"),
            figure);
  const std::string window = made(Words{"shot", "--view", "heatmap", "--size", "1024x700"} + both, "a.png");
  EXPECT_EQ(made(again("shot", "a.png"), "b.png"), window);
  made(again("heatmap", "a.svg",
             {"--model", bundled_model().string(), "--prompt", "The old king", "--show", "run"}),
       "d.svg");
  file(some_weight, "b.safetensors");
  EXPECT_THAT(fail(again("heatmap", "a.svg")),
              AllOf(HasSubstr("b.safetensors"), HasSubstr("--second-attention accepts")));
  file(some_weight, "a.safetensors");
  EXPECT_THAT(fail(again("heatmap", "a.svg", {"--second-attention", second})),
              AllOf(HasSubstr("a.safetensors"), HasSubstr("--attention accepts")));
  fs::remove(first);
  EXPECT_THAT(fail(again("heatmap", "a.svg")),
              AllOf(HasSubstr("neither next to it nor in this folder"), HasSubstr("--attention")));
}

}  // namespace
}  // namespace headscope::app::figures_test
