#pragma once
#include <algorithm>

#include "app/views/parts/list.h"

namespace headscope::app {

/// Those of the regions of a role, of `all` there are; `first` as the list has it.
inline TableRows table_rows_of(const Picture& picture, int role, int all, int first, const Option<int>& option) {
  TableRows rows{&option, 0, 0, all, {}};
  for (const viz::Region& region : picture.regions) {
    if (region.role != role || rows.shown == all) continue;
    if (rows.shown++ == 0) rows.place = region.rect;
    rows.place.h = region.rect.bottom() - rows.place.y;
  }
  rows.first = std::clamp(first, 0, all - rows.shown);
  return rows;
}

}  // namespace headscope::app
