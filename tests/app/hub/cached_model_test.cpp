#include "app/hub/fetch.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/torch_bytes.h"

namespace headscope::app::cached_model_test {
namespace {

namespace fs = std::filesystem;

const std::string kEmpty = testing::safetensors_of_header("{}");

TEST(CachedModel, IsWholeWithAllThatItIsLoadedFrom) {
  const TemporaryFolder folder;
  const fs::path model = folder.path();
  const auto now = [&] { return is_complete_model(model); };
  EXPECT_FALSE(now());
  folder.write("config.json", "{}");
  folder.write("model.safetensors", kEmpty);
  EXPECT_FALSE(now()) << "no tokenizer";
  folder.write("vocab.json", "");
  EXPECT_FALSE(now()) << "half a tokenizer";
  folder.write("merges.txt", "");
  EXPECT_TRUE(now());
  fs::remove(model / "model.safetensors");
  folder.write("pytorch_model.bin", testing::torch_bytes({{"x", "U8", {1}, "x"}}));
  EXPECT_TRUE(now()) << "PyTorch's own file";
  fs::remove(model / "pytorch_model.bin");
  fs::create_symlink("nowhere", model / "model.safetensors");
  EXPECT_FALSE(now()) << "a link to nothing";
  folder.write("model.safetensors.index.json", R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
  folder.write("1.safetensors", kEmpty);
  EXPECT_FALSE(now()) << "a shard is missing";
  folder.write("2.safetensors", kEmpty);
  EXPECT_TRUE(now());
  for (const char* wrong : {"", "{}", R"({"weight_map":{"a":3}})", "[]"}) {
    folder.write("model.safetensors.index.json", wrong);
    EXPECT_FALSE(now()) << wrong;
  }
}

TEST(CachedModel, IsOfTheCommitThatItsRevisionNames) {
  const TemporaryFolder folder;
  const std::string commit(40, 'a');
  const fs::path model = "models--org--name", snapshot = model / "snapshots" / commit;
  for (const char* file : {"config.json", "tokenizer.json", "model.safetensors"})
    folder.write(snapshot / file, kEmpty);
  const auto found = [&](const std::string& revision) {
    return cached_model(folder.path(), {"org/name", revision});
  };
  EXPECT_EQ(found(commit), folder.path() / snapshot);
  EXPECT_EQ(found("refs/pr/1"), std::nullopt);
  folder.write(model / "refs/refs/pr/1", commit + "\n");
  EXPECT_EQ(found("refs/pr/1"), folder.path() / snapshot);
  for (const std::string& wrong :
       {std::string(), "../snapshots/" + commit, std::string("main"), commit + "a"}) {
    folder.write(model / "refs/main", wrong);
    EXPECT_EQ(found("main"), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace headscope::app::cached_model_test
