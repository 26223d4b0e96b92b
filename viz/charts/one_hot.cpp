#include "viz/charts/one_hot.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "viz/charts/heatmap.h"

namespace headscope::viz {
namespace {

// In ems.
constexpr float kMatrix = 3.4F;  // height
constexpr float kStrip = 1.1F;
constexpr float kSign = 2;  // room for × and =
constexpr float kMaxBox = 22;

float line_height(const Style& style) {
  return style.line(style.small());
}

}  // namespace

float one_hot_height(const Style& style) {
  return kMatrix * style.font_size + style.unit() + 2 * line_height(style);
}

float one_hot_least_width(const OneHotProduct& p, const Style& style) {
  float widest = 4 * style.font_size;
  for (const std::string* name : {&p.hot_name, &p.matrix_name, &p.row_name})
    widest = std::max(widest, style.width(*name, style.small(), FontStyle::medium));
  for (const std::string* shape : {&p.hot_shape, &p.matrix_shape, &p.row_shape})
    widest = std::max(widest, style.width(*shape, style.small()));
  return std::ceil(3 * widest + 2 * kSign * style.font_size);
}

void paint_one_hot_product(Picture& picture, const OneHotProduct& p, Rect area, const Style& style) {
  const Theme& theme = style.theme;
  const float em = style.font_size, line = line_height(style);
  const float box_w = std::min(kMaxBox * em, std::floor((area.w - 2 * kSign * em) / 3)),
              step = box_w + kSign * em;
  const float middle = area.y + kMatrix * em / 2;
  const float part = (static_cast<float>(p.hot) + 0.5F) / static_cast<float>(std::max(1, p.rows));
  const std::array<Rect, 3> boxes{Rect{area.x, middle - kStrip * em / 2, box_w, kStrip * em},
                                  Rect{area.x + step, area.y, box_w, kMatrix * em},
                                  Rect{area.x + 2 * step, middle - kStrip * em / 2, box_w, kStrip * em}};
  const auto mark = [](float from, float size, float part_of, float least) {
    const float at = from + part_of * size;
    return std::pair{std::clamp(at - least / 2, from, from + size - least), least};
  };
  Scene& scene = picture.scene;

  scene.add(FillRect{boxes[0], theme.raised});
  const auto [hot_x, hot_w] =
      mark(boxes[0].x, box_w, part, std::max(3.F, box_w / static_cast<float>(std::max(1, p.rows))));
  scene.add(FillRect{{hot_x, boxes[0].y, hot_w, boxes[0].h}, p.color});
  scene.add(StrokeRect{boxes[0], theme.line, 1});
  const float above = boxes[0].y - line / 2 - 1;
  const float one_x = std::clamp(hot_x + hot_w / 2, boxes[0].x + em / 2, boxes[0].right() - em / 2);
  add_label(scene, style, "1", {one_x, above}, style.small(), p.color, FontStyle::medium, Align::center);
  // Zeros on both sides of the 1, if there is room.
  for (const auto& [from, to] : {std::pair{boxes[0].x, hot_x}, {hot_x + hot_w, boxes[0].right()}}) {
    if (to - from > 2 * em) add_muted(scene, style, "0", {(from + to) / 2, middle}, Align::center);
  }

  scene.add(FillRect{boxes[1], theme.raised});
  const auto [hot_y, hot_h] =
      mark(boxes[1].y, boxes[1].h, part, std::max(2.F, boxes[1].h / static_cast<float>(std::max(1, p.rows))));
  scene.add(FillRect{{boxes[1].x, hot_y, box_w, hot_h}, p.color});
  scene.add(StrokeRect{boxes[1], theme.line, 1});

  const Region grid = Region::grid(0, 0, boxes[2], 1, static_cast<int>(p.values.size()));
  HeatmapCells cells;
  cells.matrix = Matrix::row(p.values);
  cells.scale = p.scale;
  scene.add(heatmap_image(cells, grid, style));
  scene.add(StrokeRect{boxes[2], p.color, 1.5F});

  for (const auto& [sign, box] : {std::pair{"×", 1}, {"=", 2}}) {
    add_label(scene, style, sign, {boxes[box].x - kSign * em / 2, middle}, style.title(), theme.text,
              FontStyle::regular, Align::center);
  }
  const std::array<const std::string*, 3> names{&p.hot_name, &p.matrix_name, &p.row_name},
      shapes{&p.hot_shape, &p.matrix_shape, &p.row_shape};
  const float y = area.y + kMatrix * em + style.unit() + line / 2;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const float x = boxes[i].center().x;
    add_label(scene, style, *names[i], {x, y}, style.small(), theme.text, FontStyle::medium, Align::center,
              box_w + em);
    add_muted(scene, style, *shapes[i], {x, y + line}, Align::center, box_w + em);
  }
}

}  // namespace headscope::viz
