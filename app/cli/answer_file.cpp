#include "app/cli/answer_file.h"

#include "app/cli/standard_streams.h"
#include "system/atomic_file.h"
#include "system/interrupt.h"
#include "system/path_text.h"

namespace headscope::app {

/// Writes to a file through a buffer. Throws system::Interrupted instead of writing on after a signal, and
/// removes the incomplete file before one that came between writes is followed.
class AnswerFile::Buffer : public OutputBuffer {
 public:
  explicit Buffer(const std::filesystem::path& path) : file_(path) {}
  void commit() {
    sync();
    file_.commit();
  }

 protected:
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    interrupts_.check();
    return std::streambuf::xsputn(bytes, count);
  }
  void write(std::string_view bytes) override {
    interrupts_.check();
    file_.append(bytes);
  }

 private:
  system::InterruptGuard interrupts_;  // outlives the file
  system::AtomicFile file_;
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
