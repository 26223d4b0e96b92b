// Fetching onto a full disk, which a limit of POSIX stands for.
#include "tests/app/hub/fetch_fixture.h"
#include "tests/support/file_size_limit.h"

namespace headscope::app::fetch_posix_test {
namespace {

TEST_F(HubFetch, AFullDiskIsASentenceAndGoesOnTheNextTime) {
  std::string message;
  {
    const FileSizeLimit small(100'000);
    message = refused();
  }
  EXPECT_THAT(message, HasSubstr(part().string()));
  EXPECT_EQ(fs::file_size(part()), 100'000U);
  hub_.forget_requests();
  expect_whole(fetch());
  EXPECT_THAT(ranges_at_store(), ElementsAre("bytes=100000-"));
}

}  // namespace
}  // namespace headscope::app::fetch_posix_test
