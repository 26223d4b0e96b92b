#include "viz/charts/small_multiples.h"

#include <algorithm>
#include <cmath>

namespace headscope::viz {

Rect TileGrid::tile_rect(int row, int col) const {
  return {area.x + static_cast<float>(col - first_col) * pitch(),
          area.y + static_cast<float>(row - first_row) * pitch(), tile, tile};
}

bool TileGrid::is_visible(int row, int col) const {
  const Rect r = tile_rect(row, col);
  return r.right() > area.x && r.x < area.right() && r.bottom() > area.y && r.y < area.bottom();
}

float TileGrid::width() const {
  return std::min(area.w, static_cast<float>(cols) * pitch() - gap);
}
float TileGrid::height() const {
  return std::min(area.h, static_cast<float>(rows) * pitch() - gap);
}

static double shown(float room, float pitch, int count) {
  constexpr double kRounding = 1e-3;
  const double fit = static_cast<double>(room / pitch);
  return fit + kRounding >= count ? count : fit;
}
double TileGrid::rows_shown() const {
  return shown(area.h + gap, pitch(), rows);
}
double TileGrid::cols_shown() const {
  return shown(area.w + gap, pitch(), cols);
}

TileGrid fit_tiles(Rect area, int rows, int cols, double zoom, double first_row, double first_col,
                   const Style& style) {
  TileGrid grid;
  grid.rows = rows;
  grid.cols = cols;
  grid.area = area;
  const float fitting = std::min(area.w / static_cast<float>(std::max(1, cols)),
                                 area.h / static_cast<float>(std::max(1, rows)));
  const float pitch = std::max(3.F, fitting * static_cast<float>(std::max(1.0, zoom)));
  grid.gap = pitch >= 40 ? style.unit() : pitch >= 14 ? style.unit() / 2 : 1;
  // The last tile has no gap after it, so distribute that gap over all tiles.
  const float whole =
      std::floor((pitch + grid.gap / static_cast<float>(std::max(rows, cols))) * style.device_scale) /
      style.device_scale;
  grid.tile = std::max(2.F, whole - grid.gap);
  auto bounded = [&](double first, int count, float room) {
    return std::clamp(first, 0.0,
                      std::max(0.0, count - static_cast<double>((room + grid.gap) / grid.pitch())));
  };
  grid.first_row = bounded(first_row, rows, area.h);
  grid.first_col = bounded(first_col, cols, area.w);
  return grid;
}

}  // namespace headscope::viz
