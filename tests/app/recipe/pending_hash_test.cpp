#include "app/cli/commands/pending_hash.h"

#include "app/run/sources/weights_hash.h"
#include "model/files/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::pending_hash_test {
namespace {

TEST(PendingHash, IsThatOfTheFilesWithAnotherThreadAndWithout) {
  const TemporaryFolder folder;
  folder.write("model.safetensors", std::string(5'000'000, 'w'));
  const std::string whole = weights_hash(folder.path());
  for (const int threads : {0, 1, 2}) {
    const PendingHash pending(folder.path(), threads);
    EXPECT_EQ(pending.folder(), folder.path());
    EXPECT_EQ(pending.get(), whole) << threads;
    EXPECT_EQ(pending.get(), whole) << "asked again";
  }
}

TEST(PendingHash, NobodyHasToWaitForIt) {
  const TemporaryFolder folder;
  folder.write("model.safetensors", std::string(5'000'000, 'w'));
  for (int i = 0; i < 20; ++i) const PendingHash unasked(folder.path(), 2);
}

TEST(PendingHash, WhatCannotBeHashedIsSaidToWhoeverAsks) {
  const TemporaryFolder folder;
  for (const int threads : {1, 2}) {
    const PendingHash pending(folder.path() / "missing", threads);
    EXPECT_THROW(pending.get(), model::LoadError) << threads;
  }
}

}  // namespace
}  // namespace headscope::app::pending_hash_test
