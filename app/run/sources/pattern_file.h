#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/run/prompt_run.h"
#include "model/files/file_io.h"

namespace headscope::app {

/// Attention patterns of any model, without its weights: a safetensors file with the tensors
/// `blocks.{layer}.attn.hook_pattern`, [head, query, key] or [1, head, query, key] in F32, F16 or BF16, the
/// same for all layers from 0 on, as caches of TransformerLens and `headscope trace` name them. Other tensors
/// are ignored. Optional contents:
///
/// - the tensors `tokens` and `key_tokens` ([n] or [1, n] ids), or metadata of those names (JSON lists of
///   texts), or both. Without `key_tokens`, and with as many keys as queries, keys are the queries' tokens.
/// - the metadata `causal`, "true" or "false"; without it patterns are causal if keys are the queries' tokens
///   and no query has weight on a later one; `model` that made them, and `text` and `edits` of their run.
///
/// Keeps the file open and no weights in memory. Reading is thread-safe.
class PatternFile {
 public:
  static constexpr int kMaxPositions = 4096;  ///< queries, and keys
  static constexpr int kMaxHeads = 1 << 14;   ///< limit over all layers

  /// Opens a file and reads all of it once, to check its weights. Throws model::LoadError, and
  /// model::Stopped.
  static std::shared_ptr<const PatternFile> open(const std::filesystem::path& file,
                                                 const model::LoadOptions& options = {});
  /// Whether a file's header has patterns; never throws.
  static bool is_one(const std::filesystem::path& file, const std::stop_token& stop = {}) noexcept;

  const std::filesystem::path& path() const { return path_; }
  std::string name() const;  ///< name of the file, printable
  /// As stated in the file, printable; empty: not stated.
  const std::string& model() const { return model_; }
  const std::string& text() const { return text_; }
  const std::string& edits() const { return edits_; }  ///< those of the run that they are of
  int layers() const { return static_cast<int>(layers_.size()); }
  int heads() const { return heads_; }
  int query_count() const { return queries_.length(); }
  int key_count() const { return keys().length(); }
  /// Their ids are equal for equal tokens. Without texts and ids no two are equal.
  const PromptTokens& queries() const { return queries_; }
  const PromptTokens& keys() const { return keys_ ? *keys_ : queries_; }
  bool has_own_keys() const { return !keys_; }  ///< keys are the queries' tokens

  bool causal() const { return causal_; }  ///< no query sees later keys
  /// "causal (inferred)", "no mask (stated in the file)": the mask, and its source.
  std::string mask_words() const;
  /// Weights that are not finite, below 0, or do not add up to 1 in a row, a phrase each.
  const std::vector<std::string>& notes() const { return notes_; }
  /// "12 layers of 12 heads, 30 tokens, no mask (inferred)".
  std::string summary() const;

  /// Reads the rows of queries from `first_query` on, as many as `out` holds, each of key_count() weights.
  /// Throws model::LoadError if the file no longer has them.
  void read(int layer, int head, int first_query, std::span<float> out) const;

 private:
  PatternFile() = default;
  struct Header;
  void read_header(const std::stop_token& stop);
  void scan(const model::LoadOptions& options);

  struct Layer {
    std::uint64_t offset = 0;  ///< offset of its weights in the file
    model::Precision precision = model::Precision::f32;
  };

  std::filesystem::path path_;
  std::shared_ptr<const model::OpenFile> file_;
  std::vector<Layer> layers_;
  int heads_ = 0;
  PromptTokens queries_;
  std::optional<PromptTokens> keys_;
  std::string model_, text_, edits_;
  bool causal_ = false, mask_said_ = false;
  std::vector<std::string> notes_;
};

/// Loads a file of patterns instead of a model. Throws as PatternFile::open.
std::shared_ptr<const LoadedModel> load_patterns(const std::filesystem::path& file,
                                                 const model::LoadOptions& options = {});

/// The run of a pattern file; it can only be asked for patterns. `model` has patterns.
PromptRun run_of_patterns(std::shared_ptr<const LoadedModel> model);

}  // namespace headscope::app
