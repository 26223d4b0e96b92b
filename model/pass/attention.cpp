#include "model/pass/attention.h"

#include <algorithm>
#include <limits>

#include "model/kernels/kernels.h"

namespace headscope::model {
namespace {

/// The plan if it edits the head's cells, else null.
const Plan* cell_plan(const Run& run, const HeadCache& head) {
  return run.plan && run.plan->edits_cells(head.layer, head.head) ? run.plan.get() : nullptr;
}

}  // namespace

void scores(const PanelKernels& kernels, const HeadCache& head, ConstFloatRows q, FloatRows out) {
  for_pages(out.cols, [&](int page, int first, int count) {
    multiply(kernels, q, head.k(page, count), false, out.middle_cols(first, count),
             first + count < out.cols ? head.k(page + 1, 1).data : nullptr);
  });
}

std::ptrdiff_t score_stride(int keys) {
  constexpr int kLine = 16;  // floats
  return (divide_up(keys, kLine) | 1) * kLine;
}

std::size_t attention_scratch(const Config& config) {
  return kQueriesPerBlock * static_cast<std::size_t>(score_stride(config.n_ctx));
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
  if (plan != nullptr)
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
    multiply(kernels, pattern.middle_cols(first, count), head.v(page, count), first > 0, z,
             first + count < pattern.cols ? head.v(page + 1, 1).data : nullptr);
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

}  // namespace headscope::model
