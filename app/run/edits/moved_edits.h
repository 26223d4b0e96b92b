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

/// Where the positions of one edit are now, and whether it lost one on the way.
class PositionMap {
 public:
  /// As for moved_edits.
  PositionMap(std::span<const int> positions, int n_ctx) : positions_(positions), n_ctx_(n_ctx) {}

  bool lost() const { return lost_; }
  bool keeps(const std::vector<int>& at) const;  ///< all where they are; also an empty list
  int to(int position);                          ///< -1: gone
  /// The positions that are left, each once, and what stands in `sources` for them, where that holds
  /// anything. Whether there are any.
  bool move(std::vector<int>& at, std::vector<int>* sources = nullptr);

  /// For each position of what `count` positions become the one it was; -1: it is new. `edited`: whether a
  /// position is other than it would be without the edit.
  template <class Edited>
  std::vector<int> sources(int count, const Edited& edited) {
    std::vector<int> from;
    for (int i = 0; i < count; ++i) {
      const int now = where(i);
      if (now < 0) lost_ = lost_ || edited(static_cast<std::size_t>(i));
      if (now < 0) continue;
      if (now >= std::ssize(from)) from.resize(static_cast<std::size_t>(now) + 1, -1);
      from[now] = i;
    }
    return from;
  }

 private:
  int where(int position) const;

  std::span<const int> positions_;
  int n_ctx_;
  bool lost_ = false;
};

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
