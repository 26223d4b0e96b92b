#include "app/run/edits/moved_edits.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace headscope::app {
namespace {

/// Does to one edit what moved_edits does to a list. Each overload gives false where nothing is left of it.
class Mover {
 public:
  Mover(std::span<const int> positions, int n_ctx) : positions_(positions), n_ctx_(n_ctx) {}
  bool lost() const { return lost_; }

  bool operator()(model::SetCells& set) {
    std::erase_if(set.cells, [&](model::CellValue& cell) {
      cell.query = to(cell.query), cell.key = to(cell.key);
      return cell.query < 0 || cell.key < 0;
    });
    return !set.cells.empty();
  }

  /// New tokens see what comes before them, and are seen by what follows.
  bool operator()(model::SetMask& mask) {
    const auto size = mask.sees.size();
    const std::vector<int> from = sources(static_cast<int>(size), [&](std::size_t gone) {
      for (std::size_t i = 0; i < size; ++i)
        if (mask.sees[gone][i] != (i <= gone) || mask.sees[i][gone] != (gone <= i)) return true;
      return false;
    });
    std::vector<std::vector<bool>> sees(from.size(), std::vector<bool>(from.size()));
    for (std::size_t query = 0; query < from.size(); ++query) {
      for (std::size_t key = 0; key < from.size(); ++key) {
        const bool both = from[query] >= 0 && from[key] >= 0;
        sees[query][key] =
            both ? mask.sees[static_cast<std::size_t>(from[query])][static_cast<std::size_t>(from[key])]
                 : key <= query;
      }
      if (std::ranges::find(sees[query], true) == sees[query].end()) sees[query][query] = true;
    }
    const bool all = mask.sees.empty();
    mask.sees = std::move(sees);
    return all || !mask.sees.empty();
  }

  /// New tokens have their own ids, also where the list gave none to any position.
  bool operator()(model::SetPositionIds& set) {
    if (std::ranges::all_of(set.ids, [](int id) { return id < 0; })) return true;
    const std::vector<int> from = sources(static_cast<int>(set.ids.size()), [&](std::size_t gone) {
      return set.ids[gone] != static_cast<int>(gone);
    });
    std::vector<int> ids;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const int own = static_cast<int>(i);
      const int id = from[i] < 0 ? own : set.ids[static_cast<std::size_t>(from[i])];
      ids.push_back(id == from[i] ? own : id);
    }
    while (!ids.empty() && ids.back() == static_cast<int>(ids.size()) - 1) ids.pop_back();
    set.ids = std::move(ids);
    return !set.ids.empty();
  }

  /// All others have a place.
  template <class Other>
  bool operator()(Other& edit) {
    std::vector<int>& at = edit.at.positions;
    if (std::ranges::all_of(at, [&](int position) { return where(position) == position; })) return true;
    std::vector<int> now;
    if constexpr (std::is_same_v<Other, model::PatchFrom>) {
      // What was taken from the same positions still comes from there, however far it goes now.
      if (edit.positions.empty() && !edit.tokens.empty()) {
        std::erase_if(at, [&](int position) { return position >= std::ssize(edit.tokens); });
        edit.positions = at;
      }
    }
    std::vector<int> kept;  // indices of `at`
    for (std::size_t i = 0; i < at.size(); ++i) {
      const int position = to(at[i]);
      if (position < 0 || std::ranges::find(now, position) != now.end()) continue;
      now.push_back(position);
      kept.push_back(static_cast<int>(i));
    }
    if constexpr (std::is_same_v<Other, model::PatchFrom>) {
      std::vector<int> sources;
      for (const int i : kept)
        if (!edit.positions.empty()) sources.push_back(edit.positions[static_cast<std::size_t>(i)]);
      edit.positions = std::move(sources);
    }
    at = std::move(now);
    return !at.empty();
  }

 private:
  int where(int position) const {
    const bool known = position >= 0 && position < std::ssize(positions_);
    const int now = known ? positions_[static_cast<std::size_t>(position)] : position;
    return now < n_ctx_ ? now : -1;
  }
  int to(int position) {
    const int now = where(position);
    lost_ = lost_ || now < 0;
    return now;
  }

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
      from[static_cast<std::size_t>(now)] = i;
    }
    return from;
  }

  std::span<const int> positions_;
  int n_ctx_;
  bool lost_ = false;
};

}  // namespace

std::vector<int> moved_positions(std::span<const int> before, std::span<const int> now, int fixed) {
  const auto size = static_cast<int>(before.size()), by = static_cast<int>(now.size()) - size;
  const auto first = static_cast<int>(std::ranges::mismatch(before, now).in1 - before.begin());
  const int most = std::min(size, size + by) - first;  // that may be the same at the end
  int last = 0;
  while (last < most && before[static_cast<std::size_t>(size - 1 - last)] ==
                            now[now.size() - 1 - static_cast<std::size_t>(last)])
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
    Mover mover(positions, n_ctx);
    ListedEdit now = listed;
    const bool left = std::visit(mover, now.edit);
    if (mover.lost()) moved.gone.push_back(std::move(listed.edit));
    if (left) moved.list.edits.push_back(std::move(now));
  }
  moved.list.all_off = list.all_off;
  return moved;
}

bool has_positions(const EditList& list) {
  return std::ranges::any_of(list.edits, [](const ListedEdit& listed) {
    return std::visit(
        [](const auto& edit) {
          if constexpr (requires { edit.at.positions; })
            return !edit.at.positions.empty();
          else if constexpr (requires { edit.sees; })
            return !edit.sees.empty();
          else
            return true;
        },
        listed.edit);
  });
}

}  // namespace headscope::app
