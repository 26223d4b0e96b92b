#pragma once
#include <array>
#include <filesystem>
#include <istream>
#include <optional>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>

#include "system/file.h"

namespace headscope::app {

/// A stream that could not be written. `quiet`: the reader closed the pipe, which is not an error worth a
/// message.
class StreamError : public std::runtime_error {
 public:
  StreamError(const std::string& what, bool quiet) : std::runtime_error(what), quiet_(quiet) {}
  bool quiet() const { return quiet_; }

 private:
  bool quiet_;
};

/// Buffered output that reports why writing failed; the standard library's buffer loses the reason. Set
/// badbit in the stream's exceptions(), so that what `write` throws is rethrown.
class OutputBuffer : public std::streambuf {
 public:
  OutputBuffer() { setp(buffer_.data(), buffer_.data() + buffer_.size()); }

 protected:
  virtual void write(std::string_view bytes) = 0;
  int_type overflow(int_type character) override;
  int sync() override;

 private:
  std::array<char, 1 << 16> buffer_;
};

/// Output to a standard stream. Throws StreamError.
class StandardOutput : public OutputBuffer {
 public:
  StandardOutput(system::File file, const char* name) : file_(std::move(file)), name_(name) {}

 protected:
  void write(std::string_view bytes) override;

 private:
  system::File file_;
  const char* name_;
};

/// Buffered input from a file that reports why reading failed; the standard library's buffer
/// treats a read error as the end of the file. Throws model::LoadError; set badbit in the stream's
/// exceptions(), so that it is rethrown.
class InputBuffer : public std::streambuf {
 public:
  InputBuffer(system::File file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}

 protected:
  int_type underflow() override;

 private:
  system::File file_;
  std::string name_;
  std::array<char, 1 << 16> buffer_;
};

/// Limit of a line: parsing JSON takes many times its size, and a sender without line breaks must not take
/// all memory.
inline constexpr std::size_t kMaxLineBytes = std::size_t{8} << 20;

/// A line without its end.
struct InputLine {
  std::string text;
  bool too_long = false;  ///< it is longer than the limit; its rest has not been read
};

/// Reads the next line; nothing at the end. A last line without its end counts. Throws like the stream.
std::optional<InputLine> next_line(std::istream& in, std::size_t limit = kMaxLineBytes);

/// A file or named pipe, read as a stream. Throws model::LoadError.
class InputFile : public std::istream {
 public:
  explicit InputFile(const std::filesystem::path& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

 private:
  InputBuffer buffer_;
};

}  // namespace headscope::app
