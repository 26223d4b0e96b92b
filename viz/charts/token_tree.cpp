#include "viz/charts/token_tree.h"

#include <algorithm>
#include <cmath>

namespace headscope::viz {
namespace {

constexpr int kCurvePoints = 12;

float box_height(const Style& style) {
  return std::round(1.6F * style.font_size);
}
float token_gap(const Style& style) {  // between a word and the following ones
  return 8 * style.unit();
}

/// The connector from a word to a following one: right, then down.
Polyline connector(Point from, Point to, const TreeNode& node) {
  Polyline line{{}, node.line, node.line_width};
  if (std::abs(from.y - to.y) < 0.5F) {
    line.points = {from, to};
    return line;
  }
  for (int i = 0; i <= kCurvePoints; ++i) {
    const float t = static_cast<float>(i) / kCurvePoints, s = eased(t);
    line.points.push_back({from.x + t * (to.x - from.x), from.y + s * (to.y - from.y)});
  }
  return line;
}

}  // namespace

float tree_row_height(const Style& style) {
  return box_height(style) + 1.5F * style.unit();
}

TreeLayout lay_out_tree(const TokenTree& tree, const Style& style) {
  const int count = static_cast<int>(tree.nodes.size());
  TreeLayout layout;
  layout.rows.resize(count);
  layout.boxes.resize(count);
  layout.starts.resize(count);
  std::vector<std::vector<int>> children(count);
  for (int i = 1; i < count; ++i) children[tree.nodes[i].parent].push_back(i);
  const float pitch = tree_row_height(style), u = style.unit();
  std::vector<int> next(count > 0 ? 1 : 0, 0);  // a stack instead of recursion, because a text may be long
  std::vector<float> number_width(count);       // width of the numbers of a node's children
  for (int i = 1; i < count; ++i) {
    float& widest = number_width[tree.nodes[i].parent];
    if (!tree.nodes[i].number.empty())
      widest = std::max(widest, style.width(tree.nodes[i].number, style.small()) + 1.5F * u);
  }
  while (!next.empty()) {
    const int i = next.back();
    next.pop_back();
    const TreeNode& node = tree.nodes[i];
    float x = 0;
    if (node.parent >= 0) {
      const bool first = children[node.parent].front() == i;
      layout.rows[i] = first ? layout.rows[node.parent] : layout.row_count++;
      x = layout.boxes[node.parent].right() + token_gap(style) + number_width[node.parent];
    } else {
      layout.rows[i] = layout.row_count++;
    }
    const float width = std::min(tree.widest, style.width(node.label, style.font_size)) + 3 * u;
    layout.boxes[i] = {x, static_cast<float>(layout.rows[i]) * pitch, width, box_height(style)};
    layout.starts[i] = node.parent < 0 ? x : x - number_width[node.parent] - u;
    layout.width = std::max(layout.width, layout.boxes[i].right());
    // Pushed in reverse, so that the first child's texts come before the second's.
    next.insert(next.end(), children[i].rbegin(), children[i].rend());
  }
  layout.height = static_cast<float>(layout.row_count) * pitch;
  return layout;
}

void paint_tree(Picture& picture, const TokenTree& tree, const TreeLayout& layout, Point origin, Rect area,
                const Style& style) {
  Scene& scene = picture.scene;
  const float u = style.unit();
  const auto moved = [&](Rect box) { return Rect{box.x + origin.x, box.y + origin.y, box.w, box.h}; };
  // Truncated text would be misread.
  const auto inside = [&](float from, float to) {
    return from >= area.x - 0.5F && to <= area.right() + 0.5F;
  };
  const auto is_left_out = [&](const Rect& box) { return tree.only_whole && !inside(box.x, box.right()); };
  scene.add(PushClip{area});
  for (int i = static_cast<int>(tree.nodes.size());
       i-- > 1;) {  // later ones first, so that earlier ones are drawn over them
    const TreeNode& node = tree.nodes[i];
    const Rect parent = moved(layout.boxes[node.parent]), box = moved(layout.boxes[i]);
    if (is_left_out(box)) continue;
    const float start = layout.starts[i] + origin.x;
    const Rect between{parent.right(), parent.y, box.x - parent.right(), box.bottom() - parent.y};
    if (!between.overlaps(area)) continue;
    scene.add(connector({parent.right(), parent.center().y}, {std::min(start, box.x), box.center().y}, node));
  }
  for (int i = 0; i < std::ssize(tree.nodes); ++i) {
    const TreeNode& node = tree.nodes[i];
    const Rect box = moved(layout.boxes[i]);
    const float number = node.number.empty() ? 0 : style.width(node.number, style.small());
    const float number_x = layout.boxes[i].x - u + origin.x;  // its right end
    const Rect words{number_x - number, box.y, box.right() - number_x + number, box.h};
    if (!words.overlaps(area) || is_left_out(box)) continue;
    if (number > 0 && inside(number_x - number, number_x))
      add_muted(scene, style, node.number, {number_x, box.center().y}, Align::right);
    if (node.fill.a > 0) scene.add(FillRect{box, node.fill, u});
    if (node.outline.a > 0) scene.add(StrokeRect{box.inset(0.5F), node.outline, 1, u});
    const float left = std::max(box.x, area.x), right = std::min(box.right(), area.right());
    if (right - left >= 2 * style.font_size || inside(box.x, box.right()))
      add_label(scene, style, node.label, {(left + right) / 2, box.center().y}, style.font_size, node.text,
                FontStyle::regular, Align::center, right - left - 2 * u);
    if (!box.overlaps(area)) continue;
    const float top = std::max(box.y, area.y);
    picture.regions.push_back(
        {tree.role, i, {left, top, right - left, std::min(box.bottom(), area.bottom()) - top}});
  }
  scene.add(PopClip{});
}

}  // namespace headscope::viz
