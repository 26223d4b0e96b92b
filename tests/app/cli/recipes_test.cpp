// What figures are made from again: lists, second models and attention files.
#include "app/cli/recipes.h"

#include "app/run/sources/paths.h"
#include "tests/app/cli/command_runs.h"
#include "tests/app/two_models/second_model.h"
#include "tests/support/pattern_files.h"
#include "tests/support/variables.h"

namespace headscope::app::recipes_test {
namespace {

namespace fs = std::filesystem;

const Words kAsked{
    "--prompt", "The old king had a dog, and the old king", "--layer", "1", "--head", "2", "--query", "6"};

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

TEST_F(Recipes, OfAnotherVocabularyAreASentence) {
  made({"tree", "--prompt", "x"}, "a.svg");
  Recipe tries = recipe("a.svg");
  tries.session.tries = {{{1, 999999}, 1, {0.5}}};
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
