#pragma once
#include <span>
#include <vector>

#include "app/run/edits/edit_list.h"

namespace headscope::app {

/// Maps positions of a prompt to positions after its text was edited: the common beginning and end move
/// along, and a token in between keeps its position while there is one. For each old position the new one,
/// -1: the token is gone. Empty: no token in common. `fixed`: leading tokens that are ignored in the
/// comparison (the start token).
std::vector<int> moved_positions(std::span<const int> before, std::span<const int> now, int fixed = 0);

/// Moves the positions of one edit, and records whether one was lost.
class PositionMap {
 public:
  /// The arguments of moved_edits.
  PositionMap(std::span<const int> positions, int n_ctx) : positions_(positions), n_ctx_(n_ctx) {}

  bool lost() const { return lost_; }
  bool keeps(const std::vector<int>& at) const;  ///< whether none moves; true for an empty list
  int to(int position);                          ///< the new position; -1: gone
  /// Moves `at`, each position once, and `sources` in parallel if it is not empty. Returns whether any
  /// position is left.
  bool move(std::vector<int>& at, std::vector<int>* sources = nullptr);

  /// For each new position the old one among `count`; -1: a new token. `edited`: whether the edit affects a
  /// position.
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

/// Moves positions, cells, masks and position ids in edits to where `positions` says their tokens are;
/// positions after those stay. Anything that would move to `n_ctx` or later is gone.
struct MovedEdits {
  EditList list;
  model::Edits gone;  ///< the original edits that lost a position or cell with its token
};
MovedEdits moved_edits(EditList list, std::span<const int> positions, int n_ctx);

/// The same for one edit; returns whether anything of it is left.
bool move_edit(model::Edit& edit, PositionMap& map);

/// Whether an edit names positions.
bool names_positions(const model::Edit& edit);
/// Whether any edit of the list does.
bool has_positions(const EditList& list);

}  // namespace headscope::app
