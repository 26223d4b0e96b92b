#pragma once
#include <optional>

#include "app/run/analyses/excerpt.h"
#include "app/views/view.h"
#include "viz/scene/scale.h"

namespace headscope::app {

/// A line of tokens around one of them, each on the colour of its number: a row of a concordance, in which
/// that token has the same place in every row.
struct ExcerptLine {
  const Excerpt& excerpt;
  int position = 0;               ///< of the token that it is about, which is framed
  std::optional<int> other = {};  ///< of another token that is framed if it is shown
  float place = 0.6F;             ///< where the token begins, as a part of the width; 1: it ends at the right
  viz::Color frame, other_frame;
};

/// Paints the tokens that fit into `area`, cut only at its ends. Numbers that are not above 0 have no colour.
void paint_excerpt(viz::Scene& scene, const ViewContext& context, const ExcerptLine& line,
                   const viz::ColorScale& scale, const viz::Rect& area);

}  // namespace headscope::app
