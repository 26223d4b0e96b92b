#pragma once
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "app/run/edits/masked_cells.h"
#include "app/run/prompt_run.h"
#include "model/pass/transformer.h"

// Patterns of a run wherever they come from: computed again from its queries and keys, or read from a file.
// What asks for patterns asks here.
namespace headscope::app {

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

/// Whether a query may have weight on a key, be it none.
bool may_see(const PromptRun& run, model::HeadIndex head, int query, int key);

}  // namespace headscope::app
