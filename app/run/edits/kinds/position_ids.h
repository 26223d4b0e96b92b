#pragma once
#include "app/run/edits/edit_kind.h"

namespace headscope::app {

template <>
struct EditKind<model::SetPositionIds> : WholeEdit<model::SetPositionIds> {
  using Set = model::SetPositionIds;
  static constexpr std::string_view kName = "positions";
  static constexpr std::string_view kGrammar =
      "  positions=0,0,-1             rows of wpe for positions 0, 1, 2 (-1: none); =none: no positions\n";
  static std::size_t length(const Set& set) { return set.ids.size(); }

  static void read(EditReader& in, const std::optional<std::vector<int>>& layers, const std::optional<int>&,
                   model::Edits& result) {
    if (layers) in.fail("\"positions\" takes no layer prefix");
    in.expect("=");
    const int n_ctx = in.config().n_ctx;
    Set set;
    if (in.take("none")) {
      set.ids.assign(n_ctx, -1);
    } else {
      do {
        const int id = in.whole();
        const int times = in.take("*") ? in.whole() : 1;
        if (times < 1 || times > n_ctx - std::ssize(set.ids))
          in.fail("the model has only " + std::to_string(n_ctx) + " positions");
        set.ids.insert(set.ids.end(), times, id);
      } while (in.take(","));
    }
    result.push_back(std::move(set));
  }
  static std::string text(const Set& set) {
    std::string text;
    for (std::size_t i = 0; i < set.ids.size();) {
      std::size_t end = i;
      while (end < set.ids.size() && set.ids[end] == set.ids[i]) ++end;
      text += (text.empty() ? "" : ",") + std::to_string(set.ids[i]);
      if (end > i + 1) text += "*" + std::to_string(end - i);
      i = end;
    }
    return "positions=" + text;
  }
  static std::string words(const Set& set) {
    return std::ranges::all_of(set.ids, [](int id) { return id == -1; }) ? "no positions"
                                                                         : "edited positions";
  }

  static bool replaces(const Set&, const Set&) { return true; }

  /// New tokens use their own row, even if the edit used zeros for all positions.
  static bool move(Set& set, PositionMap& map) {
    if (std::ranges::all_of(set.ids, [](int id) { return id < 0; })) return true;
    const std::vector<int> from = map.sources(static_cast<int>(set.ids.size()), [&](std::size_t gone) {
      return set.ids[gone] != static_cast<int>(gone);
    });
    std::vector<int> ids;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const int own = static_cast<int>(i);
      const int id = from[i] < 0 ? own : set.ids[from[i]];
      ids.push_back(id == from[i] ? own : id);
    }
    while (!ids.empty() && ids.back() == static_cast<int>(ids.size()) - 1) ids.pop_back();
    set.ids = std::move(ids);
    return !set.ids.empty();
  }
};

}  // namespace headscope::app
