#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "viz/charts/axis.h"
#include "viz/scene/matrix.h"
#include "viz/scene/scale.h"

namespace headscope::viz {

/// What a pixel shows that is smaller than the cells under it: the one of largest magnitude, so that nothing
/// rare is lost, or their mean, each counted by the part of it that lies under the pixel, where signs would
/// else decide at random.
enum class Pooling { strongest, mean };

/// A matrix and how its values become colours.
struct HeatmapCells {
  Matrix matrix;
  ColorScale scale;
  bool masked_above_diagonal = false;    ///< cells with column > row are hatched, never coloured
  std::span<const std::uint8_t> masked;  ///< [rows, cols], 1: hatched, in place of the diagonal; empty: none
  int outside_column = -1;               ///< drawn as outside of the scale
  std::span<const float>
      row_factors;      ///< [rows], multiplied into each row before it is coloured; empty: none
  bool hatched = true;  ///< else masked cells stay blank, for maps too small to hatch
  Pooling pooling = Pooling::strongest;
};

/// The colour of `outside_column`, in no map.
Color outside_color(const Theme& theme);

/// The part of the matrix that `grid` shows, as one image of a pixel a cell, or where cells are smaller than
/// a device pixel, of a device pixel each, which holds what `pooling` makes of the cells under it. Masked
/// cells are transparent.
Image heatmap_image(const HeatmapCells& cells, const Region& grid, const Style& style);

/// How many cells a pixel of the grid's image shows, down and across; 1 where they are not pooled.
struct PooledCells {
  double rows = 1;
  double cols = 1;
};
PooledCells pooled_cells(const Region& grid, const Style& style);

/// "each cell: the largest of 4 × 4", or without its beginning where `width` is less; nothing where no cells
/// are pooled.
std::string pooling_words(Pooling pooling, const PooledCells& cells, float width, const Style& style);

/// Hatching, image, thin gaps between large cells, and a frame, inside grid.rect.
void paint_cells(Scene& scene, const HeatmapCells& cells, const Region& grid, const Style& style);

/// Each value in its cell, when cells are large enough to read them; else nothing. Returns whether it did.
bool paint_cell_values(Scene& scene, const HeatmapCells& cells, const Region& grid, const Style& style);

/// A cell's size cut to whole device pixels, where at least the part `least` of it remains.
double whole_pixels(double size, double least, const Style& style);

/// A grid of rows x cols in `area`, its cells square if `square`, whole device pixels where that costs little
/// room; shows what `shown` says (in cells), or all.
struct ShownCells {
  double row = 0;
  double col = 0;
  double rows = 0;  ///< 0: all
  double cols = 0;
};
Region fit_grid(Rect area, int rows, int cols, ShownCells shown, bool square, const Style& style);

/// A whole figure: labels, cells, scale.
struct Heatmap {
  HeatmapCells cells;
  AxisLabels rows;
  AxisLabels cols;
  std::string scale_title;
  bool show_scale = true;
  float least_scale_width = 0;  ///< so that figures side by side line up
  /// Room for the labels where figures share them, which has been made for the scale, too; none: as they
  /// need.
  std::optional<LabelRoom> row_room, col_room;
  std::string outside_text;  ///< legend of `outside_column`
  int framed_row = -1;
  Color frame;
  int framed_col = -1;  ///< of framed_row: its cell has a frame of its own
  Color cell_frame;
  ShownCells shown;
  bool square = true;
  bool cell_values = true;
  bool centered = true;       ///< in its area; else at its left
  bool says_pooling = false;  ///< also where it is low
  int role = 0;               ///< of the region
  int id = 0;
};

/// Paints into `area` and returns the grid, which is also added to the picture's regions. Labels and scale
/// give way when the area is small, and the picture is not whole then. Says under the grid how cells are
/// pooled.
Region paint_heatmap(Picture& picture, const Heatmap& heatmap, Rect area, const Style& style);

/// Bands over a grid's row and column up to the cell, and a frame about it, for what the mouse points at. The
/// cell itself keeps its colour.
void paint_crosshair(Scene& scene, const Region& grid, int row, int col, Color row_color, Color col_color,
                     const Style& style);

}  // namespace headscope::viz
