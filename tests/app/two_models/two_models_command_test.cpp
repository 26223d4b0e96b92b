// Two models on the command line.
#include <nlohmann/json.hpp>

#include "app/recipe/recipe.h"
#include "app/run/sources/weights_hash.h"
#include "tests/app/command_runs.h"
#include "tests/app/two_models/second_model.h"
#include "tests/support/variables.h"

namespace headscope::app::two_models_command_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class TwoModelsCommand : public ::testing::Test {
 protected:
  /// Creates a model cache with the second model, so that it has a name.
  static void SetUpTestSuite() {
    cache_ = new TemporaryFolder;
    const SecondModelFolder made;
    const fs::path folder = cache_->path() / "models--org--second";
    cache_->write("models--org--second/refs/main", "abc");
    fs::create_directories(folder / "snapshots");
    fs::copy(made.path(), folder / "snapshots" / "abc");
    set_variable("HF_HUB_CACHE", cache_->path().string());
  }
  static void TearDownTestSuite() {
    delete cache_;
    unset_variable("HF_HUB_CACHE");
  }

  static fs::path second() { return cache_->path() / "models--org--second" / "snapshots" / "abc"; }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string made(const Words& arguments, const std::string& name) const {
    const Ran ran = run_command(arguments + Words{"--out", file(name)});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    return bytes_of_file(file(name));
  }

  static inline TemporaryFolder* cache_ = nullptr;
  TemporaryFolder folder_;
};

const Words kHeatmap{"plot", "heatmap", "--prompt", "The old king had a dog", "--layer", "1", "--head", "2"};

TEST_F(TwoModelsCommand, FiguresAreMadeAgainByTheSecondModelsName) {
  for (const Words& more :
       {Words{"--show", "difference"}, Words{"--show", "baseline", "--second", "A young king"},
        Words{"--edit", "L1.attn_out[2]<-second \"A dog\"[1]", "--show", "difference"}}) {
    const std::string figure = made(kHeatmap + Words{"--second-model", "org/second"} + more, "a.png");
    EXPECT_EQ(made({"plot", "--recipe", file("a.png")}, "b.png"), figure);
  }
  const Recipe recipe = read_recipe(file("a.png"));
  ASSERT_TRUE(recipe.session.second_model);
  EXPECT_EQ(recipe.session.second_model->name, "org/second");
  EXPECT_EQ(recipe.session.second_model->weights, weights_hash(second()));
  EXPECT_THAT(command_of(recipe), HasSubstr("--second-model org/second"));
  EXPECT_THAT(run_command({"info", file("a.png")}).out, HasSubstr("2nd model  org/second"));
  // The same for a window.
  const std::string shot = made(
      {"shot", "--prompt", "The old king", "--second-model", "org/second", "--show", "difference"}, "w.png");
  EXPECT_EQ(made({"shot", "--recipe", file("w.png")}, "v.png"), shot);
  EXPECT_EQ(read_recipe(file("w.png")).session.second_model->weights, weights_hash(second()));
}

TEST_F(TwoModelsCommand, OtherWeightsOfTheSecondAreASentenceUnlessItIsNamed) {
  made(kHeatmap + Words{"--second-model", "org/second", "--show", "difference"}, "a.svg");
  Recipe other = read_recipe(file("a.svg"));
  other.session.second_model->weights = "sha256:" + std::string(64, '0');
  folder_.write("b.headscope", to_json(other));
  EXPECT_THAT(fail({"plot", "--recipe", file("b.headscope"), "--out", file("b.png")}),
              AllOf(HasSubstr("the second model \"org/second\" has different weights"),
                    HasSubstr("--second-model accepts")));
  made({"plot", "--recipe", file("b.headscope"), "--second-model", second().string()}, "b.png");
  other.session.second_model->name = "no/such";
  folder_.write("c.headscope", to_json(other));
  EXPECT_THAT(fail({"plot", "--recipe", file("c.headscope"), "--out", file("c.png")}),
              AllOf(HasSubstr("\"no/such\""), HasSubstr("--second-model")));
  EXPECT_FALSE(fs::exists(file("c.png")));
}

TEST_F(TwoModelsCommand, TheSecondIsFoundNextToTheFigure) {
  const SecondModelFolder other, same_name("other", 7);
  const std::string made_there = (other.parent() / "a.svg").string();
  const Words difference{"--second-model", other.path().string(), "--show", "difference", "--out",
                         made_there};
  ASSERT_EQ(run_command(kHeatmap + difference).status, 0);
  const std::string figure = bytes_of_file(made_there);
  EXPECT_EQ(run_command({"plot", "--recipe", made_there, "--out", file("b.svg")}).err, "");
  EXPECT_EQ(bytes_of_file(file("b.svg")), figure);
  // Elsewhere it is not found, and one of other weights is not taken for it.
  const auto moved = folder_.write("a.svg", figure);
  EXPECT_THAT(fail({"plot", "--recipe", moved.string(), "--out", file("c.svg")}),
              AllOf(HasSubstr("\"other\""), HasSubstr("--second-model")));
  const auto beside = same_name.parent() / "a.svg";
  fs::copy(moved, beside);
  EXPECT_THAT(fail({"plot", "--recipe", beside.string(), "--out", file("c.svg")}),
              HasSubstr("the second model \"other\" has different weights"));
  EXPECT_FALSE(fs::exists(file("c.svg")));
}

TEST_F(TwoModelsCommand, SweepsPatchFromTheSecond) {
  const Words sweep{"sweep", "--prompt", "The old king had a dog", "--second-model", "org/second"};
  EXPECT_EQ(json::parse(run_command(sweep + Words{"--json"}).out)["change"], "patch");
  EXPECT_THAT(fail(sweep + Words{"--ablate", "zero"}), HasSubstr("--second-model has no effect here"));
  const std::string figure = made(sweep, "a.png");
  EXPECT_EQ(made({"plot", "--recipe", file("a.png")}, "b.png"), figure);
}

TEST_F(TwoModelsCommand, AShorterContextIsComparedAsFarAsItGoes) {
  auto shape = SecondModelFolder::kTales;
  shape.positions = 3;
  const SecondModelFolder narrow("narrow", 1, shape);
  const json sweep =
      json::parse(run_command({"sweep", "--prompt", "The old king had a dog", "--second-model",
                               narrow.path().string(), "--sweep-over", "layer-position", "--json"})
                      .out);
  EXPECT_TRUE(sweep["changes"][0][2].is_number());
  EXPECT_TRUE(sweep["changes"][0][3].is_null()) << "nothing stands for it";
}

TEST_F(TwoModelsCommand, TheFileOfItsWeightsStandsForIt) {
  made(kHeatmap + Words{"--second-model", (second() / "model.safetensors").string(), "--show", "difference"},
       "a.svg");
  EXPECT_EQ(read_recipe(file("a.svg")).session.second_model->name, "org/second");
}

TEST_F(TwoModelsCommand, WhatIsGeneratedIsPatchedToItsEnd) {
  const Words with{"--second-model",      "org/second", "--edit",
                   "L5.attn_out<-second", "--edit",     "L5.mlp_out<-second"};
  std::string text = "The old king";
  const Ran ran =
      run_command(Words{"generate", "--prompt", text, "--tokens", "4", "--temperature", "0"} + with);
  EXPECT_EQ(ran.status, 0) << ran.err;
  for (int i = 0; i < 4; ++i) {
    const json next =
        json::parse(run_command(Words{"predict", "--prompt", text, "--top", "1", "--json"} + with).out);
    text += next["next"][0]["text"].get<std::string>();
  }
  EXPECT_THAT(ran.out, HasSubstr(text.substr(std::string("The old king").size())));
}

TEST_F(TwoModelsCommand, ATraceHasWhatTheSecondHasOfItsOwnPrompt) {
  const Words trace{"trace", "--prompt", "The old king", "--hooks", "blocks.2.attn.hook_z"};
  const std::string patched =
      made(trace + Words{"--second-model", "org/second", "--edit", "L2.z<-second"}, "a.safetensors");
  const auto values = [](const std::string& file) {
    return file.substr(file.size() - 3 * 256 * sizeof(float));
  };
  EXPECT_EQ(values(patched), values(made(trace + Words{"--model", "org/second"}, "b.safetensors")))
      << "of layer 2 all";
}

}  // namespace
}  // namespace headscope::app::two_models_command_test
