#pragma once
#include "app/views/output/circuit_layout.h"
#include "app/views/view.h"

// The drawing of a circuit whose parts have places.
namespace headscope::app::circuit_picture {

enum Role { kNode, kEdge };  ///< kNode: id: the node; kEdge: all edges, see nearest_link

/// The colour of edges to a kind of reader.
viz::Color color_of(const ViewContext& c, model::StreamReader::Kind reads);
void paint_link(viz::Scene& scene, const ViewContext& c, const Link& link, viz::Color color);
/// A link under the mouse: wider, in its own colour.
void paint_hovered(viz::Scene& scene, const ViewContext& c, const Link& link);
/// The layers, behind their parts.
void paint_bands(Picture& picture, const ViewContext& c, const Layout& layout);
/// The parts, with their regions; in a pane the selected head is marked.
void paint_nodes(Picture& picture, const ViewContext& c, const Layout& layout);
/// Dotted lines over what lies between, thick as the attention weight, from keys to queries: of small weights
/// only each key's largest.
void paint_passages(Picture& picture, const ViewContext& c, const Layout& layout);
/// The region of the edges: a fine grid.
viz::Region edges_region(const Layout& layout);
/// The link that is nearest to a point; -1: there are none.
int nearest_link(const Layout& layout, viz::Point at);
/// The tokens under their columns, with their positions, and dots where others are left out between them.
void paint_columns(Picture& picture, const ViewContext& c, const Layout& layout, float y);

/// What a kind of line stands for.
struct Sample {
  std::string words;
  viz::Color color;
  float width = 0;  ///< 0: dotted
  bool negative = false;
};

/// Draws samples in lines from `at` on, or measures them without a picture. Returns the number of lines.
int paint_legend(Picture* picture, const ViewContext& c, const std::vector<Sample>& samples, viz::Point at,
                 float right);

}  // namespace headscope::app::circuit_picture
