#include <algorithm>

#include "app/views/view.h"

namespace headscope::app {

std::optional<viz::Rect> Landmark::find(const ViewContext& c, const Picture& picture) const {
  std::optional<viz::Rect> all;
  for (const viz::Region& region : picture.regions) {
    if (region.role != role || (id && region.id != id(c))) continue;
    const bool has_rows = region.row_count > 1;
    const Index &of_row = position && has_rows ? position : row,
                &of_col = position && !has_rows ? position : col;
    const int at_row = of_row ? of_row(c) : 0, at_col = of_col ? of_col(c) : 0;
    if (at_row < 0 || at_row >= region.row_count || at_col < 0 || at_col >= region.col_count) continue;
    // Out of sight, or of a vector of another kind: its rectangle is empty but for rounding.
    if (of_row && (at_row + 1 <= region.first_row || at_row >= region.first_row + region.rows)) continue;
    const viz::Rect cell = region.cell_rect(at_row, at_col);
    float left = region.rect.x, top = region.rect.y, right = region.rect.right(),
          bottom = region.rect.bottom();
    if (of_row) top = std::max(top, cell.y), bottom = std::min(bottom, cell.bottom());
    if (of_col) left = std::max(left, cell.x), right = std::min(right, cell.right());
    if (left >= right || top >= bottom) continue;
    if (all) {
      left = std::min(left, all->x), top = std::min(top, all->y);
      right = std::max(right, all->right()), bottom = std::max(bottom, all->bottom());
    }
    all = {left, top, right - left, bottom - top};
  }
  return all;
}

}  // namespace headscope::app
