#include "app/cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace headscope::app {

DescriptorBuffer::DescriptorBuffer(int descriptor, const char* name) : descriptor_(descriptor), name_(name) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

DescriptorBuffer::int_type DescriptorBuffer::overflow(int_type character) {
  write_out();
  if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
  return sputc(traits_type::to_char_type(character));
}

int DescriptorBuffer::sync() {
  write_out();
  return 0;
}

void DescriptorBuffer::write_out() {
  const char* from = pbase();
  const char* const end = pptr();
  setp(buffer_.data(), buffer_.data() + buffer_.size());  // what fails is not tried again
  while (from != end) {
    const ssize_t written = ::write(descriptor_, from, static_cast<std::size_t>(end - from));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      throw StreamError(
          std::string("cannot write to ") + name_ + ": " + std::generic_category().message(error),
          error == EPIPE);
    }
    from += written;
  }
}

void occupy_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // Opened the wrong way round on purpose for 0 and 1: reading or writing fails as on a closed one.
    // Messages may be lost.
    const int flags = descriptor == 1 ? O_RDONLY : O_WRONLY;
    if (::open("/dev/null", flags) != descriptor) return;  // nothing more can be done here
  }
}

}  // namespace headscope::app
