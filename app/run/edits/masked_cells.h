#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "model/kernels/view.h"
#include "model/pass/run.h"
#include "model/pass/transformer.h"

// Which keys a query gives no weight to because it may not see them: those after it, or what edits
// make of the mask.
namespace headscope::app {

/// Of a head's pattern. A cell is masked where its score is −∞ and nothing gave it a weight all the same.
struct MaskedCells {
  std::vector<std::uint8_t> cells;  ///< [T, K] row-major, 1: masked; empty: all keys after their query are
  int length = 0;                   ///< K: keys

  bool causal() const { return cells.empty(); }
  bool operator()(int query, int key) const {
    if (causal()) return key > query;
    return cells[static_cast<std::size_t>(query) * static_cast<std::size_t>(length) +
                 static_cast<std::size_t>(key)] != 0;
  }
  /// Behind the last key of a query that is not masked, and behind the query itself.
  int end_of(int query) const;
  int count_of(int query) const;  ///< keys that are not masked
};

/// Of rows of a head's pattern, the first of them of `first_query`: [rows, cols], 1: masked. Empty: those
/// after their query.
std::vector<std::uint8_t> masked_cells(const model::Run& run, model::HeadIndex head, int first_query,
                                       model::ConstFloatRows weights);
/// Of a whole pattern, [T, T].
MaskedCells masked_cells(const model::Run& run, model::HeadIndex head, std::span<const float> pattern);

/// Behind the last key that a query of a head may have weight on.
int end_of_keys(const model::Run& run, model::HeadIndex head, int query);

/// Whether a query may have weight on a key, be it none: of keys up to the query always, of later ones where
/// edits show them to the query.
bool may_see(const model::Run& run, model::HeadIndex head, int query, int key);

}  // namespace headscope::app
