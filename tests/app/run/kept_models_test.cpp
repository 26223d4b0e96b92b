#include "app/run/kept_models.h"

#include "model/files/error.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::kept_models_test {
namespace {

using model::Precision;
constexpr std::size_t kPlenty = std::size_t{1} << 30;

struct OnDisk {
  OnDisk() { testing::write_other_model(folder); }
  testing::TemporaryFolder folder;
  const std::filesystem::path& path() const { return folder.path(); }
};

TEST(KeptModels, AreLoadedOnce) {
  const OnDisk disk;
  KeptModels models(kPlenty);
  const auto first = models.model(disk.path(), Precision::f32);
  EXPECT_EQ(models.model(disk.path(), Precision::f32), first);
  EXPECT_NE(models.model(disk.path(), Precision::bf16), first);
  EXPECT_EQ(models.model(disk.path(), Precision::f32), first);
  EXPECT_EQ(models.count(), 2U);
  EXPECT_GE(models.bytes(), first->transformer->weight_bytes());
}

TEST(KeptModels, AreLoadedAgainWhenAFileChanges) {
  const OnDisk disk;
  KeptModels models(kPlenty);
  const auto first = models.model(disk.path(), Precision::f32);
  const auto weights = disk.path() / "model.safetensors";
  const auto time = std::filesystem::last_write_time(weights);
  std::filesystem::last_write_time(weights, time + std::chrono::milliseconds(1));
  const auto second = models.model(disk.path(), Precision::f32);
  EXPECT_NE(second, first);
  EXPECT_EQ(models.count(), 1U);
  disk.folder.write("merges.txt", testing::bytes_of_file(disk.path() / "merges.txt") + "\n");
  EXPECT_NE(models.model(disk.path(), Precision::f32), second);
  std::filesystem::remove(weights);
  EXPECT_THROW(models.model(disk.path(), Precision::f32), model::LoadError);
  EXPECT_EQ(models.count(), 0U);
}

TEST(KeptModels, AFolderIsOneHoweverItIsNamed) {
  const OnDisk disk;
  KeptModels models(kPlenty);
  const auto model = models.model(disk.path(), Precision::f32);
  EXPECT_EQ(models.model(disk.path() / "", Precision::f32), model);
  EXPECT_EQ(models.model(disk.path() / ".", Precision::f32), model);
  EXPECT_EQ(models.model(disk.path() / ".." / disk.path().filename(), Precision::f32), model);
  EXPECT_EQ(models.count(), 1U);
}

TEST(KeptModels, TheOneUsedLongestAgoIsDropped) {
  const OnDisk a, b, c;
  KeptModels unlimited(kPlenty);
  static_cast<void>(unlimited.model(a.path(), Precision::f32));
  // Room for two, also while the files of another are read.
  const auto files = std::filesystem::file_size(a.path() / "model.safetensors") +
                     std::filesystem::file_size(a.path() / "vocab.json") +
                     std::filesystem::file_size(a.path() / "merges.txt") +
                     std::filesystem::file_size(a.path() / "config.json");
  KeptModels models(unlimited.bytes() + std::max<std::size_t>(unlimited.bytes(), files));
  const auto first = models.model(a.path(), Precision::f32);
  const auto second = models.model(b.path(), Precision::f32);
  EXPECT_EQ(models.model(a.path(), Precision::f32), first);
  static_cast<void>(models.model(c.path(), Precision::f32));
  EXPECT_EQ(models.count(), 2U);
  EXPECT_EQ(models.model(a.path(), Precision::f32), first);
  EXPECT_NE(models.model(b.path(), Precision::f32), second);
}

TEST(KeptModels, WhatIsLargerThanTheLimitIsNotKept) {
  const OnDisk disk;
  KeptModels models(1000);
  EXPECT_NE(models.model(disk.path(), Precision::f32), nullptr);
  EXPECT_EQ(models.count(), 0U);
  EXPECT_EQ(models.bytes(), 0U);
}

}  // namespace
}  // namespace headscope::app::kept_models_test
