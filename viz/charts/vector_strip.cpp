#include "viz/charts/vector_strip.h"

#include <algorithm>

namespace headscope::viz {

Region paint_vector_strip(Picture& picture, const VectorStrip& strip, Rect rect, const Style& style) {
  Region grid = Region::grid(strip.role, strip.id, rect, 1, static_cast<int>(strip.values.size()));
  HeatmapCells cells;
  cells.matrix = Matrix::row(strip.values);
  cells.scale = strip.scale;
  cells.masked = strip.masked;
  if (std::ranges::find(strip.masked, 1) != strip.masked.end()) {
    paint_cells(picture.scene, cells, grid, style);
  } else {
    picture.scene.add(heatmap_image(cells, grid, style));
    picture.scene.add(StrokeRect{rect, style.theme.line, 1});
  }
  grid.first_row = strip.row;
  grid.row_count = strip.row + 1;
  return picture.regions.emplace_back(grid);
}

}  // namespace headscope::viz
