#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace headscope::fuzz {

/// The expected outcomes of a check. Anything else (another exception, a crash, minutes, gigabytes) is a
/// finding.
enum class Outcome { read, refused };

/// A broken promise.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws Broken, with the promise, unless it was kept.
void promise(bool kept, std::string_view what);

/// A folder in memory, for thousands of small files.
std::filesystem::path memory_folder();

/// Whether a text can be shown to people: UTF-8 without control characters.
bool is_printable(std::string_view text);

/// Throws Broken unless the message is one printable sentence of sensible length.
void promise_sentence(const std::string& message);

/// Runs `read`, which must succeed or throw the given error with one sentence.
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
