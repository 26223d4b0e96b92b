#pragma once
#include <nlohmann/json.hpp>
#include <optional>

#include "app/cli/batch.h"
#include "app/cli/commands/engine.h"
#include "app/cli/commands/output.h"

namespace headscope::app {

/// How the answers of a command are made: the member `how` of their JSON.
class How {
 public:
  explicit How(const Arguments& command) : command_(command) {}

  /// What all answers of a command have in common: program, models and the hashes of their weights,
  /// precision, start token, edits and the list over which means are taken. Throws like weights_hash.
  Json shared(const Engine& engine);
  /// The same with the list of prompts that was processed, if it was one.
  Json of(const Engine& engine, const PromptsRun& prompts);
  /// The same as `shared` with the prompt, and the second prompt if the run is compared with one.
  Json of(const Engine& engine, const PromptRun& run);

 private:
  const Arguments& command_;
  std::optional<Json> shared_;  ///< once it has been asked for
};

/// "headscope 1.2.3".
std::string program_name();

/// The prompt as `how` has it: its text, or that of its ids.
Json prompt_json(const model::Tokenizer& tokenizer, const Prompt& prompt);

}  // namespace headscope::app
