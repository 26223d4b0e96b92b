#include "app/run/analyses/cell_pairs.h"

#include <iterator>

namespace headscope::app {

void simplify(MaskedCells& masked) {
  if (std::ssize(masked.cells) != std::ptrdiff_t{masked.length} * masked.length) return;
  for (int query = 0; query < masked.length; ++query)
    for (int key = 0; key < masked.length; ++key)
      if (masked(query, key) != (key > query)) return;
  masked.cells.clear();
}

}  // namespace headscope::app
