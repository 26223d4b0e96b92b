#include "app/cli/standard_streams.h"

#include <string>
#include <system_error>

#include "model/files/error.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

[[noreturn]] void fail_to_read(const std::string& name, const std::system_error& error) {
  throw model::LoadError("cannot read " + name + ": " + error.code().message());
}

system::File opened(const std::filesystem::path& path) {
  try {
    return {path, system::Open::read};
  } catch (const std::system_error& error) {
    fail_to_read(system::text_of(path), error);
  }
}

}  // namespace

OutputBuffer::int_type OutputBuffer::overflow(int_type character) {
  sync();
  if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
  return sputc(traits_type::to_char_type(character));
}

int OutputBuffer::sync() {
  const std::string_view bytes(pbase(), static_cast<std::size_t>(pptr() - pbase()));
  setp(buffer_.data(), buffer_.data() + buffer_.size());  // a failed write is not repeated
  write(bytes);
  return 0;
}

void StandardOutput::write(std::string_view bytes) {
  try {
    file_.write(bytes);
  } catch (const std::system_error& error) {
    throw StreamError(std::string("cannot write to ") + name_ + ": " + error.code().message(),
                      error.code() == std::errc::broken_pipe);
  }
}

InputBuffer::int_type InputBuffer::underflow() {
  try {
    const std::size_t got = file_.read(buffer_);
    setg(buffer_.data(), buffer_.data(), buffer_.data() + got);
    return got == 0 ? traits_type::eof() : traits_type::to_int_type(buffer_[0]);
  } catch (const std::system_error& error) {
    fail_to_read(name_, error);
  }
}

std::optional<InputLine> next_line(std::istream& in, std::size_t limit) {
  InputLine line;
  for (int next = in.get(); next != std::istream::traits_type::eof(); next = in.get()) {
    if (next == '\n') return line;
    line.too_long = line.text.size() == limit;
    if (line.too_long) return line;
    line.text += static_cast<char>(next);
  }
  return line.text.empty() ? std::nullopt : std::optional(line);
}

InputFile::InputFile(const std::filesystem::path& path)
    : std::istream(nullptr), buffer_(opened(path), system::text_of(path)) {
  rdbuf(&buffer_);
  exceptions(std::ios::badbit);
}

}  // namespace headscope::app
