#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "model/interventions.h"
#include "model/transformer.h"

namespace headscope::app {

/// One of the changes that somebody works with: it can be off for a while.
struct ListedEdit {
  model::Intervention edit;
  bool on = true;
  bool operator==(const ListedEdit&) const = default;
};

/// The changes of the computation, in the order in which they are applied.
struct EditList {
  std::vector<ListedEdit> edits;
  bool all_off = false;
  bool operator==(const EditList&) const = default;
  model::Interventions active() const;  ///< those that are on; none while all are off
};

/// The list with one more, in place of one that the new one makes meaningless: of the same place, cell, mask
/// or positions.
EditList with_edit(EditList list, model::Intervention edit);
/// Without those that are equal to it; of cells without these cells.
EditList without_edit(EditList list, const model::Intervention& edit);

/// The list with a mask of a head in which a query sees a key, or does not. The mask is the causal one of `length`
/// positions as far as nothing else was painted. As it was where the query would be left without any key.
EditList with_visibility(EditList list, model::HeadIndex head, int length, int query, int key, bool sees);

/// How much of a change there is, for a slider.
struct Strength {
  std::string_view name;  ///< "factor"
  double value = 0;
  double low = 0, high = 1, step = 0.05, usual = 0;
};

/// Nothing where a change is of a kind that is or is not.
std::optional<Strength> strength_of(const model::Intervention& edit);
/// The same change with another strength; as it is where it has none.
model::Intervention with_strength(model::Intervention edit, double value);

}  // namespace headscope::app
