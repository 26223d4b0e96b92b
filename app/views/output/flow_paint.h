#pragma once
#include "app/run/analyses/logit_flow.h"
#include "app/views/output/flow_layout.h"
#include "app/views/view.h"
#include "viz/scene/scale.h"

// Painting a flow whose layout is known, and what its widths, colours and dashes show.
namespace headscope::app::flow_picture {

enum class RibbonColor { token, top };

/// A bar of the next token.
struct GuessBar {
  int id = 0;
  std::string label;
  double probability = 0;
  bool chosen = false;
};

/// What the ribbons' colours show. `lens` null: not known yet.
struct Confidence {
  const FlowLens* lens = nullptr;
  RibbonColor of = RibbonColor::token;
  std::vector<int> rows = {};  ///< [columns], each column's row in the lens
  double high = 1;             ///< end of the colour scale, for the target's ribbon and its best guess
  double most = 0;             ///< the largest probability of all ribbons, which may be above that

  /// The probability at the input of a layer; `layers`: at the end.
  double at(int column, int layer) const;
};
/// With the end of the scale that the columns need.
Confidence confidence_of(const FlowLens* lens, RibbonColor of, const Graph& graph);
viz::ColorScale scale_of(const Confidence& confidence);

/// Roles of regions. stream: id: column * (layers + 1) + layer. mlp: id: column * layers + layer. edge: id:
/// index in the graph. rest: id: layer. token: id: position. guess: id: token id.
enum Role { kStream, kMlp, kToken, kRest, kEdge, kGuess };

viz::Color edge_color(const ViewContext& context, bool negative);
viz::Color rest_color(const ViewContext& context);
viz::Color wedge_color(const ViewContext& context, bool negative);  ///< of what an MLP adds or takes away

void paint_flow(Picture& picture, const ViewContext& context, const Poster& poster, const Layout& layout,
                const Confidence& confidence);
/// The bars above the end of the target's ribbon, best first; `scale`: logical pixels for a probability of 1.
void paint_guesses(Picture& picture, const ViewContext& context, const Layout& layout, int target,
                   const std::vector<GuessBar>& bars, double scale, const Confidence& confidence);
/// The largest scale of bars that leaves room for the guesses' names.
double scale_of_bars(const ViewContext& context, const Layout& layout, const Graph& graph,
                     const std::vector<GuessBar>& bars);
/// Takes regions away of which later ones, painted over them, leave nothing.
void drop_covered_regions(std::vector<viz::Region>& regions);
/// Height that the bars need.
float guesses_height(const ViewContext& context, int bars);
/// Paints one strand in one colour, as for the overlay of an edge under the mouse.
void paint_strand(viz::Scene& scene, const ViewContext& context, const Strand& strand, viz::Color color);

/// Its entries, distributed over lines of text.
struct Legend {
  enum class Sample { none, width, thinnest, adds, takes, mlp, rest, stub, scale };
  struct Entry {
    Sample sample = Sample::none;
    std::string words;
    bool needed = false;   ///< in a pane with little room, too
    bool follows = false;  ///< on the line of the entry before it, if a line has room for both
  };
  std::vector<Entry> entries;
  viz::ColorScale scale;                ///< of the ribbons
  double least = 0;                     ///< what the thinnest edge stands for
  std::vector<std::vector<int>> lines;  ///< indices of entries

  /// Distributes the entries over lines of this width; `brief`: only those that a pane needs.
  void wrap(float width, const viz::Style& style, bool brief = false);
};

float legend_height(const Legend& legend, const viz::Style& style);
/// `scale`: logical pixels for a logit of 1.
void paint_legend(Picture& picture, const ViewContext& context, const Legend& legend, double scale,
                  viz::Point top_left);

}  // namespace headscope::app::flow_picture
