#pragma once
#include <array>
#include <span>
#include <string>
#include <vector>

#include "viz/scene/picture.h"

namespace headscope::viz {

/// A point of space, or a direction in it.
using Point3 = std::array<double, 3>;

/// The view of a three-dimensional picture: rotated about the vertical third axis, then tilted towards the
/// viewer. Parallel projection.
struct Camera {
  double turn = 0;  ///< degrees; 0: the first axis points to the right
  double tilt = 0;  ///< degrees; 0: from the side, 90: from above
};

/// Transforms a point: x to the right, y up, z towards the viewer.
Point3 seen(const Point3& point, const Camera& camera);

/// A path through three-dimensional points in a box.
struct Path3 {
  std::vector<Point3> points;
  std::vector<Color> colors;  ///< [points]: colour of the segment after each point
  std::vector<int> labelled;  ///< indices of points labelled with their number if there is room, by priority
  std::array<double, 3> low{};  ///< limits of the box
  std::array<double, 3> high{};
  std::array<std::string, 3> titles;  ///< titles of the box's axes
  Camera camera;
  int role = 0;  ///< role of the region: a cell for each pixel, so that a hit tells where it is
  int id = 0;
};

/// The projections of a path's points into `area`. The box has the same size for any rotation.
std::vector<Point> projected(const Path3& path, Rect area);

/// The point nearest to `place`, if one is within `reach` pixels; -1: none.
int nearest_point(std::span<const Point> points, Point place, float reach);

/// Draws the box with its axes' names and limits, and the path, farther parts first; numbers of points are
/// next to the path. A name that would cover another is left out; then the picture is not whole. Returns the
/// region, which is also added.
Region paint_path(Picture& picture, const Path3& path, Rect area, const Style& style);

}  // namespace headscope::viz
