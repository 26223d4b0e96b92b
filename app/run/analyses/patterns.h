#pragma once
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "app/run/prompt_run.h"
#include "model/pass/transformer.h"

// Attention patterns of a run, whether recomputed from its queries and keys or read from a file, and their
// masks: the keys after a query, or what edits make of the mask.
namespace headscope::app {

/// The mask of a head's pattern. A cell is masked if its score is −∞ and no edit gave it a weight.
struct MaskedCells {
  std::vector<std::uint8_t> cells;  ///< [T, K] row-major, 1: masked; empty: the causal mask
  int length = 0;                   ///< K: keys

  bool causal() const { return cells.empty(); }
  bool operator()(int query, int key) const {
    return causal() ? key > query : cells[std::ptrdiff_t{query} * length + key] != 0;
  }
  /// One past the query's last unmasked key, and at least one past the query itself.
  int end_of(int query) const;
  int count_of(int query) const;  ///< number of unmasked keys
};

/// Layer by layer.
std::vector<model::HeadIndex> all_heads(const model::Config& config);

/// The pattern of one head, [T, K] with K = key_count(run), into `out`.
void pattern_of(const PromptRun& run, int layer, int head, std::span<float> out);

/// The patterns of several heads, one head per thread: calls visit(index in `heads`, first query, rows [n,
/// K]) for blocks of a head's queries, in order. Throws as Transformer::patterns does.
void patterns_of(const PromptRun& run, std::span<const model::HeadIndex> heads, model::Workspace& workspace,
                 const model::PatternVisitor& visit, std::stop_token stop = {});

/// The mask of some rows of a head's pattern, starting with `first_query`: [rows, K], 1: masked. Empty: the
/// causal mask.
std::vector<std::uint8_t> masked_cells(const PromptRun& run, model::HeadIndex head, int first_query,
                                       model::ConstFloatRows weights);
/// The mask of a whole pattern, [T, K].
MaskedCells masked_cells(const PromptRun& run, model::HeadIndex head, std::span<const float> pattern);

/// Whether some query of a head may see keys after it.
bool sees_later(const PromptRun& run, model::HeadIndex head);

/// One past the last key that a head's query may have weight on.
int end_of_keys(const PromptRun& run, model::HeadIndex head, int query);

/// Whether a query may have weight on a key, even if it has none: always for keys up to the query; for later
/// keys if edits unmask them, or a pattern file has no mask.
bool may_see(const PromptRun& run, model::HeadIndex head, int query, int key);
/// Whether an edit is about a head: its queries, keys, values, scores, mask, pattern or output.
bool acts_on_head(const model::Edit& edit, model::HeadIndex head);
/// Whether an edit sets a head's score or weight of a query on a key.
bool sets_cell(const model::Edit& edit, model::HeadIndex head, int query, int key);

}  // namespace headscope::app
