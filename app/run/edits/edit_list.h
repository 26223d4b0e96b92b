#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/pass/edits.h"
#include "model/pass/transformer.h"

namespace headscope::app {

/// An edit in the user's list; it can be switched off.
struct ListedEdit {
  model::Edit edit;
  bool on = true;
  bool operator==(const ListedEdit&) const = default;
};

/// The edits of the forward pass, in the order in which they are applied.
struct EditList {
  std::vector<ListedEdit> edits;
  bool operator==(const EditList&) const = default;
  model::Edits active() const;  ///< the edits that are on
};

/// Appends an edit and removes those that it makes meaningless: one that sets, averages or patches the same
/// place, one that scales or adds there in the same way, other values of the same cells, another mask of the
/// same heads, other position ids.
EditList with_edit(EditList list, model::Edit edit);
/// Adds an edit, joined with one at the same place that differs only in its positions.
EditList with_joined_edit(EditList list, const model::Edit& edit);
/// The list without edits equal to it; for cells, without these cells.
EditList without_edit(EditList list, const model::Edit& edit);
/// Whether the edit is active; for cells, whether all of these are.
bool has_edit(const EditList& list, const model::Edit& edit);
bool has_edit(const model::Edits& edits, const model::Edit& edit);
/// Uses another row of wpe for a position, -1: none. The edit is removed once all positions use their own
/// row.
EditList with_position_id(EditList list, int position, int id);

/// Sets in a head's mask whether a query sees a key, of `length` positions. The list is unchanged if the
/// query would see no key.
EditList with_visibility(EditList list, model::HeadIndex head, int length, int query, int key, bool sees);

/// Whether an edit applies only to positions that a prompt of this length does not have.
bool is_beyond(const model::Edit& edit, int length);

/// The strength of an edit, for a slider.
struct Strength {
  std::string_view name;  ///< "factor"
  double value = 0;
  double low = 0, high = 1, step = 0.05, default_value = 0;
};

/// Nothing for kinds without a strength.
std::optional<Strength> strength_of(const model::Edit& edit);
/// The edit with another strength; unchanged if its kind has none.
model::Edit with_strength(model::Edit edit, double value);

/// For each position of a prompt the one after its text was edited, -1: the token is gone. The common
/// beginning and end move along, and a token in between keeps its position while there is one. Empty: no
/// token in common but the first `fixed` (the start token).
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

/// Returns whether anything of it is left.
bool move_edit(model::Edit& edit, PositionMap& map);

bool names_positions(const model::Edit& edit);
bool has_positions(const EditList& list);

}  // namespace headscope::app
