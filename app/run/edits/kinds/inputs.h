#pragma once
#include "app/run/edits/edit_kind.h"

// Kinds that edit what a pass is given: what queries see, and positions.
namespace headscope::app {

template <>
struct EditKind<model::SetMask> : WholeEdit<model::SetMask> {
  using Mask = model::SetMask;
  static constexpr std::string_view kName = "mask";
  static constexpr std::string_view kGrammar =
      "  mask=none                    every query sees every key; L3H2.mask=100/110/111: only those with 1\n";
  static std::size_t numbers(const Mask& mask) { return length(mask) / 32; }
  static std::size_t length(const Mask& mask) { return mask.sees.size() * mask.sees.size(); }

  /// Reads "none", or rows of 0 and 1 separated by "/".
  static void read(EditReader& in, const std::optional<std::vector<int>>& layers,
                   const std::optional<int>& head, model::Edits& result) {
    Mask mask{std::nullopt, head, {}};
    in.expect("=");
    if (!in.take("none")) {
      do {
        std::vector<bool>& row = mask.sees.emplace_back();
        for (const char cell : in.take_while([](char c) { return c == '0' || c == '1'; }))
          row.push_back(cell == '1');
        if (row.empty()) in.fail("expected none, or rows of 0 and 1 as in 100/110/111");
      } while (in.take("/"));
    }
    if (!layers) result.push_back(mask);
    for (const int layer : layers.value_or(std::vector<int>{}))
      result.push_back(Mask{layer, head, mask.sees});
  }

  static std::string text(const Mask& mask) {
    std::string text = mask.layer ? "L" + std::to_string(*mask.layer) : mask.head ? "L*" : "";
    if (mask.head) text += "H" + std::to_string(*mask.head);
    text += text.empty() ? "mask=" : ".mask=";
    if (mask.sees.empty()) return text + "none";
    for (std::size_t row = 0; row < mask.sees.size(); ++row) {
      if (row > 0) text += "/";
      for (const bool sees : mask.sees[row]) text += sees ? '1' : '0';
    }
    return text;
  }
  static std::string words(const Mask& mask, const EditNames&) {
    const std::string words = mask.sees.empty() ? "no mask" : "edited mask";
    if (!mask.layer && !mask.head) return words;
    return words + " in " + (mask.layer ? "L" + std::to_string(*mask.layer) : "all layers") +
           (mask.head ? " H" + std::to_string(*mask.head) : "");
  }

  static bool replaces(const Mask& next, const Mask& before) {
    return next.layer == before.layer && next.head == before.head;
  }
  static bool has_positions(const Mask& mask) { return !mask.sees.empty(); }

  /// New tokens see what comes before them, and are seen by what follows.
  static bool move(Mask& mask, PositionMap& map) {
    const auto size = mask.sees.size();
    const std::vector<int> from = map.sources(static_cast<int>(size), [&](std::size_t gone) {
      for (std::size_t i = 0; i < size; ++i)
        if (mask.sees[gone][i] != (i <= gone) || mask.sees[i][gone] != (gone <= i)) return true;
      return false;
    });
    std::vector<std::vector<bool>> sees(from.size(), std::vector<bool>(from.size()));
    for (std::size_t query = 0; query < from.size(); ++query) {
      for (std::size_t key = 0; key < from.size(); ++key) {
        const bool both = from[query] >= 0 && from[key] >= 0;
        sees[query][key] = both ? mask.sees[from[query]][from[key]] : key <= query;
      }
      if (std::ranges::find(sees[query], true) == sees[query].end()) sees[query][query] = true;
    }
    const bool all = mask.sees.empty();
    mask.sees = std::move(sees);
    return all || !mask.sees.empty();
  }
};

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
  static std::string words(const Set& set, const EditNames&) {
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
