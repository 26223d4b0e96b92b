#include "app/run/edits/edit_list.h"

#include <algorithm>
#include <utility>

#include "app/run/edits/edit_kinds.h"

namespace headscope::app {
namespace {

using model::Edit;

/// Whether `next` replaces `before`, so that `before` is removed.
bool supersedes(const Edit& next, const Edit& before) {
  if (const auto* path = model::path_patch(next)) {  // paths from several senders add up
    const auto* other = model::path_patch(before);
    return other != nullptr && other->at == path->at && supersedes(path->edits.front(), other->edits.front());
  }
  return std::visit(
      [](const auto& a, const auto& b) {
        if constexpr (KindOf<decltype(a)>::kOverwrites && KindOf<decltype(b)>::kOverwrites)
          return a.at == b.at;
        else if constexpr (std::is_same_v<decltype(a), decltype(b)>)
          return KindOf<decltype(a)>::replaces(a, b);
        else
          return false;
      },
      next, before);
}

}  // namespace

model::Edits EditList::active() const {
  model::Edits active;
  for (const ListedEdit& listed : edits)
    if (listed.on) active.push_back(listed.edit);
  return active;
}

EditList with_edit(EditList list, Edit edit) {
  for (const ListedEdit& listed : list.edits)
    if (listed.on && supersedes(edit, listed.edit))
      of_one_kind(edit, listed.edit, [](auto& next, const auto& before) {
        KindOf<decltype(next)>::merge(next, before);
        return true;
      });
  std::erase_if(list.edits, [&](const ListedEdit& listed) { return supersedes(edit, listed.edit); });
  list.edits.push_back({std::move(edit), true});
  return list;
}

EditList with_joined_edit(EditList list, const Edit& edit) {
  if (has_edit(list, edit)) return list;
  const auto joined = std::ranges::find_if(list.edits, [&](ListedEdit& listed) {
    return listed.on && of_one_kind(listed.edit, edit, [](auto& into, const auto& added) {
             return KindOf<decltype(into)>::join(into, added);
           });
  });
  if (joined == list.edits.end()) return with_edit(std::move(list), edit);
  return list;
}

EditList without_edit(EditList list, const Edit& edit) {
  std::vector<ListedEdit> left;
  for (ListedEdit& listed : list.edits)
    if (!of_one_kind(listed.edit, edit, [](auto& from, const auto& removed) {
          return KindOf<decltype(from)>::remove(from, removed);
        }))
      left.push_back(std::move(listed));
  list.edits = std::move(left);
  return list;
}

bool has_edit(const EditList& list, const Edit& edit) {
  return has_edit(list.active(), edit);
}

bool has_edit(const model::Edits& edits, const Edit& edit) {
  return std::ranges::any_of(edits, [&](const Edit& other) {
    return of_one_kind(other, edit, [](const auto& all, const auto& one) {
      return KindOf<decltype(all)>::contains(all, one);
    });
  });
}

EditList with_position_id(EditList list, int position, int id) {
  model::SetPositionIds ids;
  for (const ListedEdit& listed : list.edits)
    if (const auto* set = std::get_if<model::SetPositionIds>(&listed.edit); set != nullptr && listed.on)
      ids = *set;
  for (int i = static_cast<int>(ids.ids.size()); i <= position; ++i) ids.ids.push_back(i);
  ids.ids[position] = id;
  while (!ids.ids.empty() && ids.ids.back() == static_cast<int>(ids.ids.size()) - 1) ids.ids.pop_back();
  if (!ids.ids.empty()) return with_edit(std::move(list), std::move(ids));
  std::erase_if(list.edits, [](const ListedEdit& listed) {
    return std::holds_alternative<model::SetPositionIds>(listed.edit);
  });
  return list;
}

EditList with_visibility(EditList list, model::HeadIndex head, int length, int query, int key, bool sees) {
  const model::SetMask* now = nullptr;  // the last mask of this head
  for (const ListedEdit& listed : list.edits) {
    const auto* mask = std::get_if<model::SetMask>(&listed.edit);
    if (mask && listed.on && mask->layer.value_or(head.layer) == head.layer &&
        mask->head.value_or(head.head) == head.head)
      now = mask;
  }
  const bool all = now != nullptr && now->sees.empty();
  const auto known = now != nullptr ? static_cast<int>(now->sees.size()) : 0;
  model::SetMask mask{head.layer, head.head, {}};
  bool causal = true;
  for (int i = 0; i < std::max(known, length); ++i) {
    std::vector<bool>& row = mask.sees.emplace_back();
    for (int j = 0; j < std::max(known, length); ++j) {
      const bool sees_now = std::max(i, j) < known ? now->sees[i][j] : all || j <= i;
      row.push_back(i == query && j == key ? sees : sees_now);
      causal = causal && row.back() == (j <= i);
    }
    if (i == query && std::ranges::find(row, true) == row.end()) return list;
  }
  // A causal mask changes nothing, unless it overrides one of the layer.
  const bool overrides = now != nullptr && (now->layer != mask.layer || now->head != mask.head);
  if (!causal || overrides) return with_edit(std::move(list), std::move(mask));
  std::erase_if(list.edits, [&](const ListedEdit& listed) {
    const auto* own = std::get_if<model::SetMask>(&listed.edit);
    return own && listed.on && own->layer == mask.layer && own->head == mask.head;
  });
  return list;
}

bool is_beyond(const Edit& edit, int length) {
  return std::visit([&](const auto& one) { return KindOf<decltype(one)>::is_beyond(one, length); }, edit);
}

std::optional<Strength> strength_of(const Edit& edit) {
  return std::visit([](const auto& one) { return KindOf<decltype(one)>::strength(one); }, edit);
}

Edit with_strength(Edit edit, double value) {
  if (strength_of(edit))
    std::visit([&](auto& one) { KindOf<decltype(one)>::set_strength(one, static_cast<float>(value)); }, edit);
  return edit;
}

int PositionMap::where(int position) const {
  const bool known = position >= 0 && position < std::ssize(positions_);
  const int now = known ? positions_[position] : position;
  return now < n_ctx_ ? now : -1;
}

int PositionMap::to(int position) {
  const int now = where(position);
  lost_ = lost_ || now < 0;
  return now;
}

bool PositionMap::keeps(const std::vector<int>& at) const {
  return std::ranges::all_of(at, [&](int position) { return where(position) == position; });
}

bool PositionMap::move(std::vector<int>& at, std::vector<int>* sources) {
  std::vector<int> now, kept;  // their sources
  for (std::size_t i = 0; i < at.size(); ++i) {
    const int position = to(at[i]);
    if (position < 0 || std::ranges::find(now, position) != now.end()) continue;
    now.push_back(position);
    if (sources != nullptr && !sources->empty()) kept.push_back((*sources)[i]);
  }
  at = std::move(now);
  if (sources != nullptr) *sources = std::move(kept);
  return !at.empty();
}

std::vector<int> moved_positions(std::span<const int> before, std::span<const int> now, int fixed) {
  const auto size = static_cast<int>(before.size()), by = static_cast<int>(now.size()) - size;
  const auto first = static_cast<int>(std::ranges::mismatch(before, now).in1 - before.begin());
  const int most = std::min(size, size + by) - first;  // that a common ending may have
  int last = 0;
  while (last < most && before[size - 1 - last] == now[now.size() - 1 - static_cast<std::size_t>(last)])
    ++last;
  if (first + last <= fixed) return {};
  std::vector<int> positions;
  for (int i = 0; i < size; ++i) {
    const bool between = i >= first && i < size - last;
    positions.push_back(!between ? (i < first ? i : i + by) : i < size + by - last ? i : -1);
  }
  return positions;
}

MovedEdits moved_edits(EditList list, std::span<const int> positions, int n_ctx) {
  MovedEdits moved;
  for (ListedEdit& listed : list.edits) {
    PositionMap map(positions, n_ctx);
    ListedEdit now = listed;
    const bool left = move_edit(now.edit, map);
    if (map.lost()) moved.gone.push_back(std::move(listed.edit));
    if (left) moved.list.edits.push_back(std::move(now));
  }
  return moved;
}

bool move_edit(model::Edit& edit, PositionMap& map) {
  return std::visit([&](auto& one) { return KindOf<decltype(one)>::move(one, map); }, edit);
}

bool names_positions(const model::Edit& edit) {
  return std::visit([](const auto& one) { return KindOf<decltype(one)>::has_positions(one); }, edit);
}

bool has_positions(const EditList& list) {
  return std::ranges::any_of(list.edits,
                             [](const ListedEdit& listed) { return names_positions(listed.edit); });
}

}  // namespace headscope::app
