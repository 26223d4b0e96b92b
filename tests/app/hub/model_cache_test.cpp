#include "app/hub/model_cache.h"

#include "tests/app/hub/expect_leads_to.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/torch_bytes.h"

namespace headscope::app::model_cache_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";
const HubModel kModel{"org/name", "main"};

TEST(ModelCache, ALinkIsRelativeAndReplacesWhatWasThere) {
  const TemporaryFolder folder;
  const ModelCache cache(folder.path(), kModel);
  const fs::path file = cache.snapshot(kCommit) / "config.json";
  for (const char* digest : {"a", "a", "b"}) {
    cache.link(kCommit, "config.json", digest);
    expect_leads_to(file, fs::path("../../blobs") / digest);
  }
  fs::remove(file);
  folder.write(file, "a copy");
  cache.link(kCommit, "config.json", "c");
  expect_leads_to(file, "../../blobs/c");
  EXPECT_EQ(std::distance(fs::directory_iterator(cache.snapshot(kCommit)), {}), 1)
      << "nothing is left beside it";
}

TEST(ModelCache, ARevisionIsRememberedAndRead) {
  const TemporaryFolder folder;
  const ModelCache cache(folder.path(), kModel), branch(folder.path(), {"org/name", "refs/pr/1"});
  EXPECT_EQ(cache.commit(), std::nullopt);
  cache.remember(kCommit);
  branch.remember(kCommit);
  EXPECT_EQ(bytes_of_file(cache.folder() / "refs/main"), kCommit);
  EXPECT_EQ(bytes_of_file(cache.folder() / "refs/refs/pr/1"), kCommit);
  EXPECT_EQ(cache.commit(), kCommit);
  EXPECT_EQ(ModelCache(folder.path(), {"org/name", kCommit}).commit(), kCommit);
  for (const char* wrong : {"", "../../../etc", "main", "0123"}) {
    folder.write(cache.folder() / "refs/main", wrong);
    EXPECT_EQ(cache.commit(), std::nullopt) << wrong;
  }
  folder.write(cache.folder() / "refs/main", std::string(kCommit) + "\n");
  EXPECT_EQ(cache.commit(), kCommit);
  cache.remember_absent(kCommit, "tokenizer.json");
  EXPECT_TRUE(has_size(cache.folder() / ".no_exist" / kCommit / "tokenizer.json", 0));
}

TEST(ModelCache, AModelIsWholeWithAllThatItIsLoadedFrom) {
  const TemporaryFolder folder;
  const fs::path model = folder.path();
  const auto now = [&] { return is_complete_model(model); };
  const std::string empty = testing::safetensors_of_header("{}");
  EXPECT_FALSE(now());
  folder.write("config.json", "{}");
  folder.write("model.safetensors", empty);
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
  folder.write("1.safetensors", empty);
  EXPECT_FALSE(now()) << "a shard is missing";
  folder.write("2.safetensors", empty);
  EXPECT_TRUE(now());
  for (const char* wrong : {"", "{}", R"({"weight_map":{"a":3}})", "[]"}) {
    folder.write("model.safetensors.index.json", wrong);
    EXPECT_FALSE(now()) << wrong;
  }
}

TEST(ModelCache, ALockOfARemovedFileIsNone) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "b.lock";
  FileLock first(file);
  fs::remove(file);  // as some processes do when they release it
  FileLock second(file);
  ASSERT_TRUE(second.try_lock());
  EXPECT_FALSE(first.try_lock());
  EXPECT_FALSE(first.try_lock());
}

TEST(ModelCache, WhatCannotBeWrittenIsASentence) {
  const TemporaryFolder folder;
  folder.write("file", "");
  const ModelCache cache(folder.path() / "file", kModel);
  for (const std::string& message : {message_of<HubError>([&] { cache.link(kCommit, "a", "b"); }),
                                     message_of<HubError>([&] { cache.remember(kCommit); }),
                                     message_of<HubError>([&] { FileLock lock(cache.lock("h")); })}) {
    EXPECT_TRUE(is_sentence(message)) << message;
    EXPECT_THAT(message, HasSubstr(folder.path().string()));
  }
  cache.remember_absent(kCommit, "a");  // errors are ignored
}

const std::string kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(PartialFile, GoesOnFromWhatIsThere) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.incomplete", goal = folder.path() / "x";
  {
    PartialFile(file, {kAbc, 3}, [] {}).append("a");
  }
  EXPECT_EQ(bytes_of_file(file), "a");
  PartialFile part(file, {kAbc, 3}, [] {});
  EXPECT_EQ(part.size(), 1U);
  part.append("bc");
  EXPECT_TRUE(part.is_complete());
  EXPECT_FALSE(fs::exists(goal));
  EXPECT_TRUE(part.finish(goal));
  EXPECT_EQ(bytes_of_file(goal), "abc");
  EXPECT_FALSE(fs::exists(file));
}

TEST(PartialFile, WhatIsNotMeantIsThrownAway) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("x.incomplete", "ax"), goal = folder.path() / "x";
  PartialFile part(file, {kAbc, 3}, [] {});
  part.append("c");
  EXPECT_FALSE(part.finish(goal));
  EXPECT_FALSE(fs::exists(goal));
  EXPECT_EQ(part.size(), 0U);
  EXPECT_EQ(bytes_of_file(file), "");
  part.append("abc");
  EXPECT_THROW(part.append("d"), HubError);
  EXPECT_TRUE(part.finish(goal)) << "as good as new";
}

TEST(PartialFile, IsNeverWrittenThroughALink) {
  const TemporaryFolder folder;
  folder.write("precious", "mine");
  fs::create_symlink("precious", folder.path() / "x.incomplete");
  fs::create_directory(folder.path() / "y.incomplete");
  for (const char* name : {"x.incomplete", "y.incomplete", "missing/z"}) {
    const std::string message = message_of<HubError>([&] {
      PartialFile(folder.path() / name, {kAbc, 3}, [] {});
    });
    EXPECT_TRUE(is_sentence(message)) << message;
  }
  EXPECT_EQ(bytes_of_file(folder.path() / "precious"), "mine");
}

}  // namespace
}  // namespace headscope::app::model_cache_test
