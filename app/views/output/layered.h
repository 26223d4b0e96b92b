#pragma once
#include "app/views/content.h"

// What drawings of the model's layers share: lines as wide as what they stand for, and what is at a point.
namespace headscope::app::layered {

struct Line {
  std::vector<viz::Point> points;
  float width = 1;
  bool negative = false;  ///< dashed: takes away
};
std::vector<float> dashes_of_negative(float width, float unit);
/// What a line stands for.
inline Swatch line_swatch(std::string words, viz::Color color, float width, std::vector<float> dashes = {}) {
  return {std::move(words), color, {0, 0, 0, 0}, width, std::move(dashes)};
}

/// What has a place in a drawing: lines, or a rectangle.
struct Shape {
  std::vector<Line> lines = {};
  viz::Rect rect = {};
  Ref ref = {};  ///< what it is about
};
void paint_lines(viz::Scene& scene, const Shape& shape, viz::Color color, const ViewContext& context);
/// From a line, up to `most`; inside a rectangle `most`, since lines are hard to hit; else infinite.
float distance(const Shape& shape, viz::Point at, float most);
/// The nearest shape that is at most `reach` away, of several the last; -1: none.
template <class Shapes>
int shape_at(const Shapes& shapes, viz::Point at, float reach) {
  int found = -1;
  for (int i = 0; i < std::ssize(shapes); ++i)
    if (const float away = distance(shapes[i], at, reach); away <= reach) found = i, reach = away;
  return found;
}

/// A region of cells so small that a cell is a point of the drawing.
viz::Region region_of_points(int role, viz::Rect area);

}  // namespace headscope::app::layered
