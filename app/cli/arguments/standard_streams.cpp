#include "app/cli/arguments/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "model/files/error.h"
#include "model/files/file_io.h"

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
  setp(buffer_.data(), buffer_.data() + buffer_.size());  // a failed write is not repeated
  while (from != end) {
    const ssize_t written = ::write(descriptor_, from, static_cast<std::size_t>(end - from));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int error = written < 0 ? errno : ENOSPC;
      throw StreamError(
          std::string("cannot write to ") + name_ + ": " + std::generic_category().message(error),
          error == EPIPE);
    }
    from += written;
  }
}

DescriptorInput::DescriptorInput(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)) {}

DescriptorInput::int_type DescriptorInput::underflow() {
  ssize_t got = 0;
  do got = ::read(descriptor_, buffer_.data(), buffer_.size());
  while (got < 0 && errno == EINTR);
  if (got < 0) throw model::LoadError("cannot read " + name_ + ": " + std::generic_category().message(errno));
  setg(buffer_.data(), buffer_.data(), buffer_.data() + got);
  return got == 0 ? traits_type::eof() : traits_type::to_int_type(buffer_[0]);
}

InputFile::InputFile(const std::filesystem::path& path)
    : std::istream(nullptr),
      descriptor_(model::open_descriptor(path, O_RDONLY)),
      buffer_(descriptor_, path.string()) {
  if (descriptor_ < 0)
    throw model::LoadError("cannot read " + path.string() + ": " + std::generic_category().message(errno));
  rdbuf(&buffer_);
  exceptions(std::ios::badbit);
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

void occupy_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // 0 and 1 are opened with the wrong direction on purpose, so that reading or writing fails as on a closed
    // descriptor. Messages may be lost.
    const int flags = descriptor == 1 ? O_RDONLY : O_WRONLY;
    if (::open("/dev/null", flags) != descriptor) return;  // nothing more can be done here
  }
}

}  // namespace headscope::app
