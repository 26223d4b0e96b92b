#pragma once
#include "app/run/edits/edit_kind.h"

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
  static std::string words(const Mask& mask) {
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

}  // namespace headscope::app
