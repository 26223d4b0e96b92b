#pragma once
#include "app/run/analyses/token_pass.h"
#include "app/views/content.h"

// Charts of what each layer adds to the residual stream of one token.
namespace headscope::app::pass_charts {

constexpr int kRole = 2;  ///< of the charts' regions; col: layer

constexpr int color_of(bool mlp) {  ///< see viz::categorical
  return mlp ? 3 : 2;
}
BoxPtr charts_of(const ViewContext& context, const TokenPass& pass);
/// Says what a layer adds.
void add_facts(Facts& facts, const ViewContext& context, const TokenPass& pass, int layer);

}  // namespace headscope::app::pass_charts
