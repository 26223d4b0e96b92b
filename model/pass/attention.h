#pragma once
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
  std::span<const std::shared_ptr<const Page>> pages;
  int layer = 0;
  int head = 0;
  int d_head = 0;

  HeadCache other(int other_head) const { return {pages, layer, other_head, d_head}; }

  /// The first `rows` positions of a page: q, v [rows, d_head], k [d_head, rows].
  ConstFloatRows q(int page, int rows) const { return {at(page)->q(layer, head), rows, d_head, d_head}; }
  ConstFloatRows k(int page, int rows) const {
    return {at(page)->k(layer, head), d_head, rows, Page::kPositions};
  }
  ConstFloatRows v(int page, int rows) const { return {at(page)->v(layer, head), rows, d_head, d_head}; }

 private:
  const Page* at(int page) const { return pages[page].get(); }
};

HeadCache head_of(const Config& config, std::span<const std::shared_ptr<const Page>> pages, int layer,
                  int head);

/// y = x w.
Multiplication multiplication(ConstFloatRows x, ConstFloatRows w, FloatRows y);

/// scores [queries, keys] = q [queries, d_head] * k^T, for keys [0, scores.cols) of the head.
void score(const PanelKernels& kernels, const HeadCache& head, ConstFloatRows q, FloatRows scores);

/// Stride between rows of a block of scores in scratch memory. Not a power of two, since rows would then
/// compete for the same cache sets.
std::ptrdiff_t score_stride(int keys);

/// Floats needed for a block of queries' scores for all keys, or for those of one query in kHeadsPerQuery
/// heads.
std::size_t attention_scratch(const Config& config);

/// scores *= scale.
void scale_scores(float scale, FloatRows scores);

/// Sets keys after the query to -inf; row i belongs to query first_query + i.
void mask_future(int first_query, FloatRows scores);

/// Softmax of each row, in place.
void softmax_rows(const PanelKernels& kernels, FloatRows scores);

/// Turns row i of scores, query first_query + i, into its pattern: bit-identical to scale_scores, mask_future
/// and softmax_rows, but in one step and without touching later keys. The cells after the query become 0.
void pattern_of_scores(const PanelKernels& kernels, float scale, int first_query, FloatRows scores);

/// Applies a run's mask to scaled scores of `head`: keys that a query does not see become -inf, then edits of
/// scores apply. Row i belongs to query first_query + i.
void mask_scores(const Run& run, const HeadCache& head, int first_query, FloatRows scores);

/// The pattern of masked scores: softmax of each row, then edits of patterns.
void pattern_of_masked(const PanelKernels& kernels, const Run& run, const HeadCache& head, int first_query,
                       FloatRows scores);

/// Turns row i of raw scores, query first_query + i, into its pattern in the run: bit-identical to
/// scale_scores, mask_scores and pattern_of_masked, and in one step if no edit affects the head's cells.
void pattern_in_run(const PanelKernels& kernels, const Run& run, const HeadCache& head, int first_query,
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

/// Copies rows [n, d_head] of k and v to a head in a page, starting at the page's row `row`. The rows must be
/// claimed.
void keep_keys_and_values(const PanelKernels& kernels, const Page::ClaimedRows& page, int layer, int head,
                          std::ptrdiff_t row, ConstFloatRows k, ConstFloatRows v);

/// Maximum number of heads processed at a time for one query.
constexpr int kHeadsPerQuery = 32;

/// For one query, the last of the run, in consecutive heads from `head` on, one per row of q: z [heads,
/// d_head] from q [heads, d_head] and the run's first `keys` keys. Bit-identical to score, pattern_of_scores
/// and weigh_values for each head. Reads several pages concurrently, since the time is spent on reading them;
/// scratch [attention_scratch(config)].
void attend_one_query(const PanelKernels& kernels, const HeadCache& head, int keys, float scale,
                      ConstFloatRows q, float* scratch, FloatRows z);

}  // namespace headscope::model
