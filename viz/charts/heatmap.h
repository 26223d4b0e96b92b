#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "viz/charts/axis.h"
#include "viz/scene/matrix.h"
#include "viz/scene/scale.h"

namespace headscope::viz {

/// How several cells under one pixel are combined: the one of largest magnitude, so that nothing rare is
/// lost; or their area-weighted mean, where otherwise signs would decide at random.
enum class Pooling { strongest, mean };

/// A matrix and how its values become colours.
struct HeatmapCells {
  Matrix matrix;
  ColorScale scale;
  bool masked_above_diagonal = false;  ///< cells with column > row are hatched, never coloured
  /// [rows, cols], 1: hatched, instead of the cells above the diagonal; empty: none.
  std::span<const std::uint8_t> masked;
  int outside_column = -1;  ///< drawn as out of range
  std::span<const float>
      row_factors;      ///< [rows], multiplied into each row before it is coloured; empty: none
  bool hatched = true;  ///< false: masked cells stay blank, for maps too small to hatch
  Pooling pooling = Pooling::strongest;

  bool is_masked(int row, int col) const {
    if (masked.empty()) return masked_above_diagonal && col > row;
    return masked[std::ptrdiff_t{row} * matrix.cols + col] != 0;
  }
  float factor(int row) const { return row_factors.empty() ? 1 : row_factors[row]; }
};

/// The colour of `outside_column`; it is in no colour map.
Color outside_color(const Theme& theme);

/// The part of the matrix shown by `grid`, as an image with one pixel per cell, or if cells are smaller than
/// a device pixel, one per device pixel, pooled by `pooling`. Masked cells are transparent.
Image heatmap_image(const HeatmapCells& cells, const Region& grid, const Style& style);

/// Cells per pixel of the grid's image, down and across; 1: not pooled.
struct PooledCells {
  double rows = 1;
  double cols = 1;
};
PooledCells pooled_cells(const Region& grid, const Style& style);

/// "each cell: the largest of up to 4 × 4", or shorter if `width` is too small; empty if no cells are pooled.
std::string pooling_words(Pooling pooling, const PooledCells& cells, float width, const Style& style);

/// Draws hatching, image, thin gaps between large cells, and a frame, inside grid.rect.
void paint_cells(Scene& scene, const HeatmapCells& cells, const Region& grid, const Style& style);

/// Draws each value in its cell if cells are large enough to read them, else those beyond the scale that fit.
void paint_cell_values(Scene& scene, const HeatmapCells& cells, const Region& grid, const Style& style);

/// A grid of rows x cols in `area`, with whole device pixels if that costs little room; shows `shown`, or
/// all. `stretch`: the largest ratio of a cell's sides, 1 for square cells; 0: any.
Region fit_grid(Rect area, int rows, int cols, ShownCells shown, float stretch, const Style& style);

/// A complete heatmap: labels, cells, scale.
struct Heatmap {
  HeatmapCells cells;
  AxisLabels rows;
  AxisLabels cols;
  std::string scale_title;
  bool show_scale = true;
  bool saves_width = false;     ///< the scale is a line under the grid where that makes the grid much larger
  float least_scale_width = 0;  ///< so that maps side by side are aligned
  /// Room for labels shared by several maps, already reserved for the scale, too; none: as needed.
  std::optional<LabelRoom> row_room, col_room;
  std::string outside_text;  ///< legend of `outside_column`
  int framed_row = -1;
  Color frame;
  int framed_col = -1;  ///< column in framed_row whose cell has its own frame
  Color cell_frame;
  ShownCells shown;
  float stretch = 1;  ///< the largest ratio of a cell's sides; 0: any
  bool cell_values = true;
  bool centered = true;       ///< in its area; else at its left
  bool says_pooling = false;  ///< also in a low area
  int role = 0;               ///< role of the region
  int id = 0;
};

/// Draws into `area` and returns the grid, which is also added to the picture's regions. Labels and scale are
/// left out if the area is small; the picture is not whole then. In a narrow area the scale is a line under
/// the grid. A note under the grid says how cells are pooled.
Region paint_heatmap(Picture& picture, const Heatmap& heatmap, Rect area, const Style& style);

/// Draws bands over a grid's row and column up to the cell, and a frame around it, for the cell under the
/// mouse. The cell itself keeps its colour.
void paint_crosshair(Scene& scene, const Region& grid, int row, int col, Color row_color, Color col_color,
                     const Style& style);

/// A vector as a row of coloured cells over `rect`. The region has a column for each component; role, id and
/// the row (which tells vectors of one id apart) are the caller's. The region is also added to the picture.
struct VectorStrip {
  std::span<const float> values;
  ColorScale scale;
  int role = 0;
  int id = 0;
  int row = 0;
  std::span<const std::uint8_t> masked =
      {};  ///< as long as the values: 1 for a hatched component without a value; empty: all have one
};
Region paint_vector_strip(Picture& picture, const VectorStrip& strip, Rect rect, const Style& style);

}  // namespace headscope::viz
