#include "app/views/block/pass_charts.h"

#include "app/views/parts/curve_box.h"
#include "app/views/parts/parts.h"

namespace headscope::app::pass_charts {

using Numbers = double BlockPass::*;

/// A number of each block's attention and of its MLP, as far as they are known.
static BoxPtr chart_of(const ViewContext& c, const TokenPass& pass, std::string title, Numbers attention,
                       Numbers mlp, std::string x_title = {}) {
  const bool cosine = attention == &BlockPass::attn_cosine;
  Curves curves{std::move(title), std::move(x_title)};
  curves.curves = {{"attention", color_of(false), {}}, {"MLP", color_of(true), {}}};
  double low = 1, high = 0;
  for (const auto& block : pass.blocks) {
    for (const auto& [curve, number] : {std::pair(0, attention), std::pair(1, mlp)}) {
      const double value = (*block).*number;
      curves.curves[curve].values.push_back(static_cast<float>(value));
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  curves.count = c.run->run->config.n_layer, curves.marked = c.selection.layer;
  curves.low = cosine ? std::max(-1.0, 1 - viz::round_limit(1 - low)) : 0;
  curves.high = cosine ? 1 : viz::round_limit(high);
  const auto height = [](float) { return Wish{6, 8, 16}; };
  return curve_box(std::move(curves), height,
                   {kRole, [](const viz::Region&, int, int layer) { return Ref{.layer = layer}; }});
}

BoxPtr charts_of(const ViewContext& c, const TokenPass& pass) {
  const std::string of = c.side == Side::difference ? "the difference in " : "";
  return rows(boxes(may_be_left_out(chart_of(c, pass, "norm of " + of + "the stream after it",
                                             &BlockPass::mid_norm, &BlockPass::post_norm),
                                    "the norms", 2),
                    may_be_left_out(chart_of(c, pass, "cosine of " + of + "the stream before and after",
                                             &BlockPass::attn_cosine, &BlockPass::mlp_cosine),
                                    "the cosines"),
                    chart_of(c, pass, "norm of " + of + "what is added", &BlockPass::attn_norm,
                             &BlockPass::mlp_norm, "layer")));
}

void add_facts(Facts& facts, const ViewContext& c, const TokenPass& pass, int layer) {
  if (layer >= std::ssize(pass.blocks)) return facts.say(kComputing);
  const BlockPass& block = *pass.blocks[layer];
  const std::string of = difference_prefix(c);
  const auto say = [&](const std::string& part, double before, double added, double after, double cosine) {
    facts.number(part + " adds a vector of norm", added);
    facts.say(of + "stream's norm " + viz::number(before, 5) + " → " + viz::number(after, 5));
    if (!std::isnan(cosine)) facts.number("cosine of " + of + "the stream before and after", cosine);
  };
  say("attention", pass.resid_norm(layer), block.attn_norm, block.mid_norm, block.attn_cosine);
  say("MLP", block.mid_norm, block.mlp_norm, block.post_norm, block.mlp_cosine);
  for (const bool mlp : {false, true}) add_part_edits(facts.commands, c, layer, mlp);
}

}  // namespace headscope::app::pass_charts
