#pragma once
#include <optional>
#include <span>
#include <vector>

#include "viz/scene/pixel_grid.h"

namespace headscope::viz {

/// Coverage per pixel of the union of stroked lines: it does not get darker where lines overlap or join. A
/// single line is covered exactly; joins are round, ends square. Pixels are stored in tiles, so that areas
/// without lines cost nothing.
class StrokeMask {
 public:
  StrokeMask(int width, int height);

  /// Adds lines between successive points, with joins.
  void add_polyline(std::span<const Point> points, float width, const PixelRect& clip);

  /// Calls `paint(x, y, coverage in 0..1)` for each covered pixel and clears the mask.
  template <class Paint>
  void flush(Paint&& paint) {
    for (const int tile : touched_) {
      const int x0 = tile % tiles_across_ * kTile, y0 = tile / tiles_across_ * kTile;
      float* cells = &coverage_[static_cast<std::size_t>(tile) * kTile * kTile];
      for (int i = 0; i < kTile * kTile; ++i) {
        if (cells[i] > 0) paint(x0 + i % kTile, y0 + i / kTile, cells[i]);
        cells[i] = 0;
      }
      is_touched_[tile] = false;
    }
    touched_.clear();
  }

 private:
  static constexpr int kTile = 32;
  struct Line {
    Point a;
    Point b;
    float width = 1;
    std::optional<Point> before;  ///< start of the line that ends at a
    std::optional<Point> after;   ///< end of the line that starts at b
  };
  void add_line(const Line& line, const PixelRect& clip);
  void cover_pixel(int x, int y, float coverage);

  int width_;
  int height_;
  int tiles_across_;
  std::vector<float> coverage_;  ///< tile after tile
  std::vector<bool> is_touched_;
  std::vector<int> touched_;
};

}  // namespace headscope::viz
