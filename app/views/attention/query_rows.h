#pragma once
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/run/analyses/softmax_row.h"
#include "app/views/view.h"

// The attention of the selected query, step by step, on either side of a comparison and beside what it is
// compared with.
namespace headscope::app {

struct QueryRows {
  std::shared_ptr<const SoftmaxRow> now;
  /// On the difference side the row of the query that stands for it, else null. Both rows then have every key
  /// that is seen in one of them.
  std::shared_ptr<const SoftmaxRow> before;
  std::vector<int> stands;  ///< likewise: for each key of `now` the one of `before`, -1: none; else empty
};

/// None while an answer is missing, and where nothing stands for the query.
std::optional<QueryRows> rows_of_query(const ViewContext& context);
/// Why there is no picture of them; null where they are `known`.
std::optional<Picture> waiting_for_rows(const ViewContext& context, bool known);

/// The names of the two sides: "changed", "original".
std::pair<const char*, const char*> names_of_sides(const ViewContext& context);

}  // namespace headscope::app
