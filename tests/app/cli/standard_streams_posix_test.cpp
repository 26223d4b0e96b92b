#include "app/cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>
#include <istream>
#include <ostream>

#include "tests/support/matchers.h"

namespace headscope::app::standard_streams_posix_test {
namespace {

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends), 0); }
  ~Pipe() {
    for (const int end : ends) ::close(end);
  }
  int ends[2] = {};
};

TEST(StandardStreams, AFullDiskHasItsReason) {
  const int full = ::open("/dev/full", O_WRONLY);
  OutputBuffer buffer(system::File::borrowed(full), "the stream");
  std::ostream out(&buffer);
  out.exceptions(std::ios::badbit);
  try {
    out << "x" << std::flush;
    FAIL();
  } catch (const StreamError& error) {
    EXPECT_STREQ(error.what(), "cannot write to the stream: No space left on device");
    EXPECT_FALSE(error.quiet());
  }
  ::close(full);
}

TEST(StandardStreams, InputArrivesAsItComes) {
  const Pipe pipe;
  InputBuffer buffer(system::File::borrowed(pipe.ends[0]), "a pipe");
  std::istream in(&buffer);
  ASSERT_EQ(::write(pipe.ends[1], "one\ntw", 6), 6);
  std::string line;
  EXPECT_TRUE(std::getline(in, line));
  EXPECT_EQ(line, "one");
  ASSERT_EQ(::write(pipe.ends[1], "o\n", 2), 2);
  EXPECT_TRUE(std::getline(in, line));
  EXPECT_EQ(line, "two");
}

}  // namespace
}  // namespace headscope::app::standard_streams_posix_test
