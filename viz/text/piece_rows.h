#pragma once
#include <string>
#include <vector>

#include "viz/scene/picture.h"

namespace headscope::viz {

/// A piece of something built step by step.
struct Piece {
  int start = 0;   ///< in units from the left
  int length = 1;  ///< in units
  std::string label;
  bool made = false;  ///< by this row's step
};

/// The pieces after a step.
struct PieceRow {
  std::vector<Piece> pieces;
  std::string number;  ///< right of the pieces, numbers below each other
  std::string note;    ///< after it, muted; omitted when it does not fit
};

/// Something built step by step: a row for each step, with each piece below those it was made from.
struct PieceRows {
  std::vector<PieceRow> rows;
  int units = 1;  ///< that all pieces of a row span
  std::string number_title;
  Color made;    ///< of pieces that a step made
  int role = 0;  ///< of the regions, one per row: id: the row, a column for each unit
};

float piece_rows_height(std::size_t rows, const Style& style);

/// Draws as many rows as fit into `area`, from the first on, and says how many do not. The picture is not
/// whole if rows are left out or a label is truncated.
void paint_piece_rows(Picture& picture, const PieceRows& pieces, Rect area, const Style& style);

}  // namespace headscope::viz
