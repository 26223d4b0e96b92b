#include "app/run/analyses/token_pass.h"

#include <algorithm>
#include <span>
#include <utility>

#include "app/run/analyses/vectors.h"
#include "app/run/run_prompt.h"

namespace headscope::app {
namespace {

using model::Site;

/// The vectors of a block, in the order of the pass.
constexpr std::pair<Site, std::vector<float> BlockPass::*> kVectors[] = {
    {Site::resid_pre, &BlockPass::resid_pre},  {Site::ln1_normalized, &BlockPass::ln_1},
    {Site::attn_out, &BlockPass::attn_out},    {Site::resid_mid, &BlockPass::resid_mid},
    {Site::ln2_normalized, &BlockPass::ln_2},  {Site::mlp_pre, &BlockPass::mlp_pre},
    {Site::mlp_post, &BlockPass::mlp_post},    {Site::mlp_out, &BlockPass::mlp_out},
    {Site::resid_post, &BlockPass::resid_post}};

}  // namespace

double BlockPass::cosine(bool mlp) const {
  return mlp ? cosine_of(resid_mid, resid_post) : cosine_of(resid_pre, resid_mid);
}

TokenPass TokenPass::minus(const TokenPass& before, const PromptRun&) const {
  TokenPass result{position, blocks, difference_of(ln_f, before.ln_f)};
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (const auto& [site, vector] : kVectors)
      result.blocks[i].*vector = difference_of(blocks[i].*vector, before.blocks[i].*vector);
  return result;
}

std::size_t TokenPass::bytes() const {
  std::size_t sum = bytes_of(ln_f);
  for (const BlockPass& block : blocks)
    for (const auto& [site, vector] : kVectors) sum += bytes_of(block.*vector);
  return sum;
}

TokenPass PassOfToken::compute(const PromptRun& run, const Computation<TokenPass>& computation) const {
  const model::Config& config = run.run->config;
  const int last = run.run->length() - 1;
  TokenPass pass;
  pass.position = position < 0 ? last : std::min(position, last);
  Recording seen(config, pass.position, 1);
  for (int layer = 0; layer < config.n_layer; ++layer)
    for (const auto& [site, vector] : kVectors) seen.add({site, layer});
  seen.add({Site::ln_final_normalized});
  seen.read(run, computation);
  for (int layer = 0; layer < config.n_layer; ++layer) {
    BlockPass& block = pass.blocks.emplace_back();
    for (const auto& [site, vector] : kVectors) block.*vector = vector_of(seen.rows({site, layer}));
  }
  pass.ln_f = vector_of(seen.rows({Site::ln_final_normalized}));
  return pass;
}

AttentionInput AttentionInput::minus(const AttentionInput& before, const PromptRun&) const {
  return {difference_of(residual, before.residual), difference_of(normed, before.normed),
          difference_of(bias, before.bias), difference_of(output, before.output)};
}

AttentionInput AttentionInputOf::compute(const PromptRun& run,
                                         const Computation<AttentionInput>& computation) const {
  const model::Run& kept = *run.run;
  const model::Transformer& transformer = *run.model->transformer;
  AttentionInput input;
  input.residual = vector_of(kept.resid(layer, position));
  input.normed = transformer.attention_input(kept, layer, position, computation.workspace);
  input.bias = vector_of(transformer.attention_bias(layer));
  const auto append = [&](std::span<const float> values) {
    input.output.insert(input.output.end(), values.begin(), values.end());
  };
  for (int head = 0; head < kept.config.n_head; ++head) append(kept.q(layer, head, position));
  for (int head = 0; head < kept.config.n_head; ++head) append(kept.k(layer, head, position));
  for (int head = 0; head < kept.config.n_head; ++head) append(kept.v(layer, head, position));
  return input;
}

MergedHeads MergedHeads::minus(const MergedHeads& other, const PromptRun&) const {
  return {{difference_of(of.z, other.of.z), difference_of(of.results, other.of.results),
           difference_of(of.out, other.of.out)},
          difference_of(bias, other.bias),
          edits,  // the baseline is unedited
          difference_of(before, other.before),
          difference_of(after, other.after)};
}

MergedHeads MergedHeadsOf::compute(const PromptRun& run, const Computation<MergedHeads>& computation) const {
  const model::Run& kept = *run.run;
  const model::Transformer& transformer = *run.model->transformer;
  MergedHeads merged;
  merged.of = transformer.attention_output(kept, layer, position, computation.workspace);
  merged.bias = vector_of(transformer.projection_bias(layer));
  merged.before = vector_of(kept.resid(layer, position));
  if (edits_at(run, {model::Site::attn_out, layer})) {
    merged.edits = merged.of.out;
    for (std::size_t at = 0; at < merged.of.results.size(); ++at)
      merged.edits[at % merged.edits.size()] -= merged.of.results[at];
    for (std::size_t i = 0; i < merged.edits.size(); ++i) merged.edits[i] -= merged.bias[i];
  }
  merged.after = merged.before;
  for (std::size_t i = 0; i < merged.after.size(); ++i) merged.after[i] += merged.of.out[i];
  return merged;
}

}  // namespace headscope::app
