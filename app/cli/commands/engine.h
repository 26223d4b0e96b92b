#pragma once
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "app/cli/arguments/arguments.h"
#include "app/cli/program.h"
#include "app/run/analyses/attribution.h"
#include "app/run/prompt_run.h"
#include "app/window/window.h"
#include "model/files/error.h"
#include "model/pass/transformer.h"

namespace headscope::app {

// What the commands have in common.

/// What is here by that name: a folder, a model of the Hugging Face cache, with or without "@revision", else
/// one by the last part of its name (see resolve_model).
std::optional<std::filesystem::path> find_model(const std::string& name);

/// The folder that the arguments of `option` mean: that of find_model, the bundled model when none is named,
/// else the name as it was written, so that loading says what is wrong with it. Throws model::LoadError,
/// which says how to get it, for a name that could be one of the hub's.
std::filesystem::path model_folder(const ModelArguments& arguments, const std::string& option = "--model");

/// A loaded model and what it computes with.
struct Engine {
  std::shared_ptr<const LoadedModel> model;
  model::Workspace workspace;
  std::shared_ptr<const model::Plan> plan;  ///< what is changed in every run, see plan_for; null: nothing
  std::shared_ptr<const LoadedModel> second = {};  ///< that can be compared with the model; null: none
  model::Config config() const { return model->config(); }
};

/// What a command does with a second model that is named.
enum class SecondModelUse { patch_source, baseline };

/// Throws model::LoadError, and model::RunError for edits that cannot be read or that this model does
/// not have, and for a second model that nothing is done with.
Engine start_engine(const ModelArguments& arguments, const EditArguments& edits = {},
                    Capabilities needs = Capability::weights,
                    SecondModelUse second = SecondModelUse::patch_source);

/// The edits that the arguments mean: those of the file, then the others. Throws as start_engine.
model::Edits edits_from(const EditArguments& edits, const LoadedModel& model);

/// The prompt's tokens, all of them inside the context. Throws model::RunError, which begins with `where`,
/// for more tokens than n_ctx and for ids outside the vocabulary.
PromptTokens tokenize_whole(const LoadedModel& model, const Prompt& prompt, const std::string& where);

/// What is changed in a run of the tokens; null: nothing.
std::shared_ptr<const model::Plan> plan_for(Engine& engine, std::span<const int> tokens);

/// Tokenizes and runs a prompt. Throws as tokenize_whole.
PromptRun run_prompt(Engine& engine, const Prompt& prompt, const std::string& where);

/// A run to compare with, in which nothing is changed: in the second model where there is one. Throws as
/// tokenize_whole.
std::shared_ptr<const PromptRun> run_second(Engine& engine, Prompt prompt, const std::string& where);

/// What each of a command's runs is compared with.
struct Baseline {
  std::shared_ptr<const PromptRun> second;  ///< null: the run in the second model, or without its edits
  Alignment alignment = Alignment::position;
};

/// Throws as tokenize_whole, and model::RunError where a side is asked for that there is not.
Baseline baseline_of(Engine& engine, const ComparisonArguments& comparison, bool start_token);

/// Gives the run what it is compared with; nothing where there is none.
void compare(Engine& engine, PromptRun& run, const Baseline& baseline);
/// The same of one that is compared with itself without edits alone.
void compare_with_unedited(Engine& engine, PromptRun& run);

/// The token that a rank is of: a guess of what a changed run was compared with, so that it is the same
/// whatever the changes do; any other choice as it is.
TokenChoice baseline_guess(const TokenChoice& choice, const PromptRun& run, int position, Engine& engine);

/// The patterns of a file as a run, compared with those of another file where it names one (else it is
/// empty). Says what is odd about them on `err`. Throws model::LoadError, and model::RunError for others that
/// they cannot be compared with, where a side is asked for that there is not, and for a prompt that is not
/// empty: none is run.
PromptRun run_of_patterns(const Engine& engine, const PromptArguments& prompt,
                          const ComparisonArguments& comparison, std::ostream& err);

/// What a window is opened with, of the options that several commands take.
WindowOptions window_options(const Arguments& given, const Streams& streams);

/// The list of prompts that the arguments name; null: none. Throws model::LoadError.
std::shared_ptr<const PromptList> list_of_prompts(const std::filesystem::path& over);

/// Throws model::RunError that begins with `where` for a value that is none of 0 to count - 1: "there is no
/// layer 7: they go from 0 to 5 here", and `hint`.
void require_below(int count, int value, const std::string& where, const std::string& what,
                   const std::string& hint = "");

/// "the prompt has 1,200 tokens, but tales takes at most 256 (n_ctx)" for tokens of which not all are run.
std::string beyond_context(const PromptTokens& tokens, const LoadedModel& model);

/// A sentence on `err`, after `where`, for what is odd about a run of `length` positions: values that are not
/// finite (`not_finite`, of not_finite_note), edits of positions that it does not have.
void warn_about(const std::string& not_finite, const model::Edits& edits, int length,
                const std::string& where, std::ostream& err);
void warn_about(const PromptRun& run, const std::string& where, std::ostream& err);

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

}  // namespace headscope::app
