#include "app/cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>
#include <csignal>
#include <istream>
#include <ostream>

#include "model/files/error.h"
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

TEST(StandardStreams, AClosedPipeIsQuiet) {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  OutputBuffer buffer(system::File::borrowed(ends[1]), "the stream");
  std::ostream out(&buffer);
  out.exceptions(std::ios::badbit);
  try {
    out << std::string(1 << 20, 'x');
    FAIL();
  } catch (const StreamError& error) {
    EXPECT_TRUE(error.quiet());
  }
  ::close(ends[1]);
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

TEST(StandardStreams, InputThatCannotBeReadHasItsReason) {
  const int folder = ::open("/", O_RDONLY);
  InputBuffer buffer(system::File::borrowed(folder), "the stream");
  std::istream in(&buffer);
  in.exceptions(std::ios::badbit);
  std::string line;
  try {
    std::getline(in, line);
    FAIL();
  } catch (const model::LoadError& error) {
    EXPECT_STREQ(error.what(), "cannot read the stream: Is a directory");
  }
  EXPECT_THROW((std::string{std::istreambuf_iterator<char>(in), {}}), model::LoadError);
  ::close(folder);
}

}  // namespace
}  // namespace headscope::app::standard_streams_posix_test
