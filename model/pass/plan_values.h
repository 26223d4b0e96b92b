#pragma once
#include <limits>

#include "model/pass/each_kind.h"
#include "model/pass/plan.h"

/// What applying edits and their derivatives share: which values of an activation an edit is about.
namespace headscope::model {

constexpr float kHidden = -std::numeric_limits<float>::infinity();  ///< the score of a masked key

/// Whether a piece holds all heads side by side, as for q, k, v and z. For scores, patterns and results it
/// holds one.
inline bool holds_all_heads(Site site) {
  return has_heads(site) && !has_cells(site) && site != Site::result;
}

template <class Body>
void Plan::for_each_cell(const SetCells& set, const Activation2d& piece, const Body& body) const {
  for (const CellValue& cell : set.cells) {
    if (cell.key >= piece.cols) continue;
    if (cell.query != CellValue::kAllQueries) {
      const int row = cell.query - piece.first_pos;
      if (row >= 0 && row < piece.rows) body(row, cell);
      continue;
    }
    for (int row = 0; row < piece.rows; ++row)
      if (sees(piece.point.layer, piece.head, piece.first_pos + row, cell.key)) body(row, cell);
  }
}

/// Calls body(position, head, unit, index of the value, value) for the part of the piece that lies in the
/// place: `unit` counts in the activation, the index in the place's list. For scores and patterns the unit is
/// the key, the index is 0, and only keys that the query sees are visited.
template <class Body>
void Plan::for_each_value(std::size_t op, const EditSite& at, const Activation2d& piece,
                          const Body& body) const {
  const Site site = piece.point.site;
  const bool all_heads = holds_all_heads(site), cells = has_cells(site);
  if (!all_heads && at.head && *at.head != piece.head) return;
  const int width = all_heads ? config_.d_head() : piece.cols;
  const int first_head = all_heads ? at.head.value_or(0) : piece.head;
  const int heads = all_heads && !at.head ? config_.n_head : 1;
  for (int i = 0; i < piece.rows; ++i) {
    const int position = piece.first_pos + i;
    if (!is_in(op, position)) continue;
    for (int head = first_head; head < first_head + heads; ++head) {
      float* values = piece.row(i).data() + (all_heads ? head * width : 0);
      if (cells) {
        for (int key = 0; key < width; ++key)
          if (sees(piece.point.layer, head, position, key)) body(position, head, key, 0, values[key]);
      } else if (at.units.empty()) {
        for (int j = 0; j < width; ++j)
          body(position, head, piece.first_col + j, piece.first_col + j, values[j]);
      } else {
        for (int k = 0; k < std::ssize(at.units); ++k) {
          const int unit = at.units[k], j = unit - piece.first_col;
          if (j >= 0 && j < width) body(position, head, unit, k, values[j]);
        }
      }
    }
  }
}

}  // namespace headscope::model
