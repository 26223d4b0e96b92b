#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace headscope::fuzz {

/// What became of an input. Anything else that a check does (another exception, a crash, minutes, gigabytes)
/// is a finding.
enum class Outcome { read, refused };

/// A promise that did not hold.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws Broken with what was promised.
void promise(bool kept, std::string_view what);

/// Where thousands of small files are written in no time.
std::filesystem::path memory_folder();

/// Whether a person can be shown a text as it is: UTF-8 without a control character.
bool is_printable(std::string_view text);

/// One printable sentence of sensible length. Throws Broken.
void promise_sentence(const std::string& message);

/// Reads, or is refused with the error of that kind and one sentence.
template <class Error, class Read>
Outcome read_or_refused(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    promise_sentence(error.what());
    return Outcome::refused;
  }
  return Outcome::read;
}

}  // namespace headscope::fuzz
