#pragma once
#include <string>
#include <vector>

#include "app/views/view.h"
#include "viz/scene/scale.h"

// What widths, colours and dashes of a flow show.
namespace headscope::app::flow_picture {

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
