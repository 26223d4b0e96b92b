#include <sys/stat.h>
#include <unistd.h>

#include "system/file.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"

namespace headscope::system::file_posix_test {
namespace {

namespace fs = std::filesystem;

TEST(File, IsNoLinkWhereThatIsAsked) {
  const TemporaryFolder folder;
  folder.write("file", "x");
  fs::create_symlink("file", folder.path() / "link");
  EXPECT_EQ(error_of([&] { File(folder.path() / "link", Open::change_no_link); }),
            std::errc::too_many_symbolic_link_levels);
}

TEST(File, OfAPipeIsOpenedWithoutItsWriter) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(File(pipe, Open::read_at_once).status().kind, FileKind::other);
}

TEST(File, TakesAllBytesOfAWriteThatThePipeTakesInParts) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  std::string received;
  std::thread reader([&] {
    const File from = File::owned(ends[0]);
    std::string part(5000, '\0');
    while (const std::size_t got = from.read(part)) received.append(part, 0, got);
  });
  std::string sent;
  for (int i = 0; i < 300'000; ++i) sent += static_cast<char>(i * 31 % 256);
  File::owned(ends[1]).write(sent);
  reader.join();
  EXPECT_TRUE(received == sent);
}

}  // namespace
}  // namespace headscope::system::file_posix_test
