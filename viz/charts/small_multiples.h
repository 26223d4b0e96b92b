#pragma once
#include "viz/scene/picture.h"

namespace headscope::viz {

/// Square tiles of one size in rows and columns; together they may be larger than the area that shows them.
struct TileGrid {
  int rows = 0;
  int cols = 0;
  Rect area;       ///< the visible part
  float tile = 0;  ///< side
  float gap = 0;
  double first_row = 0;  ///< at the area's top
  double first_col = 0;

  float pitch() const { return tile + gap; }
  Rect tile_rect(int row, int col) const;
  bool is_visible(int row, int col) const;
  float width() const;  ///< width of the visible part of all columns
  float height() const;
  double rows_shown() const;  ///< all of them if they fit, but for rounding
  double cols_shown() const;
};

/// Tiles that fit `area` completely, enlarged by `zoom`; scrolled as requested, but not past the ends.
TileGrid fit_tiles(Rect area, int rows, int cols, double zoom, double first_row, double first_col,
                   const Style& style);

}  // namespace headscope::viz
