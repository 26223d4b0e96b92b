#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "app/run/capabilities.h"
#include "model/pass/edits.h"
#include "model/pass/run.h"
#include "model/pass/transformer.h"
#include "model/tokens/tokenizer.h"

namespace headscope::app {

class PatternFile;

/// A model with its tokenizer, as one shared value; or the attention patterns of one, without its weights.
struct LoadedModel {
  std::filesystem::path folder;  ///< of patterns their file
  std::string name;              ///< the folder's name, for captions
  std::shared_ptr<const model::Transformer> transformer;
  std::shared_ptr<const model::Tokenizer> tokenizer;
  std::vector<int> readable_dimensions;  ///< of its positional encoding: see sinusoidal.h
  std::string weights_stamp;             ///< of its files when they were read: see weights_hash.h
  /// All there is, with neither transformer nor tokenizer; null: a whole model.
  std::shared_ptr<const PatternFile> patterns = {};

  /// Of patterns: layers, heads and positions; what else it says means nothing.
  model::Config config() const;
  Capabilities capabilities() const;
};

/// What the user asked to run: text, or ids where given, and what is changed while it runs.
struct Prompt {
  std::string text;
  std::vector<int> ids;      ///< in place of text when not empty
  bool start_token = false;  ///< put `<|endoftext|>` first
  model::Edits edits = {};
  bool operator==(const Prompt&) const = default;
};

/// A prompt as tokens. Positions of the run are indices of `tokens`; those from `run_length` on lie beyond
/// n_ctx.
struct PromptTokens {
  std::vector<model::Token>
      tokens;  ///< ranges in the text; a start token that was put first has the range [0, 0)
  std::vector<std::string> labels;  ///< viz::visible() of each token's bytes
  int run_length = 0;               ///< min(tokens, n_ctx)
  bool was_empty = false;           ///< the empty prompt: the start token alone
  int length() const { return static_cast<int>(tokens.size()); }
  std::vector<int> ids() const;  ///< of the first run_length tokens
};

/// How the tokens of two prompts are matched.
enum class Alignment { position, subsequence };

/// For each of `tokens` the place among `others` that stands for it: the same, or that in their longest
/// common subsequence (of several the one that takes the earliest tokens); -1: none.
std::vector<int> aligned_positions(std::span<const int> tokens, std::span<const int> others, Alignment by);

/// A prompt, its tokens, and what the model left behind.
struct PromptRun {
  std::shared_ptr<const LoadedModel> model;
  Prompt prompt;
  PromptTokens tokens;
  std::shared_ptr<const model::Run> run;
  /// What it is compared with: the same tokens with nothing changed, a second prompt, or either in another
  /// model; null: nothing.
  std::shared_ptr<const PromptRun> baseline = {};
  std::vector<int> aligned = {};  ///< [T]: position of `baseline` that stands for each position, -1: none;
                                  ///< empty where nothing is compared
  std::vector<int> aligned_keys =
      {};  ///< [K]: the same of keys that are other tokens; empty: they are the run's
  /// That is at hand to patch from; what the run is compared with then ran in it. Null: none is.
  std::shared_ptr<const LoadedModel> second_model = {};
  double milliseconds = 0;
};

/// The tokens that queries take from: the run's own, but for patterns of a file that have others.
const PromptTokens& key_tokens(const PromptRun& run);
int key_count(const PromptRun& run);
bool has_own_keys(const PromptRun& run);

/// For each key the one of `run.baseline` that stands for it; -1: none.
const std::vector<int>& aligned_keys(const PromptRun& run);

/// The position of `run.baseline` that stands for one of the run (-1, or beyond the run: its last); -1: none.
/// Of a run that is compared with none, itself.
int counterpart_of(const PromptRun& run, int position);

/// Whether it is compared with another prompt, another model or other patterns, not with the same one with
/// nothing changed.
bool compares_different_inputs(const PromptRun& run);
/// Whether it is compared with what another model makes of its prompt or of a second one.
bool compares_models(const PromptRun& run);
/// Whether it is compared with another text or other ids, whatever the models are.
bool compares_texts(const PromptRun& run);
/// Whether it is compared with a run of the very same tokens: without its changes, or in another model.
bool compares_one_prompt(const PromptRun& run);
/// What is at hand to patch from, as long as the run lives.
model::SecondModel second_of(const PromptRun& run);

/// What is changed (null: nothing) in a run of other tokens than the plan was made for: the same plan, but
/// for patches of what the second model makes of the run's own tokens.
std::shared_ptr<const model::Plan> plan_for(std::span<const int> tokens,
                                            std::shared_ptr<const model::Plan> plan, const LoadedModel& model,
                                            const LoadedModel* second, model::Workspace& workspace,
                                            std::stop_token stop = {});

/// Throws model::RunError where runs of two models cannot be compared: these have other layers, heads, widths
/// or vocabularies, or there are patterns alone.
void check_comparable(const LoadedModel& first, const LoadedModel& second);

/// Compares a run whose tokens are known with another.
void compare_with(PromptRun& run, std::shared_ptr<const PromptRun> other, Alignment by);
/// With the same tokens with nothing changed, whose run is `clean`.
void compare_with_unedited(PromptRun& run, std::shared_ptr<const model::Run> clean);

/// Loads the model of a folder, or the patterns of a file (see PatternFile); of another file in such a
/// folder, the model. Throws model::LoadError, also for a vocabulary that does not fit the embedding.
std::shared_ptr<const LoadedModel> load_model(const std::filesystem::path& folder,
                                              const model::LoadOptions& options);

/// Throws model::RunError for ids outside the vocabulary.
PromptTokens tokenize(const LoadedModel& model, const Prompt& prompt);
/// The same for a run in another model that it can be compared with: that gets the same ids, as far as its
/// own context goes.
PromptTokens tokenize_for(const LoadedModel& second, const LoadedModel& model, const Prompt& prompt);

/// "values that are not finite, first seen in blocks.0.attn.hook_q, head 2, position 7"; empty where the run
/// and the logits of `position` are finite (or the sum of them; none: they are not looked at).
std::string not_finite_note(const model::Run& run, int position = 0, std::span<const float> logits = {});

}  // namespace headscope::app
