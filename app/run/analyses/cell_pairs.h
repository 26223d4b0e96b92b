#pragma once
#include <cstddef>
#include <vector>

#include "app/run/analyses/patterns.h"

// Two patterns of a head, compared cell by cell: each query and key with its counterpart.
namespace headscope::app {

/// Calls visit(cell, counterpart, whether both are masked) for each pair of a query and a key; the
/// counterpart is -1 if one of the tokens has no counterpart.
template <class Visit>
void for_each_pair(const MaskedCells& after, const MaskedCells& before, int queries, int keys,
                   int baseline_keys, const PromptRun& run, const Visit& visit) {
  const auto there = [](const std::vector<int>& aligned, int position) {
    return aligned.empty() ? position : aligned[position];
  };
  for (int query = 0; query < queries; ++query) {
    const int row = there(run.aligned, query);
    for (int key = 0; key < keys; ++key) {
      const int col = there(aligned_keys(run), key);
      const bool known = row >= 0 && col >= 0;
      visit(std::ptrdiff_t{query} * keys + key, known ? std::ptrdiff_t{row} * baseline_keys + col : -1,
            !known || (after(query, key) && before(row, col)));
    }
  }
}

/// Clears the list of masked cells if it contains exactly those above the diagonal, which are masked anyway.
void simplify(MaskedCells& masked);

}  // namespace headscope::app
