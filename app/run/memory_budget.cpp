#include "app/run/memory_budget.h"

#include <initializer_list>

#include "app/run/analyses/thumbnails.h"
#include "app/run/memo.h"
#include "app/run/prompt_run.h"
#include "model/kernels/workspace.h"

namespace headscope::app {
namespace {

std::size_t product(std::initializer_list<int> factors) {
  std::size_t result = 1;
  for (const int factor : factors) result *= static_cast<std::size_t>(factor);
  return result;
}

}  // namespace

MemoryBudget memory_budget(const model::Transformer& transformer, int threads) {
  constexpr int kFloat = sizeof(float);
  const model::Config& config = transformer.config();
  // Four images, one per stage of a head, for two pictures; a pixel is as large as a float.
  const std::size_t images = product({2, 4, config.n_ctx, config.n_ctx, kFloat});
  // Cells, and the first column pooled without key 0.
  const std::size_t thumbnails =
      product({config.n_layer, config.n_head, Thumbnail::kMax, Thumbnail::kMax + 1, kFloat});
  // Per position: the residual stream, its norm, z, a branch's output; q, k and v; the MLP's activations.
  const std::size_t activations =
      product({model::ForwardOptions{}.chunk, 7 * config.n_embd + config.n_inner + 1});
  // Per thread: scores of 64 queries, or a block of a product and logits of a panel.
  constexpr int kBlock = 64, kPanels = 1 << 15;
  const std::size_t scratch = product({threads, kBlock * (config.n_ctx + kBlock) + kPanels});
  const std::size_t logits = product({config.vocab_size, 2});
  const std::size_t work =
      (model::Buffer::room_for(activations) + model::Buffer::room_for(scratch) + logits) * kFloat;
  constexpr std::size_t kProgram = std::size_t{32} << 20;
  return {transformer.weight_bytes(), Memo::budget(config), images + 4 * thumbnails, work, kProgram};
}

}  // namespace headscope::app
