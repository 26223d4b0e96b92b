#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "model/run.h"
#include "model/tokenizer.h"
#include "model/transformer.h"

namespace headscope::app {

/// A model with its tokenizer, as one shared value.
struct LoadedModel {
  std::filesystem::path folder;
  std::string name;  ///< the folder's name, for captions
  std::shared_ptr<const model::Transformer> transformer;
  std::shared_ptr<const model::Tokenizer> tokenizer;
  std::vector<int> readable_dimensions;  ///< of its positional encoding: see sinusoidal.h
};

/// What the user asked to run: text, or ids where given.
struct Prompt {
  std::string text;
  std::vector<int> ids;      ///< in place of text when not empty
  bool start_token = false;  ///< put `<|endoftext|>` first
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

/// A prompt, its tokens, and what the model left behind.
struct PromptRun {
  std::uint64_t generation = 0;
  std::shared_ptr<const LoadedModel> model;
  Prompt prompt;
  PromptTokens tokens;
  std::shared_ptr<const model::Run> run;
  double milliseconds = 0;
};

struct HeadData {
  int layer = 0;
  int head = 0;
  model::AttentionStages stages;  ///< the pattern alone, unless more was wanted
  bool has_stages() const { return !stages.scores.empty(); }
};

/// A head's pattern, max-pooled to at most 64 x 64 (row: query, column: key), and exact figures of the whole
/// of it.
struct Thumbnail {
  static constexpr int kMost = 64;
  int size = 0;               ///< rows and columns; the run's length where that is smaller
  std::vector<float> values;  ///< [size, size]
  std::vector<float>
      first_column_without_key0;  ///< [size]: column 0 pooled without key 0; empty where nothing was pooled
  float mean_first =
      0;  ///< mean weight that a query gives to key 0, over the queries from 1 on; NaN for one token
  float mean_previous = 0;  ///< ... to the token before it
  float mean_self = 0;      ///< ... to itself
};

/// Makes one from its pattern, some rows at a time.
class ThumbnailMaker {
 public:
  explicit ThumbnailMaker(int length);
  void add(int first_query, model::ConstFloatRows rows);  ///< rows [n, length], in order
  Thumbnail finish() &&;

 private:
  int length_;
  Thumbnail thumbnail_;
  double first_ = 0, previous_ = 0, self_ = 0;  // sums over the queries from 1 on
};

struct Thumbnails {
  std::vector<Thumbnail> of_head;  ///< layer * n_head + head; size 0 while not there yet
};

struct Statistics {
  std::vector<model::PositionStatistics> positions;  ///< [T]
  std::vector<int> tokens;                           ///< [T], what they are of
};

/// Logits after one position, of the whole vocabulary.
struct NextToken {
  int position = 0;
  std::vector<float> logits;
};

// The same functions serve the worker, the command line and the tests. Each throws model::RunError or
// model::Stopped.

/// Loads the model of a folder. Throws model::LoadError, also for a vocabulary that does not fit the
/// embedding.
std::shared_ptr<const LoadedModel> load_model(const std::filesystem::path& folder,
                                              const model::LoadOptions& options);

/// Throws model::RunError for ids outside the vocabulary.
PromptTokens tokenize(const LoadedModel& model, const Prompt& prompt);
HeadData compute_head(const PromptRun& run, int layer, int head, bool stages);
std::vector<Thumbnail> compute_thumbnails(const PromptRun& run, std::span<const model::HeadIndex> heads,
                                          model::Workspace& workspace, std::stop_token stop = {});
/// Positions that `former`, of the same model, has for the same tokens up to the next one are taken from it.
Statistics compute_statistics(const PromptRun& run, model::Workspace& workspace, std::stop_token stop,
                              const Statistics* former = nullptr);
NextToken compute_next(const PromptRun& run, int position, model::Workspace& workspace);

}  // namespace headscope::app
