#include "model/pass/attention.h"

#include <algorithm>
#include <array>
#include <limits>

#include "model/kernels/kernels.h"

namespace headscope::model {
namespace {

/// Calls body(page, first key, count) for the pages with keys [0, keys).
template <class Body>
void for_pages(int keys, const Body& body) {
  for (int first = 0; first < keys; first += Page::kPositions) {
    body(first / Page::kPositions, first, std::min(Page::kPositions, keys - first));
  }
}

/// Calls body(first page, count) for groups of full pages that are streamed concurrently. Their sizes differ
/// by at most one.
template <class Body>
void for_pages_beside(int pages, const Body& body) {
  const int groups = (pages + kPanelsTogether - 1) / kPanelsTogether;
  for (int group = 0; group < groups; ++group) {
    const int first = group * pages / groups;
    body(first, (group + 1) * pages / groups - first);
  }
}

using Products = std::array<Multiplication, kPanelsTogether>;

/// scores() for one query in several heads: row i of q and scores belongs to head `head` + i.
void scores_of_heads(const PanelKernels& kernels, const HeadCache& head, ConstFloatRows q, FloatRows scores) {
  const int pages = scores.cols / Page::kPositions, done = pages * Page::kPositions;
  for_pages_beside(pages, [&](int first, int count) {
    for (int h = 0; h < q.rows; ++h) {
      const HeadCache kept = head.other(head.head + h);
      Products products;
      for (int i = 0; i < count; ++i) {
        const int page = first + i;
        products[i] =
            multiplication(q.middle_rows(h, 1), kept.k(page, Page::kPositions),
                           scores.middle_rows(h, 1).middle_cols(page * Page::kPositions, Page::kPositions));
      }
      kernels.multiply_together(products.data(), count);
    }
  });
  if (done == scores.cols) return;
  for (int h = 0; h < q.rows; ++h) {
    kernels.multiply(multiplication(q.middle_rows(h, 1),
                                    head.other(head.head + h).k(pages, scores.cols - done),
                                    scores.middle_rows(h, 1).middle_cols(done, scores.cols - done)));
  }
}

/// weigh_values() for one query in several heads; scratch [kPanelsTogether - 1, d_head].
void weigh_values_of_heads(const PanelKernels& kernels, const HeadCache& head, ConstFloatRows pattern,
                           float* scratch, FloatRows z) {
  const int pages = pattern.cols / Page::kPositions, done = pages * Page::kPositions;
  const FloatRows parts{scratch, kPanelsTogether - 1, z.cols,
                        z.cols};  // for each page of a group but the first
  const auto values = [&](int h, int page, int rows, FloatRows out) {
    return multiplication(pattern.middle_rows(h, 1).middle_cols(page * Page::kPositions, rows),
                          head.other(head.head + h).v(page, rows), out);
  };
  for_pages_beside(pages, [&](int first, int count) {
    for (int h = 0; h < z.rows; ++h) {
      Products products;
      for (int i = 0; i < count; ++i) {
        const FloatRows out = i == 0 ? z.middle_rows(h, 1) : parts.middle_rows(i - 1, 1);
        products[i] = values(h, first + i, Page::kPositions, out);
      }
      products.front().accumulate = first > 0;
      kernels.multiply_together(products.data(), count);
      for (int i = 1; i < count; ++i) add(parts.row(i - 1), z.row(h));
    }
  });
  if (done == pattern.cols) return;
  for (int h = 0; h < z.rows; ++h) {
    Multiplication m = values(h, pages, pattern.cols - done, z.middle_rows(h, 1));
    m.accumulate = done > 0;
    kernels.multiply(m);
  }
}

/// The plan if it edits the head's cells, else null.
const Plan* cell_plan(const Run& run, const HeadCache& head) {
  return run.plan && run.plan->edits_cells(head.layer, head.head) ? run.plan.get() : nullptr;
}

}  // namespace

Multiplication multiplication(ConstFloatRows x, ConstFloatRows w, FloatRows y) {
  return {x.data, x.stride, w.data, w.stride, y.data, y.stride, x.rows, x.cols, y.cols};
}

HeadCache head_of(const Config& config, std::span<const std::shared_ptr<Page>> pages, int layer, int head) {
  return {pages, layer, head, config.d_head()};
}

void scores(const PanelKernels& kernels, const HeadCache& head, ConstFloatRows q, FloatRows out) {
  for_pages(out.cols, [&](int page, int first, int count) {
    Multiplication m = multiplication(q, head.k(page, count), out.middle_cols(first, count));
    if (first + count < out.cols) m.next = head.k(page + 1, 1).data;
    kernels.multiply(m);
  });
}

std::ptrdiff_t score_stride(int keys) {
  constexpr int kLine = 16;
  return (keys + kLine - 1) / kLine * kLine + kLine;
}

std::size_t attention_scratch(const Config& config) {
  static_assert(kHeadsPerQuery <= kQueriesPerBlock);
  return kQueriesPerBlock * static_cast<std::size_t>(score_stride(config.n_ctx)) +
         (kPanelsTogether - 1) * static_cast<std::size_t>(config.d_head());
}

void softmax_causal(const PanelKernels& kernels, float scale, int first_query, FloatRows scores) {
  for (int i = 0; i < scores.rows; ++i) {
    const std::span<float> row = scores.row(i);
    const int seen = std::min(first_query + i + 1, scores.cols);
    kernels.rows.softmax(scale, row.data(), seen);
    std::ranges::fill(row.subspan(seen), 0.0F);
  }
}

void scale_and_mask(const Run& run, const HeadCache& head, int first_query, FloatRows scores) {
  const float scale = run.config.attention_scale(head.layer);
  const Plan* plan = cell_plan(run, head);
  for (int i = 0; i < scores.rows; ++i) {
    for (float& cell : scores.row(i)) cell *= scale;
    if (plan == nullptr) {
      const int seen = std::min(first_query + i + 1, scores.cols);
      std::ranges::fill(scores.row(i).subspan(seen), -std::numeric_limits<float>::infinity());
    }
  }
  if (plan == nullptr) return;
  plan->hide(head.layer, head.head, first_query, scores);
  plan->apply(piece_of({Site::attn_scores, head.layer}, scores, first_query, head.head), run.means);
}

void softmax_masked(const PanelKernels& kernels, const Run& run, const HeadCache& head, int first_query,
                    FloatRows scores) {
  for (int i = 0; i < scores.rows; ++i) kernels.rows.softmax(1, scores.row_data(i), scores.cols);
  if (const Plan* plan = cell_plan(run, head))
    plan->apply(piece_of({Site::pattern, head.layer}, scores, first_query, head.head), run.means);
}

void find_pattern(const PanelKernels& kernels, const Run& run, const HeadCache& head, int first_query,
                  FloatRows scores) {
  if (cell_plan(run, head) == nullptr)
    return softmax_causal(kernels, run.config.attention_scale(head.layer), first_query, scores);
  scale_and_mask(run, head, first_query, scores);
  softmax_masked(kernels, run, head, first_query, scores);
}

int keys_for(const Run& run, const HeadCache& head, int last_query) {
  return run.plan && run.plan->sees_future(head.layer, head.head) ? run.length() : last_query + 1;
}

void weigh_values(const PanelKernels& kernels, const HeadCache& head, ConstFloatRows pattern, FloatRows z) {
  for_pages(pattern.cols, [&](int page, int first, int count) {
    Multiplication m = multiplication(pattern.middle_cols(first, count), head.v(page, count), z);
    m.accumulate = first > 0;
    if (first + count < pattern.cols) m.next = head.v(page + 1, 1).data;
    kernels.multiply(m);
  });
}

void attend(const PanelKernels& kernels, const Run& run, const HeadCache& head, int first_query,
            ConstFloatRows q, float* scratch, FloatRows z) {
  const int keys = keys_for(run, head, first_query + q.rows - 1);
  const FloatRows block{scratch, q.rows, keys, score_stride(keys)};
  scores(kernels, head, q, block);
  find_pattern(kernels, run, head, first_query, block);
  weigh_values(kernels, head, block, z);
}

void keep_keys_and_values(const PanelKernels& kernels, const Page::ClaimedRows& page, int layer, int head,
                          std::ptrdiff_t row, ConstFloatRows k, ConstFloatRows v) {
  for (int i = 0; i < v.rows; ++i)
    std::copy_n(v.row_data(i), v.cols, page.v(layer, head) + (row + i) * v.cols);
  kernels.transpose(k.data, k.stride, k.rows, k.cols, page.k(layer, head) + row, Page::kPositions);
}

void attend_one_query(const PanelKernels& kernels, const HeadCache& head, int keys, float scale,
                      ConstFloatRows q, float* scratch, FloatRows z) {
  const FloatRows block{scratch, q.rows, keys, score_stride(keys)};
  scores_of_heads(kernels, head, q, block);
  for (int h = 0; h < q.rows; ++h) softmax_causal(kernels, scale, keys - 1, block.middle_rows(h, 1));
  weigh_values_of_heads(kernels, head, block, scratch + block.rows * block.stride, z);
}

}  // namespace headscope::model
