#include "model/gradient/attention_gradient.h"

#include <algorithm>

#include "model/gradient/steps.h"

namespace headscope::model {
namespace {

constexpr int kPage = Page::kPositions;

/// y (+)= x w.
void multiply(const PanelKernels& kernels, ConstFloatRows x, ConstFloatRows w, bool accumulate, FloatRows y) {
  kernels.multiply({.x = x.data,
                    .x_stride = x.stride,
                    .w = w.data,
                    .w_stride = w.stride,
                    .y = y.data,
                    .y_stride = y.stride,
                    .rows = x.rows,
                    .depth = x.cols,
                    .cols = y.cols,
                    .accumulate = accumulate});
}

FloatRows transposed(const PanelKernels& kernels, ConstFloatRows x, float* memory) {
  const FloatRows result{memory, x.cols, x.rows, x.rows};
  kernels.transpose(x.data, x.stride, x.rows, x.cols, result.data, result.stride);
  return result;
}

/// A block of one head's queries.
class CellBlock {
 public:
  CellBlock(const PanelKernels& kernels, const Run& run, const HeadCache& head, int first, int rows, int keys,
            float* scratch)
      : kernels_(kernels), run_(run), head_(head), first_(first), keys_(keys) {
    const auto take = [&] {
      const FloatRows taken{scratch, rows, keys, score_stride(keys)};
      scratch += kQueriesPerBlock * score_stride(run.config.n_ctx);
      return taken;
    };
    weights_ = take();
    pattern_ = take();
    gradient_ = take();
    turned_ = scratch;
  }

  void compute(const HeadGradients& gradients, const CellsVisitor& visit) {
    const ConstFloatRows z = gradients.z.middle_rows(first_, gradient_.rows),
                         q = head_.q(first_ / kPage, gradient_.rows);
    find_pattern(q);
    for_pages([&](int page, int key, int count) {
      multiply(kernels_, z, transposed(kernels_, head_.v(page, count), turned_), false,
               gradient_.middle_cols(key, count));
      add_turned(pattern_, key, count, z, gradients.v);
    });
    before_edits(Site::pattern, visit);
    for (int i = 0; i < gradient_.rows; ++i) softmax_gradient(weights_.row(i), gradient_.row(i));
    before_edits(Site::attn_scores, visit);
    scale_scores(run_.config.attention_scale(head_.layer), gradient_);
    for_pages([&](int page, int key, int count) {
      multiply(kernels_, gradient_.middle_cols(key, count),
               transposed(kernels_, head_.k(page, count), turned_), key > 0,
               gradients.q.middle_rows(first_, gradient_.rows));
      add_turned(gradient_, key, count, q, gradients.k);
    });
  }

 private:
  /// weights_: the softmax; pattern_: the same, as edits left it.
  void find_pattern(ConstFloatRows q) {
    score(kernels_, head_, q, weights_);
    const bool edited = is_edited();
    if (edited) {
      scale_scores(run_.config.attention_scale(head_.layer), weights_);
      mask_scores(run_, head_, first_, weights_);
      softmax_rows(kernels_, weights_);
    } else {
      pattern_in_run(kernels_, run_, head_, first_, weights_);
    }
    if (!edited || !run_.plan->edits({Site::pattern, head_.layer})) {
      pattern_ = weights_;
      return;
    }
    for (int i = 0; i < weights_.rows; ++i) std::ranges::copy(weights_.row(i), pattern_.row_data(i));
    run_.plan->apply(piece_of(Site::pattern, pattern_), run_.means);
  }

  /// gradients += the transpose of columns [key, key + count) of cells, times rows.
  void add_turned(FloatRows cells, int key, int count, ConstFloatRows rows, FloatRows gradients) {
    multiply(kernels_, transposed(kernels_, cells.middle_cols(key, count), turned_), rows, true,
             gradients.middle_rows(key, count));
  }

  /// From the derivatives after the site's edits to those before.
  void before_edits(Site site, const CellsVisitor& visit) {
    const Activation2d piece = piece_of(site, gradient_);
    if (visit) visit(piece);
    if (is_edited()) run_.plan->apply_gradient(piece, run_.means, weights_);
  }

  template <class Body>
  void for_pages(const Body& body) const {
    for (int key = 0; key < keys_; key += kPage) body(key / kPage, key, std::min(kPage, keys_ - key));
  }

  bool is_edited() const { return run_.plan && run_.plan->edits_cells(head_.layer, head_.head); }

  Activation2d piece_of(Site site, FloatRows rows) const {
    return {{site, head_.layer}, head_.head, first_, 0, rows.rows, rows.cols, rows.stride, rows.data};
  }

  const PanelKernels& kernels_;
  const Run& run_;
  const HeadCache& head_;
  int first_, keys_;
  FloatRows weights_, pattern_, gradient_;  // [queries, keys]
  float* turned_;                           // a transposed block
};

}  // namespace

std::size_t attention_gradient_scratch(const Config& config) {
  const std::size_t turned = std::size_t{kPage} * std::max(kPage, config.d_head());
  return 3 * kQueriesPerBlock * static_cast<std::size_t>(score_stride(config.n_ctx)) + turned;
}

void attention_gradient(const PanelKernels& kernels, const Run& run, const HeadCache& head,
                        const HeadGradients& gradients, const CellsVisitor& visit, float* scratch) {
  for (const FloatRows& rows : {gradients.q, gradients.k, gradients.v})
    for (int i = 0; i < rows.rows; ++i) std::ranges::fill(rows.row(i), 0.0F);
  for (int first = 0; first < run.length(); first += kQueriesPerBlock) {
    const int rows = std::min(kQueriesPerBlock, run.length() - first);
    const int keys = visit ? run.length() : keys_for(run, head, first + rows - 1);
    CellBlock(kernels, run, head, first, rows, keys, scratch).compute(gradients, visit);
  }
}

}  // namespace headscope::model
