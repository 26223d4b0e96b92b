#include "app/run/edits/moved_edits.h"

#include <algorithm>
#include <utility>

#include "app/run/edits/edit_kinds.h"

namespace headscope::app {

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
