#pragma once
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/list_part.h"
#include "app/cli/program.h"
#include "app/run/analyses/activation_means.h"
#include "app/run/analyses/attribution.h"
#include "app/run/answers.h"
#include "app/run/prompt_run.h"
#include "app/window/window.h"
#include "model/files/error.h"
#include "model/kernels/workspace.h"
#include "model/pass/transformer.h"

// What the commands share.
namespace headscope::app {

/// The list of prompts whose means edits and ablations set: --mean-over.
struct MeanList {
  OverPrompts over;
  ListFile file;
  std::int64_t tokens = 0;  ///< of all prompts
};

/// Reads a list and checks that the model can run each of its prompts whole. Throws model::LoadError and
/// model::RunError that name file and line.
std::shared_ptr<const MeanList> read_mean_list(const std::filesystem::path& file, const LoadedModel& model,
                                               bool start_token);

/// "means over 1,500 tokens of 120 prompts of names.jsonl", for a terminal.
std::string words_of(const MeanList& list);

/// Finds a model on this machine: a folder, a model in the Hugging Face cache, with or without "@revision",
/// else one by its name (see model_named).
std::optional<std::filesystem::path> find_model(const std::string& name);

/// The folder of the model named by `option`: find_model's, or the bundled model's if none is named, else the
/// name itself, so that loading reports what is wrong. Throws model::LoadError for a name that could be on
/// the hub, which says how to get it, and for a folder without a model that hides one of its name.
std::filesystem::path model_folder(const ModelArguments& arguments, const std::string& option = "--model");

/// The tokenizer of the model that the arguments name, which may be kept. Throws model::LoadError.
std::shared_ptr<const model::Tokenizer> load_tokenizer(const ModelArguments& arguments);

/// A loaded model and the workspace for its runs.
struct Engine {
  std::shared_ptr<const LoadedModel> model;
  model::Workspace workspace;
  std::shared_ptr<const model::Plan> plan;         ///< the edits of every run, see plan_for; null: none
  model::Edits given_edits = {};                   ///< the same before means over a list became numbers
  std::shared_ptr<const LoadedModel> second = {};  ///< a model to compare with; null: none
  std::shared_ptr<const MeanList> mean_over = {};  ///< over which means are taken; null: the run's positions
  model::Config config() const { return model->config(); }
  std::vector<std::string> warnings() const;  ///< of both models, each once
};

/// The means of a list as a source that other questions take; the answer is added to `known`. Throws
/// model::RunError, also if a prompt has no means.
MeanSource known_means(const MeansOverList& question, Engine& engine, const Streams& streams,
                       AnswersInAdvance::Known& known);

/// What a command uses a second model for.
enum class SecondModelUse { patch_source, baseline };

/// What a command needs besides a prompt and its edits.
struct EngineUse {
  Capabilities needs = Capability::weights;
  SecondModelUse second = SecondModelUse::patch_source;
  bool takes_means = false;  ///< it takes means itself, besides its edits
};

/// Loads the models, unless they are kept, and reads the edits. Means over a list become their values, which
/// may take a while. Throws model::LoadError, and model::RunError for edits that cannot be parsed or that
/// this model does not support, and for a second model or a list that is not used. Shows the models'
/// warnings.
Engine start_engine(const Arguments& command, const Streams& streams, const EngineUse& use = {});

/// Writes the warnings of models to `err`, each once a process.
void show_warnings(std::span<const std::string> warnings, const ModelArguments& arguments, std::ostream& err);

/// The edits of the arguments: those of the file, then the others. Throws like start_engine.
model::Edits edits_from(const EditArguments& edits, const LoadedModel& model);

/// The prompt's tokens. Throws model::RunError, which begins with `where`, for more than n_ctx tokens and for
/// ids outside the vocabulary.
PromptTokens tokenize_whole(const LoadedModel& model, const Prompt& prompt, const std::string& where);

/// The edits of a run of the tokens; null: none.
std::shared_ptr<const model::Plan> plan_for(Engine& engine, std::span<const int> tokens);

/// Tokenizes and runs a prompt. `hooks`: of the pass; null: none. Throws like tokenize_whole.
PromptRun run_prompt(Engine& engine, const Prompt& prompt, const std::string& where,
                     const model::Hooks* hooks = nullptr);

/// The unedited run of a second prompt, in the second model if there is one. Throws like tokenize_whole.
std::shared_ptr<const PromptRun> run_second(Engine& engine, Prompt prompt, const std::string& where);

/// The baseline of a command's runs.
struct Baseline {
  std::shared_ptr<const PromptRun> second;  ///< null: the same prompt in the second model, or unedited
  Alignment alignment = Alignment::position;
};

/// Throws like tokenize_whole, and model::RunError for a side that does not exist.
Baseline baseline_of(Engine& engine, const ComparisonArguments& comparison, std::optional<bool> start_token);

/// Sets the run's baseline, if there is one.
void compare(Engine& engine, PromptRun& run, const Baseline& baseline);
/// Sets the unedited run as the baseline of an edited one.
void compare_with_unedited(Engine& engine, PromptRun& run);

/// Names the tokens of a prediction by their ids: ranks are those of the unedited run, whatever the baseline.
/// `against`: may be none. Positions that do not exist are left to what measures there. Throws
/// model::RunError that begins with `where` for an id outside the vocabulary, and if both are one.
void name_by_id(TokenChoice& token, TokenChoice& against, const PromptRun& run, int position, Engine& engine,
                const std::string& where);

/// The patterns of an attention file as a run, compared with those of a second file if one is named. Throws
/// model::LoadError, and model::RunError if the files cannot be compared, for a side that does not exist, and
/// for a prompt, since none is run.
PromptRun run_of_patterns(const Engine& engine, const PromptArguments& prompt,
                          const ComparisonArguments& comparison);

/// The window's options from the shared arguments.
WindowOptions window_options(const Arguments& given, const Streams& streams);

/// Reads a list of prompts; null for an empty path. Throws model::LoadError.
std::shared_ptr<const PromptList> list_of_prompts(const std::filesystem::path& over);

/// How answers tell their progress: on a terminal, after `where`. Signals end the work: they throw
/// system::Interrupted.
DirectAnswers::Tell progress_of(const std::string& where, const Streams& streams);

/// Calls `work`; a model::RunError of it begins with `where`.
template <class Work>
auto saying_where(const std::string& where, const Work& work) {
  try {
    return work();
  } catch (const model::RunError& error) {
    throw model::RunError(where + error.what());
  }
}

/// Throws model::RunError that begins with `where` unless the value is in [0, count): "there is no layer 7:
/// the last one is 5", and `hint`.
void require_below(int count, int value, const std::string& where, const std::string& what,
                   const std::string& hint = "");

/// Throws model::RunError that begins with `where` for a key that the query does not see in the head.
void require_seen(const PromptRun& run, const Selection& at, int key, const std::string& where,
                  const std::string& hint);

/// Writes a sentence to `err`, after `where`, for each oddity of a run of `length` positions: values that are
/// not finite (`not_finite`, from not_finite_note; they are nan in text and CSV, null in JSON), edits at
/// positions that it does not have, and those of attention files.
void warn_about(const std::string& not_finite, const model::Edits& edits, int length,
                const std::string& where, std::ostream& err);
void warn_about(const PromptRun& run, const std::string& where, std::ostream& err);
/// The same of a command that needs no prompt: of a run of the vocabulary's first token.
void warn_about_weights(Engine& engine, std::ostream& err);

/// printf to a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

}  // namespace headscope::app
