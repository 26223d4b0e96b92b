#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "app/run/prompt_list.h"
#include "app/run/question.h"
#include "model/kernels/view.h"
#include "model/pass/run.h"
#include "model/pass/transformer.h"
#include "viz/scene/scale.h"

// What the patterns of all heads show at a glance: metrics, means over queries of one text or many,
// thumbnails.
namespace headscope::app {

enum class HeadMetric { first, previous, self, induction, duplicate, entropy, distance, sink };
inline constexpr std::size_t kHeadMetrics = static_cast<std::size_t>(HeadMetric::sink) + 1;

/// The weights of one query of a text, query >= 1.
struct QueryWeights {
  int query = 1;
  std::span<const float> weights;  ///< [query + 1], or [T] if it may see later keys
  std::span<const int> earlier;    ///< of the text: earlier_occurrences
  double entropy = 0;              ///< bits
  double distance = 0;             ///< mean of |query - key| by weight
};

/// A row of the table of metrics. A new metric needs one, and a name in HeadMetric.
struct HeadMetricKind {
  HeadMetric id;
  std::string_view name;    ///< in files and on the command line: "induction"
  std::string_view label;   ///< label of its choice in an option: "Induction"
  std::string_view help;    ///< help for that choice
  std::string_view title;   ///< "Mean weight on the first token"
  std::string_view phrase;  ///< after a head's name: "first token"
  std::string_view detail =
      "mean over queries 1 and later";  ///< the averaged quantity, and over which queries
  std::string_view unit = "weight";     ///< or "share", "bits", "tokens"
  /// Why a prompt may have no query with this metric; empty: there always is one.
  std::string_view lacking = {};
  int decimals = 4;      ///< number of decimals worth showing
  bool of_text = false;  ///< relates the query to its own text: not available where keys are other tokens
  /// The metric of one query; nothing if the query does not count.
  std::optional<double> (*of)(const QueryWeights&) = nullptr;

  /// Its unit for headings of files; empty: weights and shares have none.
  std::string_view unit_in_files() const { return unit == "weight" || unit == "share" ? "" : unit; }
};

std::span<const HeadMetricKind> head_metrics();
const HeadMetricKind& kind_of(HeadMetric metric);

/// For each position, the last earlier position with the same token; -1: none.
std::vector<int> earlier_occurrences(std::span<const int> tokens);

/// The metrics of one head over the queries of any number of texts, or the difference of two. The first query
/// of a text sees only itself and does not count. A query whose weights are all 0 is left out of all metrics,
/// and counted.
class HeadMetrics {
 public:
  /// Adds the weights of a query of a text, query >= 1: [query + 1], or [T] if it may see later keys.
  /// `earlier`: earlier_occurrences of the text. If the keys are not the text's own tokens, there are [K]
  /// weights, and metrics that relate the query to its text are not counted.
  void add(int query, std::span<const float> weights, std::span<const int> earlier, bool own_keys = true);
  HeadMetrics& operator+=(const HeadMetrics& other);
  /// The metrics minus those of another run, each rounded to float32 as in pictures; as if of one query.
  HeadMetrics minus(const HeadMetrics& before) const;

  /// NaN if no query counts, or if a weight of one is not finite.
  double operator[](HeadMetric metric) const;
  /// Over how many queries a metric is a mean.
  std::int64_t queries(HeadMetric metric) const { return queries_[static_cast<std::size_t>(metric)]; }
  std::int64_t left_out() const { return left_out_; }  ///< of a difference, by either run
  bool operator==(const HeadMetrics&) const = default;

 private:
  std::array<double, kHeadMetrics> sums_{};
  std::array<std::int64_t, kHeadMetrics> queries_{};
  std::int64_t left_out_ = 0;
};

/// Random tokens followed by the same tokens: what follows a token is the same both times, and nothing else
/// about the text is predictable (Olsson et al. 2022, "In-context learning and induction heads").
struct RepeatedTokens {
  static constexpr int kDefaultLength = 50;  ///< tokens before the repetition, if the context has room
  static constexpr int kDefaultSequences = 8;

  int length = kDefaultLength;
  int sequences = kDefaultSequences;
  std::uint64_t seed = 0;
  bool operator==(const RepeatedTokens&) const = default;

  /// The longest length that fits into a context.
  static int longest(int n_ctx) { return (n_ctx - 1) / 2; }

  /// One of the sequences, by its number and the seed: [1 + 2 length], the start token first if there is one.
  /// The others are drawn from all ids below `vocabulary` but the start token.
  std::vector<int> sequence(int number, int vocabulary, std::optional<int> start_token) const;
};

/// Metrics of all heads over some texts. Two parts can be subtracted if they cover the same ones.
struct HeadMetricsOf {
  std::vector<HeadMetrics> heads;  ///< layer * n_head + head
  ListProgress progress;           ///< of the list, or over the sequences of random tokens
  std::optional<HeadMetricsOf> minus(const HeadMetricsOf& before, const PromptRun& run) const;
  std::size_t bytes() const { return bytes_of(heads) + progress.problem.size(); }
};

/// The metrics of all heads over a list of prompts, independent of the prompt; without a list those of a run.
struct MetricsOnList {
  static constexpr std::string_view kName = "head metrics over many prompts";
  OverPrompts over;
  bool operator==(const MetricsOnList&) const = default;
  /// Parts cover the first prompts.
  HeadMetricsOf compute(const PromptRun& run, const Computation<HeadMetricsOf>& computation) const;
};

/// The metrics of all heads on repeated random tokens, independent of the prompt.
struct MetricsOnRepeated {
  static constexpr bool kModelOnly = true;
  static constexpr std::string_view kName = "head metrics on repeated tokens";
  RepeatedTokens texts;
  bool operator==(const MetricsOnRepeated&) const = default;
  /// Parts cover the first sequences. Throws RunError for sequences that do not fit into the context.
  HeadMetricsOf compute(const PromptRun& run, const Computation<HeadMetricsOf>& computation) const;
};

/// A head's pattern, max-pooled to at most 64 x 64 (row: query, column: key), and the exact metrics of the
/// whole pattern.
struct Thumbnail {
  static constexpr int kMax = 64;
  int rows = 0;               ///< the run's length if that is smaller
  int cols = 0;               ///< the number of its keys if that is smaller
  std::vector<float> values;  ///< [rows, cols]
  /// [rows]: column 0 pooled without key 0; empty if no keys were pooled.
  std::vector<float> first_column_without_key0;
  /// [rows, cols], 1: everything pooled into it is masked; empty: above the diagonal.
  std::vector<std::uint8_t> masked;
  viz::ValueRange range;  ///< range of the unmasked cells
  viz::ValueRange range_without_key0;
  HeadMetrics metrics;

  bool is_masked(int row, int col) const {
    return masked.empty() ? col > row : masked[row * cols + col] != 0;
  }
};

/// Makes a thumbnail from a pattern [length, keys], some rows at a time.
class ThumbnailMaker {
 public:
  ThumbnailMaker(int length, int keys);
  /// Adds rows [n, keys], in order. `masked`: their masked_cells. `later`: whether queries may see keys after
  /// them.
  void add(int first_query, model::ConstFloatRows rows, std::span<const std::uint8_t> masked = {},
           bool later = false);
  Thumbnail finish(const HeadMetrics& metrics) &&;

 private:
  int length_, keys_;
  Thumbnail thumbnail_;
};

/// Thumbnails of all heads. While they are computed, missing ones are the previous run's.
struct Thumbnails {
  std::vector<std::shared_ptr<const Thumbnail>> of_head;  ///< layer * n_head + head; null: pending
  int done = 0;                                           ///< number of leading ones that are this run's
  std::size_t bytes() const;
};

struct ThumbnailsOfHeads {
  static constexpr std::string_view kName = "thumbnails";
  static constexpr Capability kNeeds = Capability::patterns;
  bool operator==(const ThumbnailsOfHeads&) const = default;
  Thumbnails compute(const PromptRun& run, const Computation<Thumbnails>& computation) const;
  /// Thumbnails of differences of patterns, pooled after the subtraction; their metrics are the differences
  /// of the metrics.
  Thumbnails compute_difference(const PromptRun& run, const PromptRun& baseline,
                                const Computation<Thumbnails>& computation) const;
};

}  // namespace headscope::app
