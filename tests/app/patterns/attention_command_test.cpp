// Attention files on the command line.

#include <fstream>
#include <nlohmann/json.hpp>

#include "app/run/sources/paths.h"
#include "app/views/view.h"
#include "tests/app/command_runs.h"
#include "tests/support/pattern_files.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::attention_command_test {
namespace {

using nlohmann::json;

class AttentionCommand : public ::testing::Test {
 protected:
  std::string file(const PatternShape& shape, const WeightOf& weight,
                   const std::string& name = "any.safetensors", const std::string& metadata = "") {
    return folder_.write(name, safetensors_bytes(pattern_tensors(shape, weight), metadata)).string();
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_.path() / name, std::ios::binary).rdbuf();
    return text.str();
  }

  TemporaryFolder folder_;
};

TEST_F(AttentionCommand, SaysWhatIsNotThere) {
  const std::string two = file({2, 3, 5, 12}, even_rows(12));
  const auto plot = [&](std::vector<std::string> more) {
    std::vector<std::string> all{"plot", "heatmap", "--attention", two, "--out", path("x.png")};
    all.insert(all.end(), more.begin(), more.end());
    return fail(all);
  };
  EXPECT_THAT(plot({"--layer", "2"}), HasSubstr("there is no layer 2: the last one is 1"));
  EXPECT_THAT(plot({"--key", "12"}), HasSubstr("there is no key 12: the last one is 11"));
  EXPECT_THAT(plot({"--zoom", "0:5,0:13"}), HasSubstr("reaches beyond the 5 queries and 12 keys"));
  EXPECT_THAT(fail({"plot", "heatmap", "--model", two, "--prompt", "one", "--out", path("x.png")}),
              HasSubstr("cannot run a prompt; give it with --attention"));
  EXPECT_THAT(plot({"--show", "difference"}), HasSubstr("--second-attention"));
  EXPECT_THAT(fail({"plot", "heatmap", "--attention", path("none.safetensors"), "--out", path("x.png")}),
              HasSubstr("expected a file of attention patterns, found none"));
  EXPECT_FALSE(std::filesystem::exists(path("x.png")));
}

TEST_F(AttentionCommand, CommandsSayThatTheyNeedWeights) {
  const std::string square = file({1, 2, 4, 4}, causal_weight);
  for (const char* command : {"predict", "lens", "attribute", "score", "saliency", "circuit", "sweep"})
    EXPECT_THAT(fail({command, "--model", square, "--prompt", "one two"}),
                HasSubstr("this needs a model's weights"))
        << command;
  for (const char* command : {"info", "composition"})
    EXPECT_THAT(fail({command, "--model", square}), HasSubstr("this needs a model's weights")) << command;
  EXPECT_THAT(fail({"trace", "--model", square, "--prompt", "one", "--out", path("t.safetensors")}),
              HasSubstr("this needs a model's weights"));
}

TEST_F(AttentionCommand, GoesWithNothingThatNeedsAModel) {
  const std::string square = file({1, 2, 4, 4}, causal_weight);
  const auto wrong = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all{"plot", "heatmap", "--attention", square, "--out", path("x.png")};
    all.insert(all.end(), more.begin(), more.end());
    return fail(all, 2);
  };
  EXPECT_THAT(wrong({"--prompt", "one"}),
              HasSubstr("--attention replaces the prompt: it cannot be combined with --prompt"));
  EXPECT_THAT(wrong({"--model", "x"}), HasSubstr("--attention replaces --model"));
  EXPECT_THAT(wrong({"--edit", "L0H0.z=0"}), HasSubstr("need a model's weights"));
  EXPECT_THAT(wrong({"--second", "two"}), HasSubstr("--second cannot be combined with --attention"));
  EXPECT_THAT(
      fail({"plot", "heatmap", "--prompt", "one", "--second-attention", square, "--out", path("x.png")}, 2),
      HasSubstr("--second-attention requires --attention"));
  EXPECT_THAT(fail({"metrics", "--attention", square, "--repeated", "2,5"}, 2),
              HasSubstr("--repeated needs a model's weights"));
}

TEST_F(AttentionCommand, OddWeightsAreSaidAndDrawn) {
  const std::string odd = file({2, 2, 4, 4}, [](int layer, int, int query, int key) {
    return layer == 1 && query == 2 && key == 1 ? std::nanf("") : 0.125F;
  });
  const Ran ran =
      run_command({"plot", "heatmap", "--attention", odd, "--layer", "1", "--out", path("odd.png")});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("any.safetensors has non-finite weights, first in query 2 of L1 H0"),
                             HasSubstr("rows that do not sum to 1, first query 0 of L0 H0: 0.5")));
  EXPECT_GT(content("odd.png").size(), 1000U);
}

TEST_F(AttentionCommand, AFigureOfTwoFilesIsMadeAgainOfBoth) {
  const std::string first = file({1, 2, 4, 4}, even_rows(4), "first.safetensors"),
                    second = file({1, 2, 4, 4}, causal_weight, "second.safetensors");
  succeed({"plot", "heatmap", "--attention", first, "--second-attention", second, "--show", "difference",
           "--out", path("one.svg")});
  succeed({"plot", "--recipe", path("one.svg"), "--attention", first, "--second-attention", second, "--out",
           path("two.svg")});
  EXPECT_EQ(content("two.svg"), content("one.svg"));
  succeed({"plot", "--recipe", path("one.svg"), "--out", path("three.svg")});
  EXPECT_EQ(content("three.svg"), content("one.svg")) << "both lie beside it";
  EXPECT_EQ(content("one.svg").find(folder_.path().string()), std::string::npos)
      << "nothing in a recipe is a path";
}

TEST_F(AttentionCommand, ASecondFileIsKnownByWhatIsInIt) {
  std::filesystem::create_directories(path("a"));
  std::filesystem::create_directories(path("b"));
  const std::string first = file({1, 2, 4, 4}, even_rows(4), "a/x.safetensors"),
                    second = file({1, 2, 4, 4}, causal_weight, "b/x.safetensors");
  succeed({"plot", "heatmap", "--attention", first, "--second-attention", second, "--show", "difference",
           "--out", path("a/one.svg")});
  EXPECT_THAT(fail({"plot", "--recipe", path("a/one.svg"), "--out", path("two.svg")}),
              AllOf(HasSubstr("x.safetensors"), HasSubstr("--second-attention accepts a file")));
  succeed({"plot", "--recipe", path("a/one.svg"), "--second-attention", second, "--out", path("two.svg")});
  EXPECT_EQ(content("two.svg"), content("a/one.svg"));
  // A file on the command line replaces the recipe's second file.
  succeed({"shot", "--attention", first, "--view", "heatmap", "--scale", "1", "--out", path("a/alone.png")});
  succeed({"shot", "--recipe", path("a/alone.png"), "--second-attention", second, "--out", path("both.png")});
  EXPECT_THAT(succeed({"info", path("both.png")}), HasSubstr("second     x.safetensors\n"));
}

TEST_F(AttentionCommand, WhatTraceWritesOpensWhole) {
  const std::string prompt = "The old king had a daughter, and the old king had a dog";
  succeed({"trace", "--prompt", prompt, "--out", path("all.safetensors")});
  for (const char* view : {"heads", "lines", "heatmap"}) {
    succeed({"plot", view, "--attention", path("all.safetensors"), "--layer", "2", "--head", "1", "--out",
             path("f.csv")});
    succeed({"plot", view, "--prompt", prompt, "--layer", "2", "--head", "1", "--out", path("m.csv")});
    EXPECT_EQ(content("f.csv"), content("m.csv")) << view << ": the same numbers and the same tokens";
  }
  const json file = json::parse(succeed({"metrics", "--attention", path("all.safetensors"), "--json"})),
             model = json::parse(succeed({"metrics", "--prompt", prompt, "--json"}));
  EXPECT_EQ(file.at("heads"), model.at("heads"));
  EXPECT_EQ(file.at("how").at("model"), model.at("how").at("model"));
}

TEST_F(AttentionCommand, SearchFindsInAFileWhatItFindsInTheModel) {
  const std::string prompt = "The old king had a daughter, and the old king had a dog";
  succeed({"trace", "--prompt", prompt, "--hooks", "*hook_pattern", "--out", path("all.safetensors")});
  const auto found = [&](std::vector<std::string> source, const std::vector<std::string>& more) {
    source.insert(source.end(), more.begin(), more.end());
    json places = json::array();
    const json answer = json::parse(succeed(source));
    for (const json& one : answer.at("best"))
      places.push_back(
          {one["layer"], one["head"], one["query"]["position"], one["key"]["position"], one["weight"]});
    return json{answer.at("count"), places};
  };
  for (const std::vector<std::string>& more : {std::vector<std::string>{},
                                               {"--from", "king", "--to", " old"},
                                               {"--shape", "3.1,4.2", "--shape-moves", "no"}}) {
    const json model = found({"search", "--json", "--prompt", prompt}, more);
    EXPECT_EQ(found({"search", "--json", "--attention", path("all.safetensors")}, more), model);
    EXPECT_GT(model[0], 0);
  }
  EXPECT_THAT(succeed({"search", "--attention", path("all.safetensors"), "--from", "king", "--top", "1"}),
              HasSubstr("·king → "));
}

TEST_F(AttentionCommand, SearchTakesKeysThatAreOtherTokens) {
  const std::string cross = file({1, 2, 3, 8}, even_rows(8), "cross.safetensors",
                                 R"({"key_tokens": "[\"a\", )"
                                 R"(\"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \" h\"]"})");
  const json all = json::parse(succeed({"search", "--attention", cross, "--json", "--above", "0.3"}));
  EXPECT_EQ(all.at("count"), 2 * 3)
      << "one key of each query and head has more than half, the first query's too";
  const json last = json::parse(succeed({"search", "--attention", cross, "--json", "--to", "h"}));
  EXPECT_EQ(last.at("count"), 2 * 3);
  EXPECT_EQ(last.at("best")[0].at("key"), (json{{"text", "·h"}, {"position", 7}}));
}

TEST_F(AttentionCommand, AFigureWhoseFileIsNotThereIsASentence) {
  const std::string square = file({1, 2, 4, 4}, even_rows(4));
  succeed({"plot", "heatmap", "--attention", square, "--out", path("one.svg")});
  EXPECT_THAT(succeed({"info", path("one.svg")}),
              AllOf(HasSubstr("attention  any.safetensors\n"),
                    HasSubstr("headscope plot heatmap --attention any.safetensors"), Not(HasSubstr("prompt")),
                    Not(HasSubstr("--model"))));
  succeed({"plot", "--recipe", path("one.svg"), "--model", bundled_model().string(), "--prompt",
           "The old king", "--out", path("model.svg")});
  file({1, 2, 4, 4}, causal_weight);  // replaces the file
  EXPECT_THAT(fail({"plot", "--recipe", path("one.svg"), "--out", path("x.svg")}),
              AllOf(HasSubstr("any.safetensors"), HasSubstr("different weights"),
                    HasSubstr("--attention accepts a file")));
  std::filesystem::remove(square);
  EXPECT_THAT(fail({"plot", "--recipe", path("one.svg"), "--out", path("x.svg")}),
              AllOf(HasSubstr("one.svg"), HasSubstr("neither next to it nor in this folder"),
                    HasSubstr("--attention")));
  EXPECT_FALSE(std::filesystem::exists(path("x.svg")));
}

TEST_F(AttentionCommand, AWindowIsDrawnAgainOfItsFiles) {
  file({4, 5, 12, 12}, even_rows(12), "a.safetensors");
  file({4, 5, 12, 12}, causal_weight, "b.safetensors");
  succeed({"shot", "--attention", path("a.safetensors"), "--second-attention", path("b.safetensors"),
           "--show", "difference", "--view", "heatmap", "--layer", "3", "--size", "1024x700", "--scale", "1",
           "--out", path("one.png")});
  succeed({"shot", "--recipe", path("one.png"), "--out", path("two.png")});
  EXPECT_EQ(content("two.png"), content("one.png"));
}

TEST_F(AttentionCommand, WhatLiesBesideAModelIsNotTakenForIt) {
  const std::filesystem::path model = folder_.path() / "model";
  std::filesystem::copy(bundled_model(), model);
  folder_.write("model/broken.safetensors", "garbage");
  for (const char* name : {"broken.safetensors", "model.safetensors"}) {
    const auto ran =
        run_command({"plot", "heatmap", "--attention", (model / name).string(), "--out", path("wrong.png")});
    EXPECT_EQ(ran.status, 1) << name;
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "wrong.png"));
  }
}

TEST_F(AttentionCommand, AWindowIsDrawnOfAFile) {
  const std::string square = file({4, 5, 12, 12}, even_rows(12));
  succeed({"shot", "--attention", square, "--out", path("window.png")});
  EXPECT_GT(content("window.png").size(), 10000U);
}

}  // namespace
}  // namespace headscope::app::attention_command_test
