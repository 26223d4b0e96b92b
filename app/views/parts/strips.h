#pragma once
#include "app/views/view.h"
#include "viz/scene/scale.h"

// Vectors of the model below each other, each as a strip with a line of text above it.
namespace headscope::app {

struct NamedStrip {
  int id = 0;  ///< id of its region, which has a column for each component
  std::string name;
  std::string shape;   ///< shown next to the name
  std::string detail;  ///< muted, if there is room
  viz::Color color;    ///< colour of the name
  std::span<const float> values;
  viz::ColorScale scale;
  int parts = 1;                         ///< number of equal pieces
  int chosen = -1;                       ///< the highlighted piece
  std::vector<viz::Color> framing = {};  ///< a frame for each piece; empty: none
};

/// "[2,304]"
std::string shape_of(std::size_t n);
/// "[12 heads × 64]"
std::string shape_in_heads(const model::Config& config);

/// Symmetric about zero. A few outliers, which would leave the rest without colour, lie beyond its ends.
viz::ColorScale strip_scale(std::span<const float> values);

/// The layout of strips of one height.
struct StripStack {
  viz::Rect area;
  float words = 0, strip = 0, gap = 0;  ///< heights of the text line, the strip below it, and the gap
  float step() const { return words + strip + gap; }
  float bottom(int strips) const { return area.y + static_cast<float>(strips) * step() - gap; }
  viz::Rect rect(int strip_number) const {
    return {area.x, area.y + static_cast<float>(strip_number) * step() + words, area.w, strip};
  }
};
/// Divides the area's height, up to a readable size.
StripStack stack_strips(const ViewContext& context, viz::Rect area, int strips);
/// The smallest height per strip that is readable.
float least_strip_step(const ViewContext& context);

/// Draws a strip. The picture is not whole if there is no room for the strip's text.
void paint_named_strip(Picture& picture, const ViewContext& context, const StripStack& stack, int number,
                       const NamedStrip& strip, int role);

/// Frames the component under the mouse and, where there are several, its piece.
void paint_hovered_component(viz::Scene& overlay, const ViewContext& context, const viz::Region& region,
                             int component, int parts);

/// A scale −m .. m for the components of vectors. m has two digits and exceeds all but 1 % of the values,
/// because a few dimensions of the residual stream are huge. Marks the ends beyond which there are values.
viz::ColorScale vector_scale(std::span<const float> values);

}  // namespace headscope::app
