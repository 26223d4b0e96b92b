#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/views/output/flow_graph.h"
#include "viz/scene/picture.h"

// Where everything in the picture of a flow is: tokens from left to right, layers from below, a ribbon for
// the stream of each token, and strands from ribbon to ribbon for the edges. Widths are parts of the logit.
namespace headscope::app::flow_picture {

/// What the layout is made for.
struct Poster {
  Graph graph;
  std::vector<std::string> tokens;             ///< labels of positions 0 to the last column's
  std::vector<std::string> edges;              ///< labels of the graph's edges
  std::vector<std::vector<std::string>> mlps;  ///< labels of MLPs, [columns][layers]
  std::string rest;                            ///< label of the rest
  std::string others = "others ";              ///< drawn tokens without a number
  std::string all = "tokens and MLPs ";        ///< all drawn tokens, where none has a number
  FirstToken first = FirstToken::stubs;
  float panel = 0;           ///< least width of the space to the right of the target's ribbon
  bool keeps_edges = false;  ///< thin strands are better than fewer
};

/// A stretch of a ribbon, from y0 up to y1.
struct Slice {
  int column = 0;
  float y0 = 0, left0 = 0, right0 = 0;
  float y1 = 0, left1 = 0, right1 = 0;
  bool negative = false;
  float level0 = 0, level1 = 0;  ///< layers passed, with fractions inside a layer: where the lens reads
};

/// What an MLP adds to a ribbon or takes from it.
struct Wedge {
  /// Between two x at a height.
  struct Side {
    float from = 0, to = 0, y = 0;
  };
  int column = 0;
  int layer = 0;
  std::vector<Side> sides;  ///< from below
  bool negative = false;
  viz::Rect rect;
};

/// An edge, or a part of the rest.
struct Strand {
  int edge = -1;  ///< index in the graph; -1: of the rest
  int layer = 0;
  float width = 0;
  bool negative = false;
  std::vector<std::vector<viz::Point>> lines;   ///< its middle: one, or for a stub both ends
  std::vector<std::vector<viz::Point>> tapers;  ///< polygons at the open ends of a stub
  std::vector<viz::Point> ends;  ///< where it leaves a ribbon and where it joins one; empty: a loop
};

/// A text with its middle at the left, centre or right of its place.
struct Label {
  enum class Of { edge, mlp, token, gap, layer, rest, source, others };
  Of of = Of::edge;
  int index = 0;    ///< edge, layer, position
  int column = -1;  ///< of an MLP or a token's sources: its column; of a token: whether it has one
  std::string text = {};
  viz::Point at = {};
  viz::Align align = viz::Align::left;
  float angle = 0;
  float room = 0;
  viz::Rect rect = {};
};

struct Layout {
  bool fits = false;
  viz::Rect plot;                  ///< the layers
  double scale = 0;                ///< logical pixels for a logit of 1
  std::vector<float> levels;       ///< [layers + 1], y of the bottom of each layer, the last: of the top
  float end = 0;                   ///< y of the ribbon's end above the layers
  std::vector<viz::Rect> columns;  ///< around their ribbons, from below the layers to the top
  viz::Rect rest;                  ///< the rest's own ribbon
  std::vector<Slice> slices;
  std::vector<Slice> rest_slices;
  std::vector<Wedge> wedges;
  std::vector<Strand> strands;  ///< weakest first
  std::vector<Label> labels;
  bool all_labels = true;  ///< false: some labels had no room
  bool thinned = false;    ///< whether it is narrower than it could be, so that more names have room
};

/// The picture inside `area`; `above`: the height needed above the ribbon's end. A given scale holds, or the
/// picture does not fit.
Layout lay_out(const Poster& poster, const viz::Rect& area, float above, const viz::Style& style,
               std::optional<double> scale = {});

/// Gives a strand its line: around the left of a token's ribbon, at `at`.
void make_loop(Strand& strand, viz::Point at, const viz::Style& style);
/// From its first end to its last, level at `y` between two turns of inner radius `turn`, or as a stub.
void make_way(Strand& strand, float y, float turn, bool stub, const viz::Style& style);
/// Whether a strand's lines are in a rectangle.
bool crosses(const Strand& strand, const viz::Rect& rect);
/// The area that a strand covers.
float area_of(const Strand& strand);

/// A contribution as the drawing writes it: "+0.28", "−0.11".
std::string signed_words(double value);

}  // namespace headscope::app::flow_picture
