#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "viz/scene/geometry.h"

namespace headscope::viz {

/// Triangles with an opacity at each corner, for graphics cards. Indices count from the mesh's first vertex.
struct Mesh {
  struct Vertex {
    Point at;
    float opacity = 0;
  };
  std::vector<Vertex> vertices;
  std::vector<std::uint32_t> indices;  ///< three each

  /// Empties it and keeps its memory.
  void clear() {
    vertices.clear();
    indices.clear();
  }
};

/// Adds a line through the points, in device pixels, with soft edges one pixel wide, as triangles that match
/// the coverage of StrokeMask. Gentle joins are mitred, sharp ones round, ends square. Points must be finite,
/// and different from the previous one.
void add_stroke(Mesh& mesh, std::span<const Point> points, float width);

/// Adds a convex polygon, in device pixels, with soft edges one pixel wide. Points must be finite, in either
/// direction, and different from the previous one, the first from the last.
void add_convex(Mesh& mesh, std::span<const Point> corners);

/// Adds the outline of a rounded rectangle to a list of points, clockwise from the right end of its upper
/// side.
void add_round_rect(std::vector<Point>& points, const Rect& rect, float radius);

}  // namespace headscope::viz
