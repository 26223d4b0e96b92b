#pragma once
#include <span>
#include <string>
#include <vector>

#include "viz/charts/axis.h"
#include "viz/scene/picture.h"

namespace headscope::viz {

/// A line that leads from one item to another.
struct Link {
  int from = 0;
  int to = 0;  ///< may be the same: a loop
  int series = 0;
  float weight = 0;
  bool operator==(const Link&) const = default;
};

/// Lines of one colour.
struct LinkSeries {
  std::string name;
  Color color;
};

/// Items that lines join: in two columns, or as a directed graph in one row with arcs above it.
struct LinkChart {
  enum class Arrangement { columns, arcs };
  Arrangement arrangement = Arrangement::columns;
  AxisLabels from, to;  ///< of the columns' items; a row has those of `from` alone
  std::vector<LinkSeries> series;
  std::vector<Link> links;  ///< lightest first: the heaviest are painted last
  double full = 1;          ///< the weight that gets the widest line
  int marked_from = -1;     ///< items that are chosen: a dot in their axis' colour
  int marked_to = -1;
  std::string note;      ///< under the drawing: which lines there are
  bool centered = true;  ///< in its area; else at its left
  int from_role = 0;     ///< of the regions: a row (of arcs a column) for each item
  int to_role = 0;
};

/// Where everything stands.
struct LinkLayout {
  Rect area;
  Rect drawing;     ///< between the items: what the lines lie in
  Region from, to;  ///< of the items, their labels included; of arcs `from` alone
  LabelRoom from_room, to_room;
  bool legend = false;
  bool note = false;
  bool fits = true;  ///< false: there is no room to draw in
};

LinkLayout lay_out_links(const LinkChart& chart, Rect area, const Style& style);

/// Names of series, items, lines, and what widths mean. The picture is not whole where something of it has no
/// room.
void paint_links(Picture& picture, const LinkChart& chart, const LinkLayout& layout, const Style& style);

/// Some lines alone, as `paint_links` has them; the chart's own links do not matter.
void paint_link_lines(Scene& scene, const LinkChart& chart, std::span<const Link> links,
                      const LinkLayout& layout, const Style& style);

}  // namespace headscope::viz
