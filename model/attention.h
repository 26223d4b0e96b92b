#pragma once
#include <memory>
#include <span>

#include "model/panels.h"
#include "model/run.h"
#include "model/view.h"

/// One head's attention in steps (Vaswani et al. 2017, "Scaled Dot-Product Attention"), for some queries at a
/// time. The forward pass and everything that shows a head go through the same steps.
namespace headscope::model {

/// Most queries that are taken at a time; also the most that scratch memory is planned for.
constexpr int kQueriesPerBlock = Page::kPositions;

/// One head of one layer in a run's pages.
struct Head {
  std::span<const std::shared_ptr<const Page>> pages;
  int layer = 0;
  int column = 0;  ///< of the head's first float in a row of q, k or v
  int d_head = 0;
  int d_model = 0;

  /// The first `rows` rows of a page, [rows, d_head].
  ConstFloatRows q(int page, int rows) const { return {at(page)->q(layer) + column, rows, d_head, d_model}; }
  ConstFloatRows k(int page, int rows) const { return {at(page)->k(layer) + column, rows, d_head, d_model}; }
  ConstFloatRows v(int page, int rows) const { return {at(page)->v(layer) + column, rows, d_head, d_model}; }

 private:
  const Page* at(int page) const { return pages[static_cast<std::size_t>(page)].get(); }
};

Head head_of(const Config& config, std::span<const std::shared_ptr<const Page>> pages, int layer, int head);

/// scores [queries, keys] = q [queries, d_head] * k^T, keys 0 .. scores.cols of the head.
void score(const PanelKernels& kernels, const Head& head, ConstFloatRows q, std::span<float> scratch,
           FloatRows scores);

/// Floats of scratch that `score` should have: the keys of a page, 256 of a head's dimensions at a time.
constexpr std::size_t kScoreScratch = 256 * std::size_t{Page::kPositions};

/// scores *= scale.
void scale_scores(float scale, FloatRows scores);

/// Sets keys after the query to -inf; row i is query first_query + i.
void mask_future(int first_query, FloatRows scores);

/// Softmax of each row, in place.
void softmax_rows(FloatRows scores);

/// z [queries, d_head] = pattern [queries, keys] * v, keys 0 .. pattern.cols of the head.
void weigh_values(const PanelKernels& kernels, const Head& head, ConstFloatRows pattern, FloatRows z);

}  // namespace headscope::model
