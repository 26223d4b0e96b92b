#pragma once
#include <memory>
#include <span>
#include <vector>

#include "app/run/question.h"
#include "model/view.h"
#include "viz/scale.h"

namespace headscope::app {

/// A head's pattern, max-pooled to at most 64 x 64 (row: query, column: key), and exact figures of the whole
/// of it.
struct Thumbnail {
  static constexpr int kMost = 64;
  int size = 0;               ///< rows and columns; the run's length where that is smaller
  std::vector<float> values;  ///< [size, size]
  std::vector<float>
      first_column_without_key0;  ///< [size]: column 0 pooled without key 0; empty where nothing was pooled
  viz::ValueRange range;          ///< of what is not masked
  viz::ValueRange range_without_key0;
  float mean_first =
      0;  ///< mean weight that a query gives to key 0, over the queries from 1 on; NaN for one token
  float mean_previous = 0;  ///< ... to the token before it
  float mean_self = 0;      ///< ... to itself
  float mean_entropy = 0;   ///< of a query's weights, in bits, over the same queries
  float mean_distance = 0;  ///< from a query back to what it takes, by weight, in tokens, over the same
  /// To the tokens that follow earlier occurrences of the query's own token, itself left out, over the
  /// queries that have such; NaN where none has.
  float mean_induction = 0;
  float mean_duplicate =
      0;  ///< ... to earlier occurrences of the query's own token, over those that have some
};

/// For each position the last one before it with the same token; -1: there is none.
std::vector<int> earlier_occurrences(std::span<const int> tokens);

/// Makes one from its pattern, some rows at a time.
class ThumbnailMaker {
 public:
  /// `earlier`: earlier_occurrences of the run's tokens, must outlive the maker; empty: no token occurs
  /// twice.
  explicit ThumbnailMaker(int length, std::span<const int> earlier = {});
  void add(int first_query, model::ConstFloatRows rows);  ///< rows [n, length], in order
  Thumbnail finish() &&;

 private:
  int length_;
  void add_figures(int query, const float* row);

  Thumbnail thumbnail_;
  std::span<const int> earlier_;
  double first_ = 0, previous_ = 0, self_ = 0;  // sums over the queries from 1 on
  double entropy_ = 0, distance_ = 0;
  double induction_ = 0, duplicate_ = 0;  // over those that have such keys
  int can_induce_ = 0, can_duplicate_ = 0;
};

/// Of all heads. While they are made, those not there yet are the former run's.
struct Thumbnails {
  std::vector<std::shared_ptr<const Thumbnail>> of_head;  ///< layer * n_head + head; null: not there yet
  int done = 0;                                           ///< the first so many are of this run
  std::size_t bytes() const;
};

struct ThumbnailsOfHeads {
  using Answer = Thumbnails;
  static constexpr std::string_view kWork = "thumbnails";
  static constexpr bool kQuick = false;
  bool operator==(const ThumbnailsOfHeads&) const = default;
  Thumbnails compute(const PromptRun& run, const Work<Thumbnails>& work) const;
};

}  // namespace headscope::app
