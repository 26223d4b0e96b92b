#pragma once
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/mutation.h"

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

using Words = std::vector<std::string>;
Words operator+(Words words, const Words& more);
/// Tokens of JSON and words of a format.
Words json_and(std::string_view words);
/// Characters of several bytes, graphemes of several characters, and invalid bytes.
Words characters();

/// A reader or a text function, with its checks.
struct Target {
  std::string_view name;  ///< also the name of its folder in corpus/
  Outcome (*check)(std::string_view input);
  Words words;  ///< for its inputs
  std::string (*mutate)(Mutator& mutator,
                        const std::string& input) = nullptr;  ///< within the form;
                                                              ///< null: bytes alone
  std::size_t most_bytes = 4096;                              ///< longer inputs find nothing more
  int inputs = 1500;  ///< number of inputs that the tests generate; fewer if one takes milliseconds
};

/// The targets that read a model's files; of the program's own formats; and all.
std::vector<Target> model_targets();
std::vector<Target> app_targets();
std::span<const Target> targets();

}  // namespace headscope::fuzz
