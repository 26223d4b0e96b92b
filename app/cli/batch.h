#pragma once
#include <filesystem>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <string>

#include "app/cli/arguments/arguments.h"
#include "app/cli/program.h"
#include "app/run/prompt_list.h"

namespace headscope::app {

/// A file's name with something in the place of each "{n}" or "{view}".
std::filesystem::path with_name(const std::filesystem::path& pattern, std::string_view key,
                                std::string_view name);

/// The prompts that a command was given, one after the other. A list is read line by line as it is asked for,
/// so that a program at the other end of a pipe may wait for an answer before it asks again.
class PromptSource {
 public:
  /// Throws model::LoadError when a file cannot be read.
  PromptSource(const PromptArguments& arguments, std::istream& standard_input);

  bool is_list() const { return lines_ != nullptr; }

  /// Nothing after the last one; of a list those of the shard. Throws model::LoadError that names file and
  /// line.
  std::optional<Prompt> next();

  /// Counts from 1, through the whole list; of the prompt that next() gave last, or could not read.
  int number() const { return number_; }
  void count_done() { ++done_; }
  bool is_first() const { return done_ == 0; }  ///< whether no prompt before this one went well
  /// Whether next() can be asked again after it has thrown.
  bool can_continue() const;
  /// The file of this prompt, where `pattern` has {n} for its number; nothing where it is there already and
  /// the work goes on from an earlier time.
  std::optional<std::filesystem::path> file(const std::filesystem::path& pattern) const;

  /// "prompts.jsonl:3: " for a prompt out of a list, else "": what a message about the last prompt begins
  /// with.
  std::string where() const;

 private:
  std::optional<Prompt> single_;
  bool start_token_;
  Shard shard_;
  bool plain_ = false;  ///< a line of the list is the prompt as it is: of a .txt file
  bool resume_;
  std::string name_;
  std::unique_ptr<std::istream> file_;  ///< of a list
  std::istream* lines_ = nullptr;
  int line_ = 0;
  int number_ = 0;
  int done_ = 0;
};

/// What is done with one of the prompts that a command was given.
using PromptWork = std::function<void(const PromptSource& source, const Prompt& prompt)>;

/// Does it with each of them in turn: of a list with those of the shard. A terminal sees how far it is, a log
/// a line now and then. A prompt that cannot be read or run is the end of it (model::LoadError,
/// model::RunError), or where errors are skipped a sentence on `err`, and at the end one that counts them; a
/// RunError where none of a whole list went well. Returns how many were skipped.
int for_each_prompt(const PromptArguments& arguments, const Streams& streams, const PromptWork& work);

}  // namespace headscope::app
