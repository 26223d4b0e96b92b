#include "app/cli/answer_file.h"

#include <array>
#include <streambuf>

#include "system/atomic_file.h"
#include "system/interrupt.h"
#include "system/path_text.h"

namespace headscope::app {

/// Writes to a file through a buffer. Throws system::Interrupted instead of writing on after a signal, and
/// removes the incomplete file before one that came between writes is followed.
class AnswerFile::Buffer : public std::streambuf {
 public:
  explicit Buffer(const std::filesystem::path& path) : file_(path) {
    setp(buffer_.data(), buffer_.data() + buffer_.size());
  }
  void commit() {
    interrupts_.check();
    write_out();
    file_.commit();
  }

 protected:
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    interrupts_.check();
    return std::streambuf::xsputn(bytes, count);
  }
  int_type overflow(int_type character) override {
    write_out();
    if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
    return sputc(traits_type::to_char_type(character));
  }
  int sync() override {
    interrupts_.check();
    write_out();
    return 0;
  }

 private:
  void write_out() {
    const std::string_view bytes(pbase(), static_cast<std::size_t>(pptr() - pbase()));
    setp(buffer_.data(), buffer_.data() + buffer_.size());  // a failed write is not repeated
    file_.append(bytes);
  }

  system::InterruptGuard interrupts_;  // outlives the file
  system::AtomicFile file_;
  std::array<char, 1 << 16> buffer_{};
};

AnswerFile::AnswerFile(const std::string& name, const Streams& streams)
    : buffer_(name.empty() || name == "-" ? nullptr : std::make_unique<Buffer>(system::path_of(name))),
      out_(buffer_ ? std::make_unique<std::ostream>(buffer_.get()) : nullptr),
      streams_{streams.in, out_ ? *out_ : streams.out, streams.err, !out_ && streams.out_is_terminal,
               streams.err_is_terminal} {
  if (out_) out_->exceptions(std::ios::badbit);  // throws what the buffer does
}
AnswerFile::~AnswerFile() = default;

void AnswerFile::commit() {
  if (buffer_) buffer_->commit();
}

void write_output(const std::string& name, Format format, std::string_view bytes, const Streams& streams) {
  if (name != "-") return system::write_file_atomically(system::path_of(name), bytes);
  if (streams.out_is_terminal && (format == Format::png || format == Format::pdf))
    throw std::runtime_error(
        "cannot write a picture to a terminal; name a file after --out, or redirect standard output");
  streams.out << bytes;
}

}  // namespace headscope::app
