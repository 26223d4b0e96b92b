#pragma once
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "app/run/prompt_run.h"
#include "model/pass/transformer.h"

// Patterns of a run wherever they come from: computed again from its queries and keys, or read from a file.
// What asks for patterns asks here, and for the keys that a query gives no weight to because it may not see
// them: those after it, or what edits make of the mask.
namespace headscope::app {

/// Of a head's pattern. A cell is masked where its score is −∞ and nothing gave it a weight all the same.
struct MaskedCells {
  std::vector<std::uint8_t> cells;  ///< [T, K] row-major, 1: masked; empty: all keys after their query are
  int length = 0;                   ///< K: keys

  bool causal() const { return cells.empty(); }
  bool operator()(int query, int key) const {
    return causal() ? key > query : cells[std::ptrdiff_t{query} * length + key] != 0;
  }
  /// Behind the last key of a query that is not masked, and behind the query itself.
  int end_of(int query) const;
  int count_of(int query) const;  ///< keys that are not masked
};

/// Layer by layer.
std::vector<model::HeadIndex> all_heads(const model::Config& config);

/// The pattern of one head, [T, K] with K = key_count(run), into `out`.
void pattern_of(const PromptRun& run, int layer, int head, std::span<float> out);

/// Of several heads, a head a thread: calls visit(index in `heads`, first query, rows [n, K]) for blocks of a
/// head's queries, in order. Throws as Transformer::patterns does.
void patterns_of(const PromptRun& run, std::span<const model::HeadIndex> heads, model::Workspace& workspace,
                 const model::PatternVisitor& visit, std::stop_token stop = {});

/// Of rows of a head's pattern, the first of them of `first_query`: [rows, K], 1: masked. Empty: those after
/// their query.
std::vector<std::uint8_t> masked_cells(const PromptRun& run, model::HeadIndex head, int first_query,
                                       model::ConstFloatRows weights);
/// Of a whole pattern, [T, K].
MaskedCells masked_cells(const PromptRun& run, model::HeadIndex head, std::span<const float> pattern);

/// Whether some query of a head may see keys after it.
bool sees_later(const PromptRun& run, model::HeadIndex head);

/// Behind the last key that a query of a head may have weight on.
int end_of_keys(const PromptRun& run, model::HeadIndex head, int query);

/// Whether a query may have weight on a key, be it none: of keys up to the query always, of later ones where
/// edits show them to the query, or a file has no mask.
bool may_see(const PromptRun& run, model::HeadIndex head, int query, int key);

}  // namespace headscope::app
