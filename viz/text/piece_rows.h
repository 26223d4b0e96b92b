#pragma once
#include <string>
#include <vector>

#include "viz/scene/picture.h"

namespace headscope::viz {

/// A piece of something that is built step by step.
struct Piece {
  int start = 0;   ///< in units from the left
  int length = 1;  ///< in units
  std::string label;
  bool made = false;  ///< created by this row's step
};

/// All pieces after a step.
struct PieceRow {
  std::vector<Piece> pieces;
  std::string number;  ///< to the right of the pieces, aligned in a column
  std::string note;    ///< after the number, muted; omitted if it does not fit
};

/// Something built step by step: one row per step, with each piece below those it was made from.
struct PieceRows {
  std::vector<PieceRow> rows;
  int units = 1;  ///< width of every row
  std::string number_title;
  Color made;    ///< colour of pieces created by a step
  int role = 0;  ///< role of the regions, one per row: id: the row, a column for each unit
};

float piece_rows_height(std::size_t rows, const Style& style);

/// Draws as many rows as fit into `area`, from the first on, and notes how many do not. The picture is not
/// whole if rows are left out or a label is truncated.
void paint_piece_rows(Picture& picture, const PieceRows& pieces, Rect area, const Style& style);

}  // namespace headscope::viz
