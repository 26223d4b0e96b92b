#include "app/cli/arguments/answer_file.h"

#include <array>
#include <streambuf>

#include "app/ascii.h"
#include "app/cli/arguments/argument_values.h"
#include "model/files/quote.h"
#include "system/atomic_file.h"
#include "system/interrupt.h"
#include "system/path_text.h"

namespace headscope::app {

std::string answer_format(const Arguments& given) {
  if (given.out_name.empty() || given.out_name == "-")
    return given.out_format == FileFormat::csv ? "csv" : given.answer_format;
  std::string ending = system::text_of(system::path_of(given.out_name).extension());
  if (!ending.empty()) ending.erase(0, 1);
  for (char& letter : ending) letter = lower(letter);
  return ending;
}

bool is_answer_format(std::string_view format) {
  return format == "txt" || format == "json" || format == "jsonl";
}

void choose_answer_format(Arguments& given, bool* csv) {
  const std::string names = csv != nullptr ? "txt, json, jsonl or csv" : "txt, json or jsonl";
  const std::string format = answer_format(given);
  if (given.out_name.empty()) {
    if (!format.empty()) throw UsageError("--format applies only to --out -");
    return;
  }
  const bool standard = given.out_name == "-";
  if (standard && format.empty()) throw UsageError("--out - requires --format: " + names);
  if (!standard && !given.answer_format.empty())
    throw UsageError("--format applies only to --out -; a file's format is the ending of its name");
  const bool is_csv = csv != nullptr && format == "csv";
  if (!is_answer_format(format) && !is_csv)
    throw UsageError(standard ? "--format takes " + names + " here, not " + model::quote(format)
                              : "the file after --out must end in ." + names + "; " +
                                    model::quote(given.out_name) + " does not");
  const bool is_json = format == "json" || format == "jsonl";
  refuse(
      {{given.out_name.find("{n}") != std::string::npos,
        "the answers to all prompts go into one file; leave {n} out of its name"},
       {given.json && !is_json, "one format at a time: both --json and one for " + format + " were given"}});
  given.json = is_json;
  if (csv != nullptr) *csv = is_csv;
}

void check_byte_order_mark(const Arguments& given, bool prints_csv) {
  if (given.picture.byte_order_mark && !prints_csv && answer_format(given) != "csv")
    throw UsageError("--bom is for CSV; name a .csv file after --out");
}

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

AnswerFile::AnswerFile(const Arguments& given, const Streams& streams)
    : buffer_(given.out_name.empty() || given.out_name == "-"
                  ? nullptr
                  : std::make_unique<Buffer>(system::path_of(given.out_name))),
      out_(buffer_ ? std::make_unique<std::ostream>(buffer_.get()) : nullptr),
      streams_{streams.in, out_ ? *out_ : streams.out, streams.err, !out_ && streams.out_is_terminal,
               streams.err_is_terminal} {
  if (out_) out_->exceptions(std::ios::badbit);  // throws what the buffer does
}
AnswerFile::~AnswerFile() = default;

void AnswerFile::commit() {
  if (buffer_) buffer_->commit();
}

}  // namespace headscope::app
