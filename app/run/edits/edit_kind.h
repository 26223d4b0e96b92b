#pragma once
#include <algorithm>
#include <type_traits>
#include <variant>

#include "app/run/edits/edit_forms.h"
#include "app/run/edits/edit_list.h"
#include "app/run/edits/edit_text.h"

namespace headscope::app {

/// All about one kind of edit. Each alternative of model::Edit specialises it, with static members only
/// (kinds/):
/// - kGrammar: its lines in edit_grammar();
/// - kOperator, after a place, or kName, before "=": how its text begins; read: parses the rest, returning
///   nothing if another kind with the same operator is meant (with kName: adds one edit for each layer);
/// - text, which parse_edits reads back, and words;
/// - numbers: about how many it has, for the overall limit; length: about that of its text;
/// - kOverwrites: whether it discards the values at its place; replaces: another edit of its kind;
/// - merge, contains, remove, join: combine it with an edit that is added, removed or dragged;
/// - is_beyond, has_positions, move: about positions;
/// - strength, set_strength: the value for a slider;
/// - fills: whether it sets a cell of a head, even if that is masked.
template <class T>
struct EditKind {
  static_assert(!sizeof(T), "a kind of edit has no EditKind: see app/run/edits/edit_kind.h");
};
template <class T>
using KindOf = EditKind<std::remove_cvref_t<T>>;

/// Defaults for kinds that are either present or not; other kinds override them.
template <class T>
struct WholeEdit {
  static constexpr bool kOverwrites = false;
  static bool contains(const T& all, const T& edit) { return all == edit; }
  /// Removes `edit` from `from`; returns whether nothing is left.
  static bool remove(T& from, const T& edit) { return from == edit; }
  /// Adds to `next` those parts of the replaced edit that remain valid.
  static void merge(T&, const T&) {}
  /// Joins two edits that differ only in their positions; returns whether it could.
  static bool join(T&, const T&) { return false; }
  static bool fills(const T&, model::HeadIndex, int, int) { return false; }
  static bool is_beyond(const T&, int) { return false; }
  static bool has_positions(const T&) { return true; }
  static std::optional<Strength> strength(const T&) { return std::nullopt; }
  static void set_strength(T&, float) {}
  static std::size_t numbers(const T& edit) { return EditKind<T>::length(edit); }
};

/// Whether a point is the scores or pattern of this head; `chosen`: the edit's head, nothing: all heads.
inline bool is_at_head(model::HookPoint point, const std::optional<int>& chosen, model::HeadIndex head) {
  return model::has_cells(point.site) && point.layer == head.layer && chosen.value_or(head.head) == head.head;
}

/// Base of kinds that edit values at a place, `at`. kSources: a list parallel to the place's positions, or
/// empty. Instead of text and words such a kind has only what follows the place there: operand and what; and
/// values, how many numbers it holds in addition.
template <class T, std::vector<int> T::*kSources = nullptr>
struct EditAtPlace : WholeEdit<T> {
  static std::size_t values(const T&) { return 0; }
  static std::string text(const T& edit) {
    return place_text(edit.at).append(EditKind<T>::kOperator) + EditKind<T>::operand(edit);
  }
  static std::string words(const T& edit, const EditNames& names) {
    return place_words(edit.at) + EditKind<T>::what(edit, names);
  }
  static std::size_t numbers(const T& edit) { return 8 + edit.at.positions.size() + length(edit); }
  static std::size_t length(const T& edit) { return edit.at.units.size() + EditKind<T>::values(edit); }
  static bool replaces(const T& next, const T& before) { return next.at == before.at; }

  static bool join(T& into, const T& edit) {
    std::vector<int>& positions = into.at.positions;
    const std::vector<int>& added = edit.at.positions;
    if (positions.empty() || added.empty() || !std::ranges::is_sorted(positions)) return false;
    T same = into;
    same.at.positions = added;
    if constexpr (kSources != nullptr) {
      if ((into.*kSources).empty() != (edit.*kSources).empty()) return false;
      same.*kSources = edit.*kSources;
    }
    if (!(same == edit)) return false;
    for (std::size_t i = 0; i < added.size(); ++i) {
      const auto place = std::ranges::lower_bound(positions, added[i]);
      if (place != positions.end() && *place == added[i]) continue;
      if constexpr (kSources != nullptr)
        if (std::vector<int>& sources = into.*kSources; !sources.empty())
          sources.insert(sources.begin() + (place - positions.begin()), (edit.*kSources)[i]);
      positions.insert(place, added[i]);
    }
    return true;
  }

  static bool is_beyond(const T& edit, int length) {
    return has_positions(edit) &&
           std::ranges::all_of(edit.at.positions, [length](int position) { return position >= length; });
  }
  static bool has_positions(const T& edit) { return !edit.at.positions.empty(); }
  static bool move(T& edit, PositionMap& map) {
    return map.keeps(edit.at.positions) || map.move(edit.at.positions);
  }
};

/// Applies `ask` to two edits of the same kind; false for different kinds.
template <class A, class B, class Ask>
bool of_one_kind(A& a, B& b, const Ask& ask) {
  return std::visit(
      [&](auto& first) {
        auto* second = std::get_if<std::remove_cvref_t<decltype(first)>>(&b);
        return second != nullptr && ask(first, *second);
      },
      a);
}

/// Calls visit<T>() for each kind, in the order of model::Edit, until one returns true; returns whether one
/// did.
template <class Visit, class... T>
bool any_kind(const Visit& visit, std::type_identity<std::variant<T...>>) {
  return (visit.template operator()<T>() || ...);
}
template <class Visit>
bool any_kind(const Visit& visit) {
  return any_kind(visit, std::type_identity<model::Edit>());
}

}  // namespace headscope::app
