#pragma once
#include <cstddef>
#include <cstdint>

#include "app/run/analyses/sweep.h"
#include "app/views/parts/list.h"
#include "app/views/view.h"

// The picture of a sweep: a grid of coloured cells, or for places without a second axis a list of bars.
namespace headscope::app {

/// The rows and columns of a sweep that is no list; its cells are those of the sweep, row by row.
struct SweepGrid {
  int rows = 0;
  int cols = 0;
  int rows_per_layer = 1;    ///< heads at positions: the heads of a layer
  bool by_position = false;  ///< columns are positions

  int layer(int row) const { return row / rows_per_layer; }
  int row(int layer, int head) const { return layer * rows_per_layer + (rows_per_layer > 1 ? head : 0); }
  int col(const SweepPlace& place) const {
    return by_position ? *place.position : place.is_mlp ? cols - 1 : *place.head;
  }
  std::size_t cell(int row, int col) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(cols) + static_cast<std::size_t>(col);
  }
  SweepPlace place(const SweepOf& question, int row, int col) const {
    return question.place_of(layer(row), row % rows_per_layer * cols + col);
  }
};

SweepGrid sweep_grid(const model::Config& config, const SweepOf& question);
/// The size of a figure of it.
viz::Point sweep_grid_size(const ViewContext& context, const SweepGrid& grid);

/// What such a grid shows.
struct SweptCells {
  const SweepOf& question;
  const Sweep& sweep;                      ///< which cells are computed
  std::span<const float> values;           ///< [rows, cols], in the unit in which they are shown
  std::vector<std::uint8_t> nothing = {};  ///< [rows, cols]: 1: there is no number
  std::vector<SweepPlace> applied = {};    ///< places whose edits are there already
};

/// Draws the grid with its axes and its scale, and returns the bottom of all that.
float paint_sweep_grid(Picture& picture, const ViewContext& context, const SweptCells& cells,
                       const viz::Rect& area, int role);

/// Roles of a sweep's regions. cell: of the grid, row: a layer, or a head at positions; col: a head, the MLP
/// or a position. row: of the list, its id is the row.
enum SweptRole { kSweptCell, kSweptRow };
extern const Option<int> kFirstSwept;  ///< first row shown
extern const ListRows kSweptRows;

/// The list of these cells; all arguments must outlive it.
List sweep_list(const ViewContext& context, const SweepOf& question, const Sweep& sweep,
                const std::vector<std::size_t>& cells);

/// The size of a figure that shows all of its rows.
viz::Point sweep_list_size(const ViewContext& context, const SweepOf& question);

}  // namespace headscope::app
