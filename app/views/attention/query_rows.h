#pragma once
#include "app/run/analyses/patterns.h"
#include "app/views/parts/list.h"

// The attention of the selected query, step by step, in the run and, on the difference side, in the baseline.
namespace headscope::app {

struct QueryRows {
  std::shared_ptr<const SoftmaxRow> now;
  /// On the difference side the row of the query's counterpart, else null. Both rows then include all keys
  /// visible on either side.
  std::shared_ptr<const SoftmaxRow> before;
  std::vector<int> counterparts;  ///< on the difference side: for each key of `now` its counterpart in
                                  ///< `before`, -1: none; else empty
};

/// Sorts a list with a row for each key as kStrongestFirst says, by these weights, and marks the selected
/// key.
void arrange_keys(List& list, const ViewContext& context, std::span<const float> weights);

/// None while an answer is missing, and if the query has no counterpart; the content says why.
std::optional<QueryRows> rows_of_query(Content& content);

}  // namespace headscope::app
