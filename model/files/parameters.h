#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/files/weights.h"

namespace headscope::model {

using ParameterShape = std::vector<std::int64_t>;

/// Visits the parameters in the model's order. Calls visit(name, shape, part, transposed) for each: part is a
/// PanelMatrix or a span of floats of `weights`, and `transposed` says that a row of the parameter is a
/// column of the panels. `weights` must have its config and all of its blocks.
template <class SomeWeights, class Visit>
void visit_parameters(SomeWeights& weights, const Visit& visit) {
  const Config& config = weights.config;
  const std::int64_t d = config.n_embd, inner = config.n_inner;
  const auto layer_norm = [&](const std::string& name, auto& ln) {
    visit(name + ".weight", ParameterShape{d}, ln.gain, false);
    visit(name + ".bias", ParameterShape{d}, ln.bias, false);
  };
  const auto linear = [&](const std::string& name, std::int64_t in, std::int64_t out, auto& l) {
    visit(name + ".weight", ParameterShape{in, out}, l.weight, false);
    visit(name + ".bias", ParameterShape{out}, l.bias, false);
  };
  visit(std::string("wte.weight"), ParameterShape{config.vocab_size, d}, weights.wte, true);
  visit(std::string("wpe.weight"), ParameterShape{config.n_ctx, d}, weights.wpe, false);
  for (std::size_t layer = 0; layer < weights.h.size(); ++layer) {
    const std::string h = "h." + std::to_string(layer) + ".";
    auto& block = weights.h[layer];
    layer_norm(h + "ln_1", block.ln_1);
    linear(h + "attn.c_attn", d, 3 * d, block.attn_c_attn);
    linear(h + "attn.c_proj", d, d, block.attn_c_proj);
    layer_norm(h + "ln_2", block.ln_2);
    linear(h + "mlp.c_fc", d, inner, block.mlp_c_fc);
    linear(h + "mlp.c_proj", inner, d, block.mlp_c_proj);
  }
  layer_norm("ln_f", weights.ln_f);
  if (!config.tie_word_embeddings)
    visit(std::string("lm_head.weight"), ParameterShape{config.vocab_size, d}, weights.lm_head, true);
}

}  // namespace headscope::model
