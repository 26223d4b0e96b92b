// What lies among tour files and is none: only Linux has pipes with names.
#include <sys/stat.h>

#include "app/tour/tour.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::tour_posix_test {
namespace {

constexpr std::string_view kTour = R"(# A title

About it.

## A stop
- prompt: The old king

Words.
)";

TEST(Tours, AreFilesAndNothingElse) {
  const TemporaryFolder folder;
  folder.write("a.md", kTour);
  ASSERT_EQ(::mkfifo((folder.path() / "pipe.md").c_str(), 0600), 0);
  std::filesystem::create_directory(folder.path() / "sub.md");
  LoadedTours loaded = load_tours({folder.path()});
  EXPECT_EQ(loaded.tours.size(), 1);
  EXPECT_THAT(loaded.problem, HasSubstr("pipe.md: expected a file"));
  EXPECT_THROW(find_tour(loaded, (folder.path() / "pipe.md").string()), std::runtime_error);
}

}  // namespace
}  // namespace headscope::app::tour_posix_test
