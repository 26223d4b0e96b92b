#pragma once
#include <string>
#include <vector>

#include "app/views/view.h"
#include "viz/scene/scale.h"

// What widths, colours and dashes of a flow show.
namespace headscope::app::flow_picture {

/// Its entries in lines of text.
struct Legend {
  enum Entry { kWidth, kAdds, kTakes, kRestEntry, kScale, kEdgesEntry, kFixedEntry };
  viz::ColorScale scale;  ///< of the ribbons
  std::string scale_title;
  std::string edges;  ///< how many edges are drawn
  std::string fixed;  ///< what is held fixed; empty: the title says it
  std::vector<std::vector<Entry>> lines;

  /// Distributes the entries over lines of this width; `brief`: only those that a pane needs.
  void wrap(float width, const viz::Style& style, bool brief = false);
};

float legend_height(const Legend& legend, const viz::Style& style);
/// `scale`: logical pixels for a logit of 1.
void paint_legend(Picture& picture, const ViewContext& context, const Legend& legend, double scale,
                  viz::Point top_left);

}  // namespace headscope::app::flow_picture
