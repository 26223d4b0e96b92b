#include "app/run/analyses/patterns.h"

#include <algorithm>

#include "app/run/sources/pattern_file.h"
#include "model/files/error.h"
#include "model/pass/plan.h"

namespace headscope::app {

void pattern_of(const PromptRun& run, int layer, int head, std::span<float> out) {
  if (run.model->patterns) {
    run.model->patterns->read(layer, head, 0, out);
  } else {
    run.model->transformer->pattern(*run.run, layer, head, out);
  }
}

void patterns_of(const PromptRun& run, std::span<const model::HeadIndex> heads, model::Workspace& workspace,
                 const model::PatternVisitor& visit, std::stop_token stop) {
  if (!run.model->patterns) return run.model->transformer->patterns(*run.run, heads, workspace, visit, stop);
  constexpr int kBlock = 1 << 18;  // weights
  const PatternFile& file = *run.model->patterns;
  const int queries = file.query_count(), keys = file.key_count(), rows = std::max(1, kBlock / keys);
  std::vector<float> block;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (stop.stop_requested()) throw model::Stopped();
    for (int first = 0; first < queries; first += rows) {
      const int count = std::min(rows, queries - first);
      block.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(keys));
      file.read(heads[i].layer, heads[i].head, first, block);
      visit(i, first, {block.data(), count, keys, keys});
    }
  }
}

std::vector<std::uint8_t> masked_cells(const PromptRun& run, model::HeadIndex head, int first_query,
                                       model::ConstFloatRows weights) {
  if (!run.model->patterns) return masked_cells(*run.run, head, first_query, weights);
  if (run.model->patterns->causal()) return {};
  return std::vector<std::uint8_t>(static_cast<std::size_t>(weights.rows) *
                                   static_cast<std::size_t>(weights.cols));
}

MaskedCells masked_cells(const PromptRun& run, model::HeadIndex head, std::span<const float> pattern) {
  const int keys = key_count(run);
  return {masked_cells(run, head, 0, {pattern.data(), run.run->length(), keys, keys}), keys};
}

bool sees_later(const PromptRun& run, model::HeadIndex head) {
  if (run.model->patterns) return !run.model->patterns->causal();
  return run.run->plan != nullptr && run.run->plan->sees_future(head.layer, head.head);
}

int end_of_keys(const PromptRun& run, model::HeadIndex head, int query) {
  if (!run.model->patterns) return end_of_keys(*run.run, head, query);
  return run.model->patterns->causal() ? query + 1 : key_count(run);
}

bool may_see(const PromptRun& run, model::HeadIndex head, int query, int key) {
  if (!run.model->patterns) return may_see(*run.run, head, query, key);
  return key < key_count(run) && (key <= query || !run.model->patterns->causal());
}

}  // namespace headscope::app
