#pragma once
#include <memory>
#include <ostream>

#include "app/cli/arguments.h"
#include "app/cli/program.h"

namespace headscope::app {

/// The streams of a command whose answer may go to a file.
class AnswerFile {
 public:
  /// `name`: of the file; empty or "-": none. It is opened now, so that an unwritable one is reported before
  /// the work. Throws std::runtime_error like system::AtomicFile.
  AnswerFile(const std::string& name, const Streams& streams);
  ~AnswerFile();
  AnswerFile(const AnswerFile&) = delete;
  AnswerFile& operator=(const AnswerFile&) = delete;

  const Streams& streams() const { return streams_; }
  /// Gives the complete file its name. Without this nothing remains of it.
  void commit();

 private:
  class Buffer;
  std::unique_ptr<Buffer> buffer_;  ///< null: standard output
  std::unique_ptr<std::ostream> out_;
  Streams streams_;
};

/// Writes bytes to a file, atomically, or for "-" to standard output. Throws std::runtime_error (one
/// sentence) for an unwritable path, a full disk, or a picture for a terminal.
void write_output(const std::string& name, Format format, std::string_view bytes, const Streams& streams);

}  // namespace headscope::app
