#pragma once
#include <vector>

#include "app/views/output/flow_graph.h"
#include "viz/scene/picture.h"

// How a flow's layers share the height of its picture.
namespace headscope::app::flow_picture {

/// The horizontal run of a strand between its two turns.
struct Lane {
  int edge = 0;  ///< index in the graph
  float width = 0;
  bool labelled = false;
  bool stub = false;
  bool loop = false;  ///< from a token to itself
  float y = 0;
};

/// One layer.
struct Band {
  std::vector<Lane> lanes;  ///< from below
  float widest = 0;         ///< of what its MLPs add to the tokens
  float bottom = 0, top = 0;
  float wedge_bottom = 0, wedge_top = 0;  ///< where the MLPs' wedges are
  float height() const { return bottom - top; }
};

struct Bands {
  std::vector<Band> layers;  ///< from below; empty: they do not fit
  float turn = 0;            ///< inner radius of a strand's turns
  bool all_labels = true;    ///< false: the weakest edges have no label
};

/// The layers between `bottom` and `top`. `scale`: logical pixels for a logit of 1. Turns are wide and every
/// edge to the target has a label as far as there is room. `keeps_edges`: narrow lanes are better than none.
Bands lay_out_bands(const Graph& graph, FirstToken first, double scale, float bottom, float top,
                    const viz::Style& style, bool keeps_edges = false);

/// Width of a strand: at least a hairline, so that no drawn edge is invisible.
float strand_width(double value, double scale);

}  // namespace headscope::app::flow_picture
