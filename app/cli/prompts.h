#pragma once
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <string>

#include "app/cli/arguments.h"
#include "app/cli/engine.h"
#include "app/cli/program.h"
#include "app/run/prompt_list.h"
#include "system/hash.h"

namespace headscope::app {

/// The prompts of a command, one at a time. A list is read line by line on demand, so that a program at the
/// other end of a pipe can wait for each answer before it sends the next prompt.
class PromptSource {
 public:
  /// Throws model::LoadError if a file cannot be read.
  PromptSource(const Arguments& arguments, std::istream& standard_input);

  bool is_list() const { return lines_ != nullptr; }
  const std::string& name() const { return name_; }  ///< the list's file, or "standard input"

  /// The next prompt, or the next one of the shard; nothing after the last one. Throws model::LoadError that
  /// names file and line.
  std::optional<ListedPrompt> next();

  /// The number, in the whole list and from 1, of the prompt that next() last returned or could not read.
  int number() const { return number_; }
  /// The list; nothing for one prompt, and before next() has returned nothing.
  std::optional<ListFile> list() const { return list_; }
  /// Whether next() can be called again after it has thrown.
  bool can_continue() const;
  /// The output file of this prompt: {n} in its name becomes the prompt's number.
  std::string file(std::string name) const;

  /// The beginning of a message about the last prompt: "prompts.jsonl:3: " for a list, else "".
  std::string where() const;

 private:
  std::optional<ListedPrompt> single_;
  std::optional<bool> start_token_;
  bool plain_text_ = false;
  Shard shard_;
  bool plain_ = false;  ///< each line is a prompt, as in a .txt file
  std::string name_;
  std::unique_ptr<std::istream> file_;  ///< that of the prompt or the list
  std::istream* lines_ = nullptr;
  bool is_cut_ = false;               ///< a line is too long, and may have no end
  std::string list_name_;             ///< without its folder
  std::optional<system::Hash> hash_;  ///< of the lines that were read; none: one prompt
  std::optional<ListFile> list_;
  int line_ = 0;
  int number_ = 0;
};

/// Processes one prompt of a command.
using PromptWork = std::function<void(const PromptSource& source, const ListedPrompt& prompt)>;

/// What was processed.
struct PromptsRun {
  int skipped = 0;                    ///< prompts that failed
  std::optional<ListFile> list = {};  ///< none: one prompt
};

/// Processes each prompt in turn, or those of the shard. Shows progress on a terminal, or an occasional line
/// in a log. A prompt that cannot be read or run ends the loop (model::LoadError, model::RunError). If errors
/// are skipped, each is reported in a sentence on `err` and counted in a final one; throws RunError if every
/// prompt of a whole list failed, or if it has none.
PromptsRun for_each_prompt(const Arguments& arguments, const Streams& streams, const PromptWork& work);

}  // namespace headscope::app
