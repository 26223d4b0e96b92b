// A cache of models that has what only POSIX's file systems have.
#include <sys/stat.h>

#include "app/run/sources/model_discovery.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::model_discovery_posix_test {
namespace {

TEST(ModelDiscovery, APipeIsNoModelAndIsNotWaitedFor) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "pipe");
  ASSERT_EQ(::mkfifo((folder.path() / "pipe" / "config.json").c_str(), 0600), 0);
  EXPECT_FALSE(is_gpt2(folder.path() / "pipe"));
}

}  // namespace
}  // namespace headscope::app::model_discovery_posix_test
