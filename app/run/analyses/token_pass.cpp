#include "app/run/analyses/token_pass.h"

#include <algorithm>

#include "app/run/analyses/vectors.h"
#include "app/run/recompute.h"
#include "model/pass/hooks.h"

namespace headscope::app {
namespace {

void measure(BlockPass& block) {
  block.pre_norm = norm_of(block.resid_pre);
  block.attn_norm = norm_of(block.attn_out);
  block.mid_norm = norm_of(block.resid_mid);
  block.mlp_norm = norm_of(block.mlp_out);
  block.post_norm = norm_of(block.resid_post);
  block.attn_cosine = cosine_of(block.resid_pre, block.resid_mid);
  block.mlp_cosine = cosine_of(block.resid_mid, block.resid_post);
}

}  // namespace

TokenPass PassOfToken::difference(const TokenPass& after, const TokenPass& before, const PromptRun&) const {
  TokenPass result;
  result.position = after.position;
  result.embedded = difference_of(after.embedded, before.embedded);
  result.embedded_norm = norm_of(result.embedded);
  for (std::size_t i = 0; i < std::min(after.blocks.size(), before.blocks.size()); ++i) {
    const BlockPass &a = *after.blocks[i], &b = *before.blocks[i];
    BlockPass block;
    for (const auto vector : {&BlockPass::resid_pre, &BlockPass::ln_1, &BlockPass::attn_out,
                              &BlockPass::resid_mid, &BlockPass::ln_2, &BlockPass::mlp_pre,
                              &BlockPass::mlp_post, &BlockPass::mlp_out, &BlockPass::resid_post})
      block.*vector = difference_of(a.*vector, b.*vector);
    measure(block);
    result.blocks.push_back(std::make_shared<const BlockPass>(std::move(block)));
  }
  result.ln_f = difference_of(after.ln_f, before.ln_f);
  return result;
}

std::size_t BlockPass::bytes() const {
  return (7 * attn_out.size() + 2 * mlp_pre.size()) * sizeof(float);
}

std::size_t TokenPass::bytes() const {
  std::size_t sum = bytes_of(embedded, ln_f);
  for (const auto& block : blocks) sum += block->bytes();
  return sum;
}

TokenPass PassOfToken::compute(const PromptRun& run, const Computation<TokenPass>& computation) const {
  using model::Site;
  const model::Run& kept = *run.run;
  const int last = kept.length() - 1, layers = kept.config.n_layer;
  TokenPass pass;
  pass.position = position < 0 ? last : std::min(position, last);

  BlockPass block;
  model::Hooks hooks;
  const auto keep = [&](Site site, int layer, std::vector<float>& where) {
    hooks.watch({site, layer}, [&where, at = pass.position](const model::ConstActivation2d& activation) {
      const auto row = row_of(activation, at);
      if (!row.empty()) where.assign(row.begin(), row.end());
    });
  };
  keep(Site::resid_pre, 0, pass.embedded);
  hooks.watch({Site::resid_pre, 0}, [&](const model::ConstActivation2d&) { pass.blocks.clear(); });
  for (int layer = 0; layer < layers; ++layer) {
    keep(Site::resid_pre, layer, block.resid_pre);
    keep(Site::ln1_normalized, layer, block.ln_1);
    keep(Site::attn_out, layer, block.attn_out);
    keep(Site::resid_mid, layer, block.resid_mid);
    keep(Site::ln2_normalized, layer, block.ln_2);
    keep(Site::mlp_pre, layer, block.mlp_pre);
    keep(Site::mlp_post, layer, block.mlp_post);
    keep(Site::mlp_out, layer, block.mlp_out);
    keep(Site::resid_post, layer, block.resid_post);
    hooks.watch({Site::resid_post, layer}, [&, layer](const model::ConstActivation2d&) {
      if (layer == 0) pass.embedded_norm = norm_of(pass.embedded);
      measure(block);
      pass.blocks.push_back(std::make_shared<const BlockPass>(std::move(block)));
      block = {};
      if (layer + 1 < layers) computation.show(pass, static_cast<double>(layer + 1) / layers);
    });
  }
  keep(Site::ln_final_normalized, 0, pass.ln_f);

  recompute(run, pass.position, pass.position + 1, hooks, computation.workspace, computation.stop);
  return pass;
}

}  // namespace headscope::app
