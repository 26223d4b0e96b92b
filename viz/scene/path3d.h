#pragma once
#include <array>
#include <span>
#include <string>
#include <vector>

#include "viz/scene/picture.h"

namespace headscope::viz {

/// A point of space, or a direction in it.
using Point3 = std::array<double, 3>;

/// From where a picture in space is seen: turned about the upright third axis, then tilted towards the eye.
/// Parallel lines stay parallel.
struct Camera {
  double turn = 0;  ///< degrees; 0: the first axis points to the right
  double tilt = 0;  ///< degrees; 0: from the side, 90: from above
};

/// x to the right, y up, z towards the eye.
Point3 seen(const Point3& point, const Camera& camera);

/// A path through points of space in a box.
struct Path3 {
  std::vector<Point3> points;
  std::vector<Color> colors;  ///< [points], of the way on from each
  std::vector<int>
      labelled;  ///< points with their number next to them, where it has room; the first ones first
  std::array<double, 3> low{};  ///< the box
  std::array<double, 3> high{};
  std::array<std::string, 3> titles;  ///< of the box's axes
  Camera camera;
  int role = 0;  ///< of the region: a cell for each pixel, so that a hit tells where it is
  int id = 0;
};

/// Where a path's points lie in `area`, which the box fills, without changing its size as it turns.
std::vector<Point> projected(const Path3& path, Rect area);

/// The point nearest to a place, if one lies within `reach` pixels; -1: none.
int nearest_point(std::span<const Point> points, Point place, float reach);

/// Paints the box with the names of its axes and the ends of their numbers, and the path, what is further
/// away first; numbers of points stand next to the path, not on it. A name that would cover another is left
/// out, and the picture is not whole then. Returns the region, also added.
Region paint_path(Picture& picture, const Path3& path, Rect area, const Style& style);

}  // namespace headscope::viz
