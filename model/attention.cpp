#include "model/attention.h"

#include <algorithm>
#include <limits>

#include "model/eigen_maps.h"
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

}  // namespace

Head head_of(const Config& config, std::span<const std::shared_ptr<const Page>> pages, int layer, int head) {
  return {pages, layer, head * config.d_head(), config.d_head(), config.n_embd};
}

void score(const Head& head, ConstFloatRows q, FloatRows scores) {
  for_pages(scores.cols, [&](int page, int first, int count) {
    map(scores.middle_cols(first, count)).noalias() = map(q) * map(head.k(page, count)).transpose();
  });
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

void softmax_rows(FloatRows scores) {
  for (int i = 0; i < scores.rows; ++i) softmax(scores.row(i));
}

void weigh_values(const Head& head, ConstFloatRows pattern, FloatRows z) {
  for_pages(pattern.cols, [&](int page, int first, int count) {
    if (first == 0) {
      map(z).noalias() = map(pattern.middle_cols(first, count)) * map(head.v(page, count));
    } else {
      map(z).noalias() += map(pattern.middle_cols(first, count)) * map(head.v(page, count));
    }
  });
}

}  // namespace headscope::model
