#pragma once
#include <array>
#include <filesystem>
#include <istream>
#include <stdexcept>
#include <streambuf>
#include <string>

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

/// Buffered output to a file descriptor that reports why writing failed; the standard library's buffer loses
/// the reason. Set badbit in the stream's exceptions(), so that StreamError is rethrown.
class DescriptorBuffer : public std::streambuf {
 public:
  DescriptorBuffer(int descriptor, const char* name);

 protected:
  int_type overflow(int_type character) override;
  int sync() override;

 private:
  void write_out();

  int descriptor_;
  const char* name_;
  std::array<char, 1 << 16> buffer_;
};

/// Buffered input from a file descriptor that reports why reading failed; the standard library's buffer
/// treats a read error as the end of the file. Throws model::LoadError; set badbit in the stream's
/// exceptions(), so that it is rethrown.
class DescriptorInput : public std::streambuf {
 public:
  DescriptorInput(int descriptor, std::string name);

 protected:
  int_type underflow() override;

 private:
  int descriptor_;
  std::string name_;
  std::array<char, 1 << 16> buffer_;
};

/// A file or named pipe, read as a stream. Throws model::LoadError.
class InputFile : public std::istream {
 public:
  explicit InputFile(const std::filesystem::path& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() override;

 private:
  int descriptor_;
  DescriptorInput buffer_;
};

/// Opens the descriptors 0, 1 and 2 if they are closed, so that no file opened later becomes standard output
/// by accident. Writing to a standard output that was closed still fails.
void occupy_standard_descriptors();

}  // namespace headscope::app
