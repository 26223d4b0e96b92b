#pragma once
#include "app/run/analyses/token_pass.h"
#include "app/views/content.h"

// Charts of all layers' additions to the residual stream of one token.
namespace headscope::app::pass_charts {

constexpr int kRole = 2;  ///< of the charts' regions; col: see column_of

/// A column of a chart. Columns are pairs: one for the embedding, of which only the second is used, then the
/// attention and the MLP of each layer.
inline int column_of(int layer, bool mlp) {
  return 2 * (layer + 1) + mlp;
}
/// A column's layer; -1: the embedding.
inline int layer_of(int column) {
  return column / 2 - 1;
}

viz::Color color_of(const ViewContext& context, bool mlp);
BoxPtr charts_of(const ViewContext& context, const TokenPass& pass);
/// What is said of a column; frames it, and marks those that feed it.
void add_facts(Facts& facts, const ViewContext& context, const TokenPass& pass, const Picture& picture,
               int column);

}  // namespace headscope::app::pass_charts
