#pragma once
#include <span>
#include <string>
#include <vector>

#include "app/views/view.h"
#include "viz/scene/scale.h"

// Vectors of the model one under the other, each a strip with a line of words above it.
namespace headscope::app {

struct NamedStrip {
  int id = 0;  ///< of its region, which has a column for each component
  std::string name;
  std::string shape;   ///< beside it
  std::string detail;  ///< muted, where it has room
  viz::Color color;    ///< of the name
  std::span<const float> values;
  viz::ColorScale scale;
  int parts = 1;                         ///< equal pieces that it is cut into
  int chosen = -1;                       ///< piece with a frame of its own
  std::vector<viz::Color> framing = {};  ///< a frame for each piece; empty: none
};

/// "[2,304]"
std::string shape_of(std::size_t n);
/// "[12 heads × 64]"
std::string shape_in_heads(const model::Config& config);

/// Both ways from zero. A few outliers, which would leave the rest without colour, lie beyond its ends.
viz::ColorScale strip_scale(std::span<const float> values);

/// Where strips of one height stand.
struct StripStack {
  viz::Rect area;
  float words = 0, strip = 0, gap = 0;  ///< heights of a line of words, of the strip under it, below that
  float step() const { return words + strip + gap; }
  float bottom(int strips) const { return area.y + static_cast<float>(strips) * step() - gap; }
  viz::Rect rect(int strip_number) const {
    return {area.x, area.y + static_cast<float>(strip_number) * step() + words, area.w, strip};
  }
};
/// Fills the area's height up to a readable size.
StripStack stack_strips(const ViewContext& context, viz::Rect area, int strips);
/// Below it strips are too low to be read.
float least_strip_step(const ViewContext& context);

/// The picture is not whole where there is no room for the words that belong to it.
void paint_named_strip(Picture& picture, const ViewContext& context, const StripStack& stack, int number,
                       const NamedStrip& strip, int role);

/// Frames the component under the mouse and, where there are several, its piece.
void paint_hovered_component(viz::Scene& overlay, const ViewContext& context, const viz::Region& region,
                             int component, int parts);

}  // namespace headscope::app
