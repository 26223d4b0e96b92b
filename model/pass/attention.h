#pragma once
#include <algorithm>
#include <memory>
#include <span>

#include "model/kernels/panels.h"
#include "model/kernels/view.h"
#include "model/pass/plan.h"
#include "model/pass/run.h"

/// The steps of one head's attention (Vaswani et al. 2017, "Scaled Dot-Product Attention"), for some queries
/// at a time. The forward pass and all views of a head use the same steps.
namespace headscope::model {

/// Maximum number of queries processed at a time; scratch memory is sized for it.
constexpr int kQueriesPerBlock = Page::kPositions;

/// One head of one layer in a run's pages.
struct HeadCache {
  std::span<const std::shared_ptr<Page>> pages;
  int layer = 0;
  int head = 0;
  int d_head = 0;

  /// Queries [first, first + count), all in one page: [count, d_head].
  ConstFloatRows q(int first, int count) const {
    const float* page = pages[first / Page::kPositions]->q(layer, head);
    return {page + std::ptrdiff_t{first % Page::kPositions} * d_head, count, d_head, d_head};
  }
  /// The first `rows` positions of a page: v [rows, d_head], k [d_head, rows].
  ConstFloatRows k(int page, int rows) const {
    return {pages[page]->k(layer, head), d_head, rows, Page::kPositions};
  }
  ConstFloatRows v(int page, int rows) const { return {pages[page]->v(layer, head), rows, d_head, d_head}; }
};

inline HeadCache head_of(const Run& run, int layer, int head) {
  return {run.pages, layer, head, run.config.d_head()};
}

/// Calls body(page, first key, count) for the pages with keys [0, keys).
template <class Body>
void for_pages(int keys, const Body& body) {
  for (int first = 0; first < keys; first += Page::kPositions)
    body(first / Page::kPositions, first, std::min(Page::kPositions, keys - first));
}

/// out [queries, keys] = q [queries, d_head] * k^T, for keys [0, out.cols) of the head.
void scores(const PanelKernels& kernels, const HeadCache& head, ConstFloatRows q, FloatRows out);

/// Stride between rows of a block of scores in scratch memory: an odd number of cache lines, since rows would
/// otherwise compete for the same cache sets.
std::ptrdiff_t score_stride(int keys);

/// Floats needed for a block of queries' scores for all keys.
std::size_t attention_scratch(const Config& config);

/// Turns row i of scores, query first_query + i, into its weights: the softmax of scale * score over the keys
/// up to the query; later keys have 0, and their scores are not read.
void softmax_causal(const PanelKernels& kernels, float scale, int first_query, FloatRows scores);

/// Scales scores and sets those of keys that a query does not see in the run to -inf; then edits of scores
/// apply. Row i belongs to query first_query + i.
void scale_and_mask(const Run& run, const HeadCache& head, int first_query, FloatRows scores);

/// Softmax of each row of masked scores; then edits of patterns apply.
void softmax_masked(const PanelKernels& kernels, const Run& run, const HeadCache& head, int first_query,
                    FloatRows scores);

/// Turns row i of scores, query first_query + i, into its pattern in the run: softmax_causal, unless edits
/// affect the head's cells. Bit-identical to scale_and_mask and softmax_masked.
void find_pattern(const PanelKernels& kernels, const Run& run, const HeadCache& head, int first_query,
                  FloatRows scores);

/// The number of keys needed by a block of the head's queries that ends with `last_query`: up to that query,
/// or all.
int keys_for(const Run& run, const HeadCache& head, int last_query);

/// z [queries, d_head] = pattern [queries, keys] * v, for keys [0, pattern.cols) of the head.
void weigh_values(const PanelKernels& kernels, const HeadCache& head, ConstFloatRows pattern, FloatRows z);

/// z [queries, d_head] from q [queries, d_head] for one head of a run, with the keys in the run's pages. Row
/// i belongs to query first_query + i; at most kQueriesPerBlock queries; scratch [attention_scratch(config)].
void attend(const PanelKernels& kernels, const Run& run, const HeadCache& head, int first_query,
            ConstFloatRows q, float* scratch, FloatRows z);

}  // namespace headscope::model
