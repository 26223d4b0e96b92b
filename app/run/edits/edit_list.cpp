#include "app/run/edits/edit_list.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace headscope::app {
namespace {

using model::Edit;

/// The place where an edit leaves nothing of what was there; null: it has none.
const model::EditedPlace* overwritten(const Edit& edit) {
  if (const auto* set = std::get_if<model::SetValues>(&edit)) return &set->at;
  if (const auto* mean = std::get_if<model::SetMean>(&edit)) return &mean->at;
  if (const auto* patch = std::get_if<model::PatchFrom>(&edit)) return &patch->at;
  return nullptr;
}

bool same_cells(const model::SetCells& a, const model::SetCells& b) {
  return a.point == b.point && a.head == b.head && a.renormalise == b.renormalise;
}

/// Whether `next` takes the place of `before`.
bool takes_its_place(const Edit& next, const Edit& before) {
  const model::EditedPlace *a = overwritten(next), *b = overwritten(before);
  if (a && b) return *a == *b;
  if (next.index() != before.index()) return false;
  if (const auto* scale = std::get_if<model::ScaleValues>(&next))
    return scale->at == std::get<model::ScaleValues>(before).at;
  if (const auto* add = std::get_if<model::AddVector>(&next)) {
    const auto& other = std::get<model::AddVector>(before);
    return add->at == other.at && add->vector == other.vector;
  }
  if (const auto* mask = std::get_if<model::SetMask>(&next)) {
    const auto& other = std::get<model::SetMask>(before);
    return mask->layer == other.layer && mask->head == other.head;
  }
  if (const auto* cells = std::get_if<model::SetCells>(&next))
    return same_cells(*cells, std::get<model::SetCells>(before));
  return std::holds_alternative<model::SetPositionIds>(next);
}

/// The cells that are among others; `rows`: or that share a query with one.
void take_out(std::vector<model::CellValue>& cells, const std::vector<model::CellValue>& others, bool rows) {
  std::erase_if(cells, [&](const model::CellValue& cell) {
    return std::ranges::any_of(others, [&](const model::CellValue& other) {
      return other.query == cell.query && (rows || other.key == cell.key);
    });
  });
}

}  // namespace

model::Edits EditList::active() const {
  model::Edits active;
  if (all_off) return active;
  for (const ListedEdit& listed : edits)
    if (listed.on) active.push_back(listed.edit);
  return active;
}

EditList with_edit(EditList list, Edit edit) {
  list.all_off = false;
  auto* cells = std::get_if<model::SetCells>(&edit);
  for (const ListedEdit& listed : list.edits) {
    if (!cells || !listed.on || !takes_its_place(edit, listed.edit)) continue;
    auto kept = std::get<model::SetCells>(listed.edit).cells;
    take_out(kept, cells->cells, cells->renormalise);
    cells->cells.insert(cells->cells.begin(), kept.begin(), kept.end());
  }
  std::erase_if(list.edits, [&](const ListedEdit& listed) { return takes_its_place(edit, listed.edit); });
  list.edits.push_back({std::move(edit), true});
  return list;
}

namespace {

/// Whether two are the same but for their positions, which both have. What is put in from another prompt
/// names its positions, or has the same.
bool differ_in_positions(const Edit& a, const Edit& b) {
  return std::visit(
      [&](auto first) {
        auto second = std::get_if<decltype(first)>(&b);
        if constexpr (requires { first.at.positions; }) {
          if (second == nullptr || first.at.positions.empty() || second->at.positions.empty()) return false;
          if (!std::ranges::is_sorted(first.at.positions)) return false;
          if constexpr (requires { first.tokens; }) {
            if (first.positions.empty() != second->positions.empty()) return false;
            first.positions = second->positions;
          }
          first.at.positions = second->at.positions;
          return first == *second;
        } else {
          return false;
        }
      },
      a);
}

/// `into` at the positions of `edit`, too.
void join(Edit& into, const Edit& edit) {
  std::visit(
      [&](auto& joined) {
        if constexpr (requires { joined.at.positions; }) {
          const auto& added = std::get<std::remove_reference_t<decltype(joined)>>(edit);
          for (std::size_t i = 0; i < added.at.positions.size(); ++i) {
            const int position = added.at.positions[i];
            auto& positions = joined.at.positions;
            const auto place = std::ranges::lower_bound(positions, position);
            const auto index = place - positions.begin();
            if (place != positions.end() && *place == position) continue;
            positions.insert(place, position);
            if constexpr (requires { joined.tokens; }) {
              if (!added.positions.empty())
                joined.positions.insert(joined.positions.begin() + index, added.positions[i]);
            }
          }
        }
      },
      into);
}

}  // namespace

EditList with_painted(EditList list, const Edit& edit) {
  if (has_edit(list, edit)) return list;
  const auto found = std::ranges::find_if(list.edits, [&](const ListedEdit& listed) {
    return listed.on && differ_in_positions(listed.edit, edit);
  });
  if (found == list.edits.end()) return with_edit(std::move(list), edit);
  list.all_off = false;
  join(found->edit, edit);
  return list;
}

EditList without_edit(EditList list, const Edit& edit) {
  if (const auto* cells = std::get_if<model::SetCells>(&edit)) {
    for (ListedEdit& listed : list.edits) {
      auto* before = std::get_if<model::SetCells>(&listed.edit);
      if (before != nullptr && same_cells(*cells, *before)) take_out(before->cells, cells->cells, false);
    }
    std::erase_if(list.edits, [](const ListedEdit& listed) {
      const auto* left = std::get_if<model::SetCells>(&listed.edit);
      return left != nullptr && left->cells.empty();
    });
    return list;
  }
  std::erase_if(list.edits, [&](const ListedEdit& listed) { return listed.edit == edit; });
  return list;
}

bool has_edit(const EditList& list, const Edit& edit) {
  const model::Edits made = list.active();
  const auto* cells = std::get_if<model::SetCells>(&edit);
  return std::ranges::any_of(made, [&](const Edit& other) {
    const auto* all = std::get_if<model::SetCells>(&other);
    if (!cells || !all) return other == edit;
    return same_cells(*cells, *all) && std::ranges::all_of(cells->cells, [&](const model::CellValue& cell) {
             return std::ranges::find(all->cells, cell) != all->cells.end();
           });
  });
}

EditList with_position_id(EditList list, int position, int id) {
  model::SetPositionIds ids;
  for (const ListedEdit& listed : list.edits)
    if (const auto* set = std::get_if<model::SetPositionIds>(&listed.edit); set != nullptr && listed.on)
      ids = *set;
  for (int i = static_cast<int>(ids.ids.size()); i <= position; ++i) ids.ids.push_back(i);
  ids.ids[static_cast<std::size_t>(position)] = id;
  while (!ids.ids.empty() && ids.ids.back() == static_cast<int>(ids.ids.size()) - 1) ids.ids.pop_back();
  if (!ids.ids.empty()) return with_edit(std::move(list), std::move(ids));
  std::erase_if(list.edits, [](const ListedEdit& listed) {
    return std::holds_alternative<model::SetPositionIds>(listed.edit);
  });
  return list;
}

EditList with_visibility(EditList list, model::HeadIndex head, int length, int query, int key, bool sees) {
  const model::SetMask* now = nullptr;  // the last one that concerns the head
  for (const ListedEdit& listed : list.edits) {
    const auto* mask = std::get_if<model::SetMask>(&listed.edit);
    if (mask && listed.on && mask->layer.value_or(head.layer) == head.layer &&
        mask->head.value_or(head.head) == head.head)
      now = mask;
  }
  const bool all = now != nullptr && now->sees.empty();
  model::SetMask mask{head.layer, head.head, {}};
  if (now != nullptr) mask.sees = now->sees;
  const auto size = std::max(mask.sees.size(), static_cast<std::size_t>(length));
  mask.sees.resize(size);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = mask.sees[i].size(); j < size; ++j) mask.sees[i].push_back(all || j <= i);
  auto& row = mask.sees.at(static_cast<std::size_t>(query));
  row.at(static_cast<std::size_t>(key)) = sees;
  if (std::ranges::find(row, true) == row.end()) return list;
  return with_edit(std::move(list), std::move(mask));
}

bool is_beyond(const model::Edit& edit, int length) {
  const auto beyond = [length](int position) { return position >= length; };
  return std::visit(
      [&](const auto& change) {
        if constexpr (requires { change.at.positions; }) {
          return !change.at.positions.empty() && std::ranges::all_of(change.at.positions, beyond);
        } else if constexpr (requires { change.cells; }) {
          return std::ranges::all_of(change.cells, beyond, &model::CellValue::query);
        } else {
          return false;
        }
      },
      edit);
}

std::optional<Strength> strength_of(const Edit& edit) {
  if (const auto* scale = std::get_if<model::ScaleValues>(&edit))
    return Strength{"factor",
                    static_cast<double>(scale->factor),
                    std::min(-1.0, std::floor(static_cast<double>(scale->factor))),
                    std::max(3.0, std::ceil(static_cast<double>(scale->factor))),
                    0.05,
                    1};
  if (const auto* add = std::get_if<model::AddVector>(&edit)) {
    const auto factor = static_cast<double>(add->factor);
    const double most = std::max(10.0, std::ceil(std::abs(factor)));
    return Strength{"factor", factor, -most, most, 0.1, 1};
  }
  if (const auto* cells = std::get_if<model::SetCells>(&edit); cells != nullptr && cells->cells.size() == 1) {
    const auto value = static_cast<double>(cells->cells.front().value);
    if (!std::isfinite(value)) return std::nullopt;
    if (cells->point.site == model::Site::pattern)
      return Strength{"weight", value, std::min(0.0, value), std::max(1.0, value), 0.01, 0};
    const double most = std::max(20.0, std::ceil(std::abs(value)));
    return Strength{"score", value, -most, most, 0.1, 0};
  }
  return std::nullopt;
}

Edit with_strength(Edit edit, double value) {
  const auto as_float = static_cast<float>(value);
  if (auto* scale = std::get_if<model::ScaleValues>(&edit)) scale->factor = as_float;
  if (auto* add = std::get_if<model::AddVector>(&edit)) add->factor = as_float;
  if (auto* cells = std::get_if<model::SetCells>(&edit); cells != nullptr && strength_of(edit))
    cells->cells.front().value = as_float;
  return edit;
}

}  // namespace headscope::app
