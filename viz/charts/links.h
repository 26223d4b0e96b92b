#pragma once
#include <span>
#include <vector>

#include "viz/charts/axis.h"
#include "viz/scene/picture.h"

namespace headscope::viz {

/// A line from one item to another.
struct Link {
  int from = 0;
  int to = 0;  ///< may be the same: a loop
  int series = 0;
  float weight = 0;
  bool operator==(const Link&) const = default;
};

/// Lines of one colour and one pattern of dashes.
struct LinkSeries {
  Color color;
  int dashes = 0;  ///< see dashes_of()
};

/// Items joined by lines: in two columns, or as a directed graph in one row with arcs above it.
struct LinkChart {
  enum class Arrangement { columns, arcs };
  Arrangement arrangement = Arrangement::columns;
  AxisLabels from, to;  ///< labels of the columns' items; arcs use only `from`
  std::vector<LinkSeries> series;
  std::vector<Link> links;  ///< lightest first: the heaviest are drawn last
  double full = 1;          ///< the weight that gets the widest line
  int marked_from = -1;     ///< chosen items: a dot in their axis' colour
  int marked_to = -1;
  bool centered = true;  ///< in its area; else at its left
  int from_role = 0;     ///< role of the regions: a row (for arcs a column) for each item
  int to_role = 0;
};

/// The layout.
struct LinkLayout {
  float left = 0;   ///< of the area
  Rect drawing;     ///< between the items: the lines' area
  Region from, to;  ///< regions of the items and their labels; arcs use only `from`
  LabelRoom from_room, to_room;
  bool fits = true;  ///< false: there is no room to draw in
};

LinkLayout lay_out_links(const LinkChart& chart, Rect area, const Style& style);

/// Draws items and lines. The picture is not whole if a label does not fit.
void paint_links(Picture& picture, const LinkChart& chart, const LinkLayout& layout, const Style& style);

/// Draws only some lines, as in `paint_links`; the chart's own links are ignored.
void paint_link_lines(Scene& scene, const LinkChart& chart, std::span<const Link> links,
                      const LinkLayout& layout, const Style& style);

/// The line of a weight, in one of the series' colours.
struct LinkStroke {
  float width = 1;
  Color color;
};
LinkStroke stroke_of(const LinkChart& chart, const LinkLayout& layout, double weight, Color color,
                     const Style& style);

}  // namespace headscope::viz
