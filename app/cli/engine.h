#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/program.h"
#include "app/run/answers.h"
#include "app/run/prompt_list.h"
#include "app/run/run_prompt.h"
#include "app/window/window.h"
#include "model/files/error.h"
#include "model/kernels/workspace.h"

// What the commands share: models, edits and runs.
namespace headscope::app {

/// A list of prompts, whole, as answers name it.
struct ListFile {
  std::string name;          ///< "pairs.jsonl", without its folder
  std::string sha256;        ///< of its bytes, in hexadecimal digits
  std::int64_t prompts = 0;  ///< in all of it, whatever the shard
};

/// The list over whose prompts edits set means.
struct MeanList {
  OverPrompts over;
  ListFile file;
  std::int64_t tokens = 0;  ///< of all prompts
};

/// Finds a model on this machine: a folder, a model in the Hugging Face cache, with or without "@revision",
/// else one by its name (see model_named).
std::optional<std::filesystem::path> find_model(const std::string& name);

/// The folder of the model named by `option`: find_model's, or the bundled model's if none is named, else the
/// name itself, so that loading reports what is wrong. Throws model::LoadError for a name that could be on
/// the hub, which says how to get it, and for a folder without a model that hides one of its name.
std::filesystem::path model_folder(const ModelArguments& arguments, const std::string& option = "--model");

/// If `--get` was given, fetches the named model unless it is on this machine, and replaces the name by its
/// folder. Throws HubError, system::Interrupted.
void fetch_if_missing(ModelArguments& model, const Streams& streams);

/// Loaded models, edits and the workspace of their runs.
struct Engine {
  std::shared_ptr<const LoadedModel> model;
  std::shared_ptr<const LoadedModel> second;  ///< a model, or attention patterns, to compare with; null: none
  model::Workspace workspace;
  model::Edits edits = {};                         ///< of every run
  model::Edits given_edits = {};                   ///< the same before means over a list became numbers
  std::shared_ptr<const MeanList> mean_over = {};  ///< over which means are taken; null: the run's positions
  KeptPlan plan = {};
  std::vector<std::string> warnings() const;  ///< of both models, each once
};

/// Loads the models, unless they are kept, and reads the edits. Means over a list become their values, which
/// may take a while. Throws model::LoadError, and model::RunError for edits that cannot be parsed and for a
/// model without what is needed. Shows the models' warnings.
Engine start_engine(Arguments& arguments, const Streams& streams, Capability needs = Capability::weights);

/// Writes the warnings of models to `err`, each once a process.
void show_warnings(std::span<const std::string> warnings, KeptModels* kept, std::ostream& err);

/// Runs a prompt with the engine's edits, and what it is compared with: `second`, else the second prompt or
/// model of the arguments, else the unedited run. Throws model::RunError that begins with `where`.
PromptRun run_prompt(Engine& engine, const Arguments& arguments, Prompt prompt, const std::string& where,
                     ComparedWith compared_with = ComparedWith::second,
                     const std::optional<std::string>& second = {}, const model::Hooks* hooks = nullptr);

/// Adds the window's fonts and what is next to the program. Throws std::runtime_error (one sentence) if there
/// is no such tour or stop as its options name.
void add_assets(CoreOptions& options);
/// The window's options from the shared arguments, with these. Throws likewise.
CoreOptions window_options(Arguments& arguments, const Streams& streams);

/// Reads a list of prompts; null for an empty path. Throws model::LoadError.
std::shared_ptr<const PromptList> list_of_prompts(const std::filesystem::path& file);

/// How answers tell their progress: on a terminal, after `where`. Signals end the work: they throw
/// system::Interrupted.
DirectAnswers::Tell progress_of(const std::string& where, const Streams& streams);

/// Calls `work`; a model::RunError of it begins with `where`.
template <class Work>
auto with_error_prefix(const std::string& where, const Work& work) {
  try {
    return work();
  } catch (const model::RunError& error) {
    throw model::RunError(where + error.what());
  }
}

/// Throws model::RunError that begins with `where` for a layer, head or position that there is not, and for a
/// key that the query does not see. `hint`: what can be done, by the option's name.
void require_selection(const Selection& at, const PromptRun& run, const std::string& where,
                       const std::function<std::string(const char* option)>& hint);

/// Writes a sentence to `err`, after `where`, for each oddity of a run: values that are not finite, edits at
/// positions that it does not have, and those of attention files.
void warn_about(const PromptRun& run, const std::string& where, std::ostream& err);

/// printf to a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

}  // namespace headscope::app
