// Figures made again from their recipes.
#include "app/cli/recipes.h"

#include "app/run/sources/paths.h"
#include "app/views/parts/list_means.h"
#include "tests/app/cli/command_runs.h"
#include "tests/app/two_models/second_model.h"
#include "tests/app/views/view_suite.h"
#include "tests/support/pattern_files.h"
#include "tests/support/variables.h"
#include "viz/scene/notes.h"

namespace headscope::app::recipes_test {
namespace {

namespace fs = std::filesystem;

const Words kAsked{
    "--prompt", "The old king had a dog, and the old king", "--layer", "1", "--head", "2", "--query", "6"};

class Recipes : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string bytes(const std::string& name) const { return bytes_of_file(path(name)); }
  /// The bytes of the file that a command writes.
  std::string made(const Words& arguments, const std::string& name) const {
    const Ran ran = run_command(arguments + Words{"--out", path(name)});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    return ran.status == 0 ? bytes(name) : "";
  }
  Words again(const std::string& view, const std::string& name, const Words& more = {}) const {
    return Words{view, "--recipe", path(name)} + more;
  }
  Recipe recipe(const std::string& name) const { return read_recipe(path(name)); }
  TemporaryFolder folder_;
};

class EveryRecipe : public Recipes, public ::testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Views, EveryRecipe, ::testing::ValuesIn(testing::ids_of_views()),
                         [](const auto& test) { return test.param; });

TEST_P(EveryRecipe, MakesTheFigureAgainWithItsOptions) {
  const View& view = *find_view(GetParam());
  Words command = Words{GetParam()} + kAsked;
  if (can_show_means(view)) command.resize(command.size() - 2);  // means over a list have no query
  const auto next = [&](const OptionSpec& option) {
    return &option == view.list_mean ? view.list_mean_value : stepped(option, option.default_value, 1);
  };
  Options changed;
  for (const OptionSpec* option : view.options) {
    const bool is_kept = !option->pane_only && !option->reset_on_prompt_change;
    if (is_kept && next(*option) != option->default_value) changed.set(*option, next(*option));
  }
  for (const OptionSpec* option : view.options)
    if (changed.value(*option) != option->default_value && has_effect(view, *option, changed))
      command =
          command + Words{"--" + std::string(option->flag_name()), to_text(*option, changed.value(*option))};
  for (const OptionSpec* option : view.options)
    if (option->cells) command = command + Words{"--" + std::string(option->flag_name()), "3.2,4.3"};
  const std::string list = folder_.write("list.txt", "The old king\nA dog\xff\n").string();
  if (view.over_list != nullptr) command = command + Words{"--over", list};
  if (view.list_mean != nullptr) command = command + Words{"--mean-over", list};
  command = command + Words{"--theme", "dark", "--font-size",  "12.5",  "--size",      "1400x1600",
                            "--scale", "0.75", "--no-caption", "--bos", "--precision", "f16"};
  const Ran ran = run_command(command + Words{"--out", path("a.png")});
  if (ran.status != 0) {
    ASSERT_THAT(ran.err, HasSubstr("the view heads does not fit any size with these options"));
    GTEST_SKIP() << ran.err;
  }
  EXPECT_EQ(made(again(GetParam(), "a.png"), "b.png"), bytes("a.png"));
}

TEST_F(Recipes, MakeFiguresOfEveryFormatAndSize) {
  for (const std::string format : {"png", "svg", "pdf"}) {
    const std::string first = made(Words{"heatmap"} + kAsked, "a." + format);
    EXPECT_EQ(made(again("heatmap", "a." + format), "b." + format), first);
  }
  EXPECT_EQ(made(again("heatmap", "a.svg"), "c.png"), bytes("a.png"));
  EXPECT_EQ(made(again("heatmap", "a.pdf"), "d.png"), bytes("a.png"));
  for (const Words& size :
       {Words{"--size", "640"}, Words{"--for", "column", "--no-title"}, Words{"--for", "slide"}}) {
    const std::string first = made(Words{"query"} + kAsked + size, "e.svg");
    EXPECT_EQ(made(again("query", "e.svg"), "f.svg"), first) << size[1];
    EXPECT_EQ(made(arguments_of(recipe("e.svg")), "g.svg"), first) << "the command it names";
    EXPECT_NE(made(again("query", "e.svg", {"--size", "700x500"}), "h.svg"), first);
  }
}

TEST_F(Recipes, MakeComparisonsAndEditsAgain) {
  for (const Words& more : std::vector<Words>{
           {"--edit", "L0H1.z=0; L1.pattern[5,2]~=0.5; L1.pattern[5,1]~=0.25", "--edit", "mask=none",
            "--show", "difference"},
           {"--edit", "L1.resid_pre[3]<-\"A dog had\"[1]", "--edit", "positions=none"},
           {"--second", "The young king had a cat", "--align", "token", "--show", "difference"},
           {"--second", "The \xff king", "--show", "baseline"}}) {
    const std::string first = made(Words{"heatmap"} + kAsked + more, "a.png");
    EXPECT_EQ(made(again("heatmap", "a.png"), "b.png"), first) << more[1];
  }
  // A second prompt chooses to patch; what was chosen instead is kept.
  for (const Words& more :
       {Words{}, Words{"--sweep-change", "zero"}, Words{"--token", " dog", "--other-token", "rank:2"}}) {
    const std::string first = made(
        Words{"sweep", "--prompt", "The old king had a", "--second", "The old queen had a"} + more, "a.svg");
    EXPECT_EQ(made(again("sweep", "a.svg"), "b.svg"), first);
    EXPECT_EQ(made(arguments_of(recipe("a.svg")), "c.svg"), first);
  }
}

TEST_F(Recipes, OfPromptsOfAnyBytes) {
  for (const std::string& prompt :
       {std::string("\xff\xfe \x01\n</metadata>"), std::string("--layer"), std::string("a\0b", 3),
        std::string(), std::string("\xe4\xbd\xa0\xe5\xa5\xbd ]]> &amp; \"'")})
    for (const std::string format : {"png", "svg"}) {
      const std::string first = made({"heatmap", "--prompt=" + prompt}, "a." + format);
      EXPECT_EQ(recipe("a." + format).session.prompt.text, prompt);
      EXPECT_EQ(made(again("heatmap", "a." + format), "b." + format), first);
    }
  const std::string ids = made({"tokens", "--ids", "5,300,7"}, "a.png");
  EXPECT_EQ(made(again("tokens", "a.png"), "b.png"), ids);
}

TEST_F(Recipes, GiveWayToWhatIsGiven) {
  made(Words{"heatmap"} + kAsked, "a.png");
  made(again("heatmap", "a.png",
             {"--head", "3", "--prompt", "Another prompt of many tokens", "--theme", "dark"}),
       "b.png");
  EXPECT_EQ(recipe("b.png").session.prompt.text, "Another prompt of many tokens");
  EXPECT_EQ(recipe("b.png").session.selection, (Selection{1, 3, 6, -1}));
  EXPECT_TRUE(recipe("b.png").session.look.dark);
  made({"query", "--recipe=" + path("b.png"), "--ids=1,2,3", "--query=-1"}, "c.svg");
  EXPECT_EQ(recipe("c.svg").session.view, "query");
  EXPECT_EQ(recipe("c.svg").session.prompt, (Prompt{"", {1, 2, 3}, false}));
  EXPECT_EQ(recipe("c.svg").session.selection, (Selection{1, 3, -1, -1}));
  // Its numbers, and a list's pictures.
  EXPECT_EQ(answer_of(again("heatmap", "a.png"))["columns"], answer_of(Words{"heatmap"} + kAsked)["columns"]);
  succeed(again("lines", "a.png",
                {"--query", "0", "--prompts", folder_.write("p.txt", "one two\nthree\n").string(), "--out",
                 path("{n}.svg")}));
  EXPECT_EQ(recipe("2.svg").session.prompt.text, "three");
  const Words shorter = again("heatmap", "a.png", {"--prompt", "The old"});
  EXPECT_THAT(fail(shorter), HasSubstr("it comes from the recipe: override it with --query"));
  EXPECT_EQ(run_command(shorter + Words{"--query", "1"}).status, 0);
}

TEST_F(Recipes, AreLeftOutWhereThatIsAskedFor) {
  for (const std::string format : {"png", "svg"}) {
    const std::string bare = made(Words{"heatmap", "--no-recipe"} + kAsked, "a." + format);
    EXPECT_EQ(viz::find_note(bare, kRecipeNote), std::nullopt);
    EXPECT_THAT(bare, Not(HasSubstr("old king had a dog, and")));
    EXPECT_THAT(fail(again("heatmap", "a." + format)), HasSubstr("found none"));
  }
}

TEST_F(Recipes, AreToldByInfo) {
  made(Words{"sweep", "--edit", "L0H1.z=0", "--metric", "kl"} + kAsked, "a.svg");
  EXPECT_THAT(succeed({"info", path("a.svg")}),
              AllOf(HasSubstr("tales"), HasSubstr("sha256:"), HasSubstr("old·king"), HasSubstr("L0H1.z=0"),
                    HasSubstr("option     metric kl"), HasSubstr("headscope sweep --prompt ")));
  EXPECT_EQ(answer_of({"info", path("a.svg")})["prompt"]["text"], kAsked[1]);
  EXPECT_EQ(run_command({"info", path("none.png")}).status, 1);
  EXPECT_EQ(run_command({"info", path("a.svg"), "--model", "x"}).status, 2);
}

// ---- what a recipe may not do ----

TEST_F(Recipes, OfOtherWeightsAreASentenceUnlessTheModelIsNamed) {
  made({"heatmap", "--prompt", "x"}, "a.svg");
  Recipe other = recipe("a.svg");
  other.session.model.weights = "sha256:" + std::string(64, '0');
  folder_.write("b.headscope", to_json(other));
  EXPECT_THAT(fail(again("heatmap", "b.headscope", {"--out", path("b.png")})),
              AllOf(HasSubstr("different weights"), HasSubstr("--model")));
  EXPECT_FALSE(fs::exists(path("b.png")));
  made(again("heatmap", "b.headscope", {"--model", bundled_model().string()}), "b.png");
  // A model is a name and never a place.
  for (const std::string& name : {bundled_model().string(), std::string("../tales"), std::string("no/such"),
                                  std::string(), std::string("."), std::string("/")}) {
    other.session.model.name = name;
    folder_.write("b.headscope", to_json(other));
    EXPECT_THAT(fail(again("heatmap", "b.headscope")), HasSubstr("--model")) << name;
  }
}

TEST_F(Recipes, NeverSayWhatIsWritten) {
  made({"heatmap", "--prompt", "x"}, "a.svg");
  Json json = Json::parse(to_json(recipe("a.svg")));
  json["out"] = json["figure"]["out"] = path("stolen.png");
  json["command"] = "headscope heatmap --out " + path("stolen.png");
  folder_.write("b.headscope", json.dump());
  made(again("heatmap", "b.headscope"), "c.png");
  EXPECT_FALSE(fs::exists(path("stolen.png")));
  json["options"]["out"] = path("stolen.png");
  folder_.write("b.headscope", json.dump());
  EXPECT_THAT(fail(again("heatmap", "b.headscope")), HasSubstr("does not have"));
  Recipe tries = recipe("a.svg");
  tries.session.tries = {{{1, 999999}, 1, {0.5}}};
  folder_.write("c.headscope", to_json(tries));
  EXPECT_THAT(fail(again("tree", "c.headscope")), HasSubstr("does not have"));
}

// ---- windows ----

TEST_F(Recipes, MakeAWindowAgain) {
  const Words shot{
      "shot",    "--view",  "sweep",  "--beside",       "heatmap", "--prompt", "The old king had a dog",
      "--layer", "1",       "--edit", "L0H1.z=0",       "--size",  "1024x700", "--font-size",
      "13",      "--theme", "dark",   "--sweep-metric", "kl"};
  const std::string first = made(shot, "a.png");
  EXPECT_TRUE(recipe("a.png").figure->window);
  EXPECT_EQ(recipe("a.png").session.second_view, "heatmap");
  EXPECT_EQ(made(again("shot", "a.png"), "b.png"), first);
  EXPECT_EQ(made(arguments_of(recipe("a.png")), "c.png"), first);
  EXPECT_THAT(succeed({"info", path("a.png")}),
              AllOf(HasSubstr("with sweep and heatmap"), HasSubstr("--beside heatmap")));
  EXPECT_THAT(fail(again("shot", "a.png", {"--layer", "2", "--out", path("d.png")}), 2),
              HasSubstr("except for its size"));
  // A view's figure of a window, and a window of a figure.
  made(again("heatmap", "a.png"), "e.svg");
  EXPECT_EQ(recipe("e.svg").session.prompt.text, "The old king had a dog");
  made(again("shot", "e.svg", {"--size", "1024x700"}), "f.png");
  EXPECT_EQ(recipe("f.png").session.view, "heatmap");
}

// ---- two models, and attention files ----

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
  EXPECT_EQ(recipe("d.svg").session.second_model->name, "org/second");
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
}  // namespace headscope::app::recipes_test
