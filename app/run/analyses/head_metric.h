#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

// The table of head metrics. Files, the command line and the views are all made from it.
namespace headscope::app {

enum class HeadMetric { first, previous, self, induction, duplicate, entropy, distance, sink };
inline constexpr std::size_t kHeadMetrics = static_cast<std::size_t>(HeadMetric::sink) + 1;

/// The weights of one query of a text, query >= 1.
struct QueryWeights {
  int query = 1;
  std::span<const float> weights;  ///< [query + 1], or [T] if it may see later keys
  std::span<const int> earlier;    ///< for each position the last one before it with the same token, or -1
  double entropy = 0;              ///< bits
  double distance = 0;             ///< mean of |query - key| by weight
};

/// A row of the table. A new metric needs one, and a name in HeadMetric.
struct HeadMetricKind {
  HeadMetric id;
  std::string_view name;             ///< in files and on the command line: "induction"
  std::string_view heading;          ///< heading of its column
  std::string_view label;            ///< label of its choice in an option
  std::string_view help;             ///< help for that choice
  std::string_view title;            ///< "Weight on the first token"
  std::string_view phrase;           ///< after a head's name: "first token"
  std::string_view caption;          ///< the heads that it measures: "previous-token heads"
  std::string_view detail;           ///< the averaged quantity, and over which queries
  std::string_view unit = "weight";  ///< or "share", "bits", "tokens"
  /// Why a prompt may have no query with this metric; empty: there always is one.
  std::string_view lacking = {};
  int decimals = 4;      ///< number of decimals worth showing
  bool of_text = false;  ///< relates the query to its own text: not available where keys are other tokens
  /// The metric of one query; nothing if the query does not count.
  std::optional<double> (*of)(const QueryWeights&) = nullptr;

  /// Its unit for headings of files; empty: weights and shares have none.
  std::string_view unit_in_files() const { return unit == "weight" || unit == "share" ? "" : unit; }
};

/// All metrics, in the order of HeadMetric.
std::span<const HeadMetricKind> head_metrics();
const HeadMetricKind& kind_of(HeadMetric metric);
/// The metric with this name in files and on the command line; nothing: there is none.
std::optional<HeadMetric> head_metric(std::string_view name);

/// A query's weights with their entropy and mean distance.
QueryWeights query_weights(int query, std::span<const float> weights, std::span<const int> earlier);

}  // namespace headscope::app
