// Fetching with limits of POSIX, and what links do.
#include "tests/app/hub/fetch_fixture.h"
#include "tests/support/resource_limit.h"

namespace headscope::app::fetch_posix_test {
namespace {

TEST_F(HubFetch, AFullDiskIsASentenceAndGoesOnTheNextTime) {
  std::string message;
  {
    const ResourceLimit small(RLIMIT_FSIZE, 100'000);
    message = refused();
  }
  EXPECT_THAT(message, HasSubstr(part().string()));
  EXPECT_EQ(fs::file_size(part()), 100'000U);
  hub_.forget_requests();
  expect_whole(fetch());
  EXPECT_THAT(ranges_at_store(), ElementsAre("bytes=100000-"));
}

TEST_F(HubFetch, TooFewFilesAreNotBlamedOnTheNetwork) {
  std::string message;
  {
    const ResourceLimit few(RLIMIT_NOFILE, 3);
    message = refused();
  }
  EXPECT_THAT(message, HasSubstr("ulimit -n"));
  EXPECT_THAT(waits_, IsEmpty());
}

TEST_F(HubFetch, APartIsNeverWrittenThroughALink) {
  cache_.write("precious", "mine");
  fs::create_directories(part().parent_path());
  fs::create_symlink(cache_.path() / "precious", part());
  EXPECT_THAT(refused(), HasSubstr(part().string()));
  EXPECT_EQ(bytes_of_file(cache_.path() / "precious"), "mine");
}

TEST_F(HubFetch, ACacheThatCannotBeWrittenIsASentence) {
  settings_.cache = cache_.write("file", "") / "cache";
  EXPECT_THAT(refused(), HasSubstr(settings_.cache.string()));
  EXPECT_THROW(fetch(), HubError);
}

}  // namespace
}  // namespace headscope::app::fetch_posix_test
