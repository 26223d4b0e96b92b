#include "model/attention.h"

#include <algorithm>
#include <limits>

#include "model/kernels.h"

namespace headscope::model {
namespace {

/// Calls body(page, first key, count) for the pages of keys 0 .. keys.
template <class Body>
void for_pages(int keys, const Body& body) {
  for (int first = 0; first < keys; first += Page::kPositions) {
    body(first / Page::kPositions, first, std::min(Page::kPositions, keys - first));
  }
}

Multiplication multiplication(ConstFloatRows x, ConstFloatRows w, FloatRows y) {
  return {x.data, x.stride, w.data, w.stride, y.data, y.stride, x.rows, x.cols, y.cols};
}

}  // namespace

Head head_of(const Config& config, std::span<const std::shared_ptr<const Page>> pages, int layer, int head) {
  return {pages, layer, head, config.d_head()};
}

void score(const PanelKernels& kernels, const Head& head, ConstFloatRows q, FloatRows scores) {
  for_pages(scores.cols, [&](int page, int first, int count) {
    Multiplication m = multiplication(q, head.k(page, count), scores.middle_cols(first, count));
    if (first + count < scores.cols) m.next = head.k(page + 1, 1).data;
    kernels.multiply(m);
  });
}

std::ptrdiff_t score_stride(int keys) {
  constexpr int kLine = 16;
  return (keys + kLine - 1) / kLine * kLine + kLine;
}

std::size_t attention_scratch(const Config& config) {
  return kQueriesPerBlock * static_cast<std::size_t>(score_stride(config.n_ctx));
}

void scale_scores(float scale, FloatRows scores) {
  for (int i = 0; i < scores.rows; ++i) {
    for (float& cell : scores.row(i)) cell *= scale;
  }
}

void mask_future(int first_query, FloatRows scores) {
  for (int i = 0; i < scores.rows; ++i) {
    const std::span<float> row = scores.row(i);
    const auto seen = static_cast<std::size_t>(std::min(first_query + i + 1, scores.cols));
    std::fill(row.begin() + static_cast<std::ptrdiff_t>(seen), row.end(),
              -std::numeric_limits<float>::infinity());
  }
}

void softmax_rows(const PanelKernels& kernels, FloatRows scores) {
  for (int i = 0; i < scores.rows; ++i) softmax(kernels.rows, scores.row(i));
}

void pattern_of_scores(const PanelKernels& kernels, float scale, int first_query, FloatRows scores) {
  for (int i = 0; i < scores.rows; ++i) {
    const std::span<float> row = scores.row(i);
    const int seen = std::min(first_query + i + 1, scores.cols);
    kernels.rows.softmax(scale, row.data(), seen);
    std::ranges::fill(row.subspan(static_cast<std::size_t>(seen)), 0.0F);
  }
}

void weigh_values(const PanelKernels& kernels, const Head& head, ConstFloatRows pattern, FloatRows z) {
  for_pages(pattern.cols, [&](int page, int first, int count) {
    Multiplication m = multiplication(pattern.middle_cols(first, count), head.v(page, count), z);
    m.accumulate = first > 0;
    if (first + count < pattern.cols) m.next = head.v(page + 1, 1).data;
    kernels.multiply(m);
  });
}

}  // namespace headscope::model
