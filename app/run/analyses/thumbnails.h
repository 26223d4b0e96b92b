#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "app/run/analyses/head_metrics.h"
#include "app/run/question.h"
#include "model/kernels/view.h"
#include "viz/scene/scale.h"

namespace headscope::app {

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
  HeadMetricValues metrics;

  bool is_masked(int row, int col) const {
    return masked.empty() ? col > row : masked[row * cols + col] != 0;
  }
};

/// Makes a thumbnail from a pattern, some rows at a time.
class ThumbnailMaker {
 public:
  /// For a pattern [length, keys]. `own_keys`: whether keys are the queries' tokens. `earlier`:
  /// earlier_occurrences of the run's tokens, must outlive the maker; empty: no token occurs twice.
  ThumbnailMaker(int length, int keys, bool own_keys, std::span<const int> earlier);
  /// Adds rows [n, keys], in order. `masked`: their masked_cells. `later`: whether queries may see keys after
  /// them.
  void add(int first_query, model::ConstFloatRows rows, std::span<const std::uint8_t> masked = {},
           bool later = false);
  Thumbnail finish() &&;

 private:
  int length_, keys_;
  bool own_keys_;
  Thumbnail thumbnail_;
  HeadMetrics metrics_;
  std::span<const int> earlier_;
};

/// Thumbnails of all heads. While they are computed, missing ones are the previous run's.
struct Thumbnails {
  std::vector<std::shared_ptr<const Thumbnail>> of_head;  ///< layer * n_head + head; null: pending
  int done = 0;                                           ///< number of leading ones that are this run's
  std::size_t bytes() const;
};

struct ThumbnailsOfHeads {
  static constexpr std::string_view kName = "thumbnails";
  static constexpr Capabilities kNeeds = Capability::patterns;
  bool operator==(const ThumbnailsOfHeads&) const = default;
  Thumbnails compute(const PromptRun& run, const Computation<Thumbnails>& computation) const;
  /// Thumbnails of differences of patterns, pooled after the subtraction; their metrics are the differences
  /// of the metrics.
  Thumbnails compute_difference(const PromptRun& run, const Computation<Thumbnails>& computation) const;
};

}  // namespace headscope::app
