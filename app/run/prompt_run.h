#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "model/pass/edits.h"
#include "model/pass/run.h"
#include "model/pass/transformer.h"
#include "model/tokens/tokenizer.h"

namespace headscope::app {

struct LoadedModel;

/// What an open model supports, or what a view or a question needs: one, or several joined by |. A GPT-2 has
/// all, a file of attention patterns only the patterns.
enum class Capability : unsigned {
  none = 0,
  patterns = 1U << 0U,         ///< patterns of every head
  weights = 1U << 1U,          ///< runs a prompt: everything computed from one
  positions_table = 1U << 2U,  ///< wpe: a learned vector for each position
  mlp = 1U << 3U,              ///< neurons between two matrices in each layer
  tokenizer = 1U << 4U,        ///< the merges that create tokens; without them a prompt is given as ids
};
constexpr Capability operator|(Capability a, Capability b) {
  return static_cast<Capability>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr Capability operator-(Capability all, Capability without) {
  return static_cast<Capability>(static_cast<unsigned>(all) & ~static_cast<unsigned>(without));
}
constexpr bool has_all(Capability there, Capability needed) {
  return needed - there == Capability::none;
}

/// What a model lacks of the needed capabilities, one sentence; empty: nothing.
std::string missing(const LoadedModel& model, Capability needed);
/// Throws model::RunError with that sentence.
void require(const LoadedModel& model, Capability needed);

class PatternFile;

/// What computing takes, and how it is stopped.
struct Resources {
  model::Workspace& workspace;
  std::stop_token stop = {};  ///< the result is no longer wanted, or something newer comes first
  void poll() const;          ///< throws model::Stopped if so
};

/// A model with its tokenizer, as one shared value; or the attention patterns of one, without its weights.
struct LoadedModel {
  std::filesystem::path folder;  ///< for patterns, their file
  std::string name;              ///< the folder's name, for captions
  std::shared_ptr<const model::Transformer> transformer;
  /// Never null for a whole model: if it has no tokenizer that can be read, see Tokenizer::problem.
  std::shared_ptr<const model::Tokenizer> tokenizer;
  std::vector<int> readable_dimensions;    ///< dimensions of its positional encoding, see geometry.h
  std::string weights_stamp;               ///< stamp of its files when they were read: see weights_hash.h
  std::vector<std::string> warnings = {};  ///< sentences about what is in the folder and not used
  /// Attention patterns without transformer and tokenizer; null: a whole model.
  std::shared_ptr<const PatternFile> patterns = {};

  /// For patterns only layers, heads and positions are meaningful.
  model::Config config() const;
  Capability capabilities() const;
};

/// What to run: text, or ids if given, with edits.
struct Prompt {
  /// Limit of the text, and of the number of ids: no context holds more.
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

  std::string text;
  std::vector<int> ids;  ///< used instead of the text if not empty
  /// Add the start token at the start; nullopt: as the tokenizer's files say.
  std::optional<bool> start_token = false;
  model::Edits edits = {};
  bool plain = false;  ///< <|endoftext|> and other special tokens in the text are read as plain text
  bool operator==(const Prompt&) const = default;
};

/// A prompt as tokens. Positions of the run are indices into `tokens`; tokens from `run_length` on lie beyond
/// n_ctx.
struct PromptTokens {
  std::vector<model::Token> tokens;  ///< ranges in the text; an added start token has the range [0, 0)
  std::vector<std::string> labels;   ///< token_label of each
  int run_length = 0;                ///< min(tokens, n_ctx)
  bool has_start_token = false;      ///< the start token was put before the prompt
  bool was_empty = false;            ///< the prompt was empty: `tokens` is the start token alone
  int length() const { return static_cast<int>(tokens.size()); }
  std::vector<int> ids() const;  ///< ids of the first run_length tokens
};

/// How the tokens of two prompts are matched.
enum class Alignment { position, subsequence };

/// For each of `tokens` its counterpart's index in `others`: the same index, or its match in the longest
/// common subsequence (if there are several, the one with the earliest tokens); -1: none.
std::vector<int> aligned_positions(std::span<const int> tokens, std::span<const int> others, Alignment by);

/// A prompt, its tokens, and the run of the model on them.
struct PromptRun {
  std::shared_ptr<const LoadedModel> model;
  Prompt prompt;
  PromptTokens tokens;
  std::shared_ptr<const model::Run> run;
  /// The run it is compared with: without edits, of a second prompt, or either in another model; null: none.
  std::shared_ptr<const PromptRun> baseline = {};
  /// The run of the same tokens without edits, if it was made already; else null.
  std::shared_ptr<const model::Run> unedited = {};
  /// [T]: counterpart of each position in `baseline`, -1: none; empty without a baseline.
  std::vector<int> aligned = {};
  /// [K]: the same for keys that are other tokens; empty: keys are the run's tokens.
  std::vector<int> aligned_keys = {};
  /// The second model, to patch from; if there is a baseline, it ran in this model. Null: none.
  std::shared_ptr<const LoadedModel> second_model = {};
  double milliseconds = 0;
};

/// The tokens of the keys: the run's own, except for pattern files with other keys.
const PromptTokens& key_tokens(const PromptRun& run);
int key_count(const PromptRun& run);
bool has_own_keys(const PromptRun& run);

/// For each key its counterpart in `run.baseline`; -1: none.
const std::vector<int>& aligned_keys(const PromptRun& run);

/// The counterpart in `run.baseline` of a position (-1, or beyond the run: its last); -1: none. Without a
/// baseline, the position itself.
int counterpart_of(const PromptRun& run, int position);

/// Whether the baseline is another prompt, model or file of patterns, not just the run without its edits.
bool compares_different_inputs(const PromptRun& run);
/// Whether the baseline ran in another model, on this prompt or on a second one.
bool compares_models(const PromptRun& run);
/// Whether the baseline has another text or other ids, whatever the models are.
bool compares_texts(const PromptRun& run);
/// Whether the baseline has the same tokens: without the edits, or in another model.
bool compares_one_prompt(const PromptRun& run);
/// The second model as a source of patches; valid as long as the run lives.
model::SecondModel second_of(const PromptRun& run);

/// The plan (null: no edits) for a run of other tokens than it was made for: the same plan, except for
/// patches from a run of the run's own tokens.
std::shared_ptr<const model::Plan> plan_for(std::span<const int> tokens,
                                            std::shared_ptr<const model::Plan> plan, const LoadedModel& model,
                                            const LoadedModel* second, const Resources& with);

/// Throws model::RunError for a head, or a neuron, that the model does not have.
void check_head(const LoadedModel& model, int layer, int head);
void check_neuron(const LoadedModel& model, int layer, int neuron);

/// Throws model::RunError if runs of two models cannot be compared: their shapes or vocabularies differ, or
/// one has patterns only.
void check_comparable(const LoadedModel& first, const LoadedModel& second);

/// Makes `other` the baseline of a run whose tokens are known.
void compare_with(PromptRun& run, std::shared_ptr<const PromptRun> other, Alignment by);
/// Makes the run without edits, `clean`, the baseline.
void compare_with_unedited(PromptRun& run, std::shared_ptr<const model::Run> clean);

/// Loads the model of a folder, or the patterns of a file (see PatternFile); for another file in a model's
/// folder, the model. Throws model::LoadError, but not for a tokenizer that cannot be read.
std::shared_ptr<const LoadedModel> load_model(const std::filesystem::path& folder,
                                              const model::LoadOptions& options);

/// A token for people: its text as viz::visible shows it, or "#4100" if it has none.
std::string token_label(const model::Tokenizer& tokenizer, int id);

/// The token that starts a text: the tokenizer's, else that of config.json; nothing if neither names one.
std::optional<int> start_token_of(const LoadedModel& model);
/// Whether a prompt is run after the start token: as it is `given`, else as the tokenizer's files say.
bool has_start_token(const LoadedModel& model, std::optional<bool> given);

/// Throws model::RunError for ids outside the model's vocabulary, and like Tokenizer::encode.
PromptTokens tokenize(const LoadedModel& model, const Prompt& prompt);

/// "the prompt has 1,200 tokens, but tales takes at most 256 (n_ctx)", for tokens that do not all fit.
std::string beyond_context(const PromptTokens& tokens, const LoadedModel& model);

/// "the run has non-finite values, first seen in blocks.0.attn.hook_q, head 2, position 7"; empty if the run
/// and the logits of `position` are finite (or the sum of `logits`; none: they are not checked).
std::string not_finite_note(const model::Run& run, int position = 0, std::span<const float> logits = {});

}  // namespace headscope::app
