#pragma once
#include <array>
#include <filesystem>
#include <istream>
#include <stdexcept>
#include <streambuf>
#include <string>

namespace headscope::app {

/// A stream that could not be written. `quiet`: the reader went away (a closed pipe), which is nobody's
/// fault.
class StreamError : public std::runtime_error {
 public:
  StreamError(const std::string& what, bool quiet) : std::runtime_error(what), quiet_(quiet) {}
  bool quiet() const { return quiet_; }

 private:
  bool quiet_;
};

/// Buffered output to a file descriptor that says why it failed: the standard library's own loses the reason.
/// For a stream whose exceptions() has badbit, so that StreamError comes through.
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

/// Buffered input from a file descriptor that says why it failed: to the standard library's own a broken disk
/// is the end of the file. Throws model::LoadError; for a stream whose exceptions() has badbit, so that it
/// comes through.
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

/// A file, or a pipe of that name, read as it comes. Throws model::LoadError.
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

/// Makes sure that the descriptors 0, 1 and 2 are taken, so that no file opened later becomes standard output
/// by accident. Where standard output was closed, writing to it fails.
void occupy_standard_descriptors();

}  // namespace headscope::app
