#pragma once
#include <memory>
#include <ostream>

#include "app/cli/arguments/arguments.h"
#include "app/cli/program.h"

namespace headscope::app {

/// The ending of the file after --out, or the text after --format: "json". Empty: neither was given.
std::string answer_format(const Arguments& given);

/// Whether a format is one of an answer's, and not of a picture's or its numbers': "txt", "json" or "jsonl".
bool is_answer_format(std::string_view format);

/// Chooses the format of an answer: sets `json` and `csv`, null if the command writes no CSV. Throws
/// UsageError.
void choose_answer_format(Arguments& given, bool* csv);

/// Throws UsageError for --bom without CSV. `prints_csv`: the answer is CSV.
void check_byte_order_mark(const Arguments& given, bool prints_csv);

/// The streams of a command whose answer may go to a file.
class AnswerFile {
 public:
  /// `given`: names the file, if there is one; it is opened now, so that an unwritable one is reported before
  /// the work. Throws std::runtime_error like system::AtomicFile.
  AnswerFile(const Arguments& given, const Streams& streams);
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

}  // namespace headscope::app
