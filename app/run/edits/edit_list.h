#pragma once
#include <optional>
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
/// Adds an edit and joins it with one at the same place that differs only in its positions, so that cells
/// dragged over are one edit.
EditList with_joined_edit(EditList list, const model::Edit& edit);
/// The list without edits equal to it; for cells, without these cells.
EditList without_edit(EditList list, const model::Edit& edit);
/// Whether the edit is active; for cells, whether all of these are.
bool has_edit(const EditList& list, const model::Edit& edit);
bool has_edit(const model::Edits& edits, const model::Edit& edit);
/// Uses another row of wpe for a position, -1: none. The edit is removed once all positions use their own
/// row.
EditList with_position_id(EditList list, int position, int id);

/// Sets in a head's mask whether a query sees a key; both are less than `length`, the number of positions.
/// The rest of the mask is unchanged, and so is the list if the query would see no key.
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

}  // namespace headscope::app
