#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "model/pass/edits.h"
#include "model/pass/transformer.h"

namespace headscope::app {

/// One of the changes that somebody works with: it can be off for a while.
struct ListedEdit {
  model::Edit edit;
  bool on = true;
  bool operator==(const ListedEdit&) const = default;
};

/// The changes of the computation, in the order in which they are applied.
struct EditList {
  std::vector<ListedEdit> edits;
  bool all_off = false;
  bool operator==(const EditList&) const = default;
  model::Edits active() const;  ///< those that are on; none while all are off
};

/// The list with one more at its end, without what that one leaves nothing of: what was set, put at its mean
/// or patched at the same place, scaled or added there in the same way, other values of the same cells,
/// another mask of the same heads, other positions.
EditList with_edit(EditList list, model::Edit edit);
/// The list in which the edit is made, too: joined with one of the same place but for its positions, where
/// there is one, as cells that somebody paints are one change.
EditList with_painted(EditList list, const model::Edit& edit);
/// Without those that are equal to it; of cells without these cells.
EditList without_edit(EditList list, const model::Edit& edit);
/// Whether it is among those that are active; of cells whether all of these are.
bool has_edit(const EditList& list, const model::Edit& edit);
bool has_edit(const model::Edits& edits, const model::Edit& edit);
/// With another row of wpe for a position, -1: none. No change any more where all have their own.
EditList with_position_id(EditList list, int position, int id);

/// The list with a mask of a head in which a query sees a key, or does not; both are less than `length`, the
/// number of positions. All else of the mask is what the list makes of it. As it was where the query would be
/// left without any key.
EditList with_visibility(EditList list, model::HeadIndex head, int length, int query, int key, bool sees);

/// Whether a change is of positions alone that a prompt of so many tokens does not have.
bool is_beyond(const model::Edit& edit, int length);

/// How much of a change there is, for a slider.
struct Strength {
  std::string_view name;  ///< "factor"
  double value = 0;
  double low = 0, high = 1, step = 0.05, default_value = 0;
};

/// Nothing where a change is of a kind that is or is not.
std::optional<Strength> strength_of(const model::Edit& edit);
/// The same change with another strength; as it is where it has none.
model::Edit with_strength(model::Edit edit, double value);

}  // namespace headscope::app
