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

/// A reader or a text function, with its checks.
struct Target {
  std::string_view name;  ///< also the name of its folder in corpus/
  Outcome (*check)(std::string_view input);
  std::vector<std::string> words;  ///< words for its inputs
  std::string (*mutate)(Mutator& mutator,
                        const std::string& input) = nullptr;  ///< within the form;
                                                              ///< null: bytes alone
  std::size_t most_bytes = 4096;                              ///< longer inputs find nothing more
  int inputs = 1500;  ///< number of inputs that the tests generate; fewer if one takes milliseconds
};

std::span<const Target> targets();

// The checks, ordered by what they read.

Outcome check_safetensors(std::string_view file);
Outcome check_torch(std::string_view file);
Outcome check_pickle(std::string_view pickle);
Outcome check_shard_index(std::string_view index);
Outcome check_config(std::string_view json);
Outcome check_vocabulary(std::string_view json);
Outcome check_merges(std::string_view text);
Outcome check_tokenizer_json(std::string_view json);
Outcome check_model_header(std::string_view header);

Outcome check_tokenizer(std::string_view text);
Outcome check_shown_text(std::string_view bytes);
Outcome check_recipe_note(std::string_view prompt);

Outcome check_edit_text(std::string_view text);
Outcome check_attention(std::string_view file);
Outcome check_tour(std::string_view text);
Outcome check_settings(std::string_view json);
Outcome check_prompt_list(std::string_view lines);
Outcome check_means(std::string_view json);
Outcome check_command_line(std::string_view words);
Outcome check_request(std::string_view line);

Outcome check_recipe(std::string_view file);

Outcome check_hub_listing(std::string_view json);
Outcome check_hub_name(std::string_view name);

}  // namespace headscope::fuzz
