#pragma once
#include <array>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "viz/scene/pixel_grid.h"

namespace headscope::viz {

/// Coverage per pixel of the union of stroked lines: it does not get darker where lines overlap or join. A
/// single line is covered exactly; joins are round, ends square. Pixels are stored in tiles, of which only
/// those that lines touch are there.
class StrokeMask {
 public:
  StrokeMask(int width, int height);

  /// Adds lines between successive points, with joins.
  void add_polyline(std::span<const Point> points, float width, const PixelRect& clip);

  /// Calls `paint(x, y, coverage in 0..1)` for each covered pixel and clears the mask.
  template <class Paint>
  void flush(Paint&& paint) {
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      const int x0 = touched_[i] % tiles_across_ * kTile, y0 = touched_[i] / tiles_across_ * kTile;
      int at = 0;
      for (float& cell : tiles_[i]) {
        if (cell > 0) paint(x0 + at % kTile, y0 + at / kTile, cell);
        cell = 0;
        ++at;
      }
      slot_of_tile_[touched_[i]] = kNone;
    }
    touched_.clear();
  }

 private:
  static constexpr int kTile = 32;
  static constexpr int kNone = -1;
  using Tile = std::array<float, kTile * kTile>;
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
  std::vector<int> slot_of_tile_;  ///< where in tiles_ its pixels are; kNone: no line touches it
  std::vector<int> touched_;       ///< tiles by slot
  std::deque<Tile> tiles_;         ///< by slot; those behind the touched ones are clear, to be used again
};

}  // namespace headscope::viz
