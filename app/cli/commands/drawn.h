#pragma once
#include <memory>
#include <optional>
#include <string>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/engine.h"
#include "app/cli/commands/figure.h"

// What commands share that measure predictions, perhaps against a second prompt, and may draw them.
namespace headscope::app {

/// Declares how a command draws its picture, or writes its numbers.
void drawn_output(CommandSyntax& command, DrawnCommand& own);
/// Completes the output of a command that draws a picture or writes its numbers, and checks what goes with
/// it. `example`: a picture's name. Throws UsageError.
void check_drawn(DrawnCommand& command, const char* example);

/// Compares runs with those of their second prompts: of a prompt's line, else of --second.
class SecondPrompts {
 public:
  /// Throws like run_second. The arguments must outlive this.
  SecondPrompts(const DrawnCommand& command, Engine& engine);
  /// Returns the text of the second prompt; nothing: there is none. Throws model::RunError that begins with
  /// `where` if the prompts' lengths differ and no alignment is given.
  std::optional<std::string> compare(PromptRun& run, const ListedPrompt& line, const std::string& where);

 private:
  const DrawnCommand& command_;
  Engine& engine_;
  std::shared_ptr<const PromptRun> second_;  ///< of --second
};

/// The pictures of a command that draws its answers.
class Drawing {
 public:
  Drawing(const DrawnCommand& command, const Engine& engine);
  bool is_wanted() const { return fonts_ != nullptr; }
  /// Writes the view's picture of a run, with these options, to the prompt's file. `second`: the text that it
  /// is compared with; `prompts`: a list that it shows. Throws like figure_bytes and write_output.
  void write(const View& view, const Options& options, int position, const std::optional<std::string>& second,
             const std::shared_ptr<const PromptRun>& run, const std::shared_ptr<const PromptList>& prompts,
             Answers& answers, const PromptSource& source, const Streams& streams) const;

 private:
  const DrawnCommand& command_;
  std::shared_ptr<const viz::Fonts> fonts_;  ///< null: nothing is drawn
  WeightHashes weights_;
};

}  // namespace headscope::app
