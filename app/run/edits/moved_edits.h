#pragma once
#include <span>
#include <vector>

#include "app/run/edits/edit_list.h"

namespace headscope::app {

/// Where the tokens of a prompt are after it was edited: what both texts begin and end with moves, and a
/// token between stays at its position as long as another one stands there. Of each old position the new one,
/// -1: its token is gone. Empty: the texts have no token in common. `fixed`: tokens at the start that say
/// nothing about that (the start token).
std::vector<int> moved_positions(std::span<const int> before, std::span<const int> now, int fixed = 0);

/// Edits of positions, of cells, masks and position ids moved to where `positions` says that their tokens
/// are; positions behind those stay. What would be at `n_ctx` or later is gone.
struct MovedEdits {
  EditList list;
  model::Edits gone;  ///< as they were: those that lost a position or cell with its token
};
MovedEdits moved_edits(EditList list, std::span<const int> positions, int n_ctx);

/// Whether the list is about any position.
bool has_positions(const EditList& list);

}  // namespace headscope::app
