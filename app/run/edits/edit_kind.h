#pragma once
#include <algorithm>
#include <array>
#include <type_traits>
#include <variant>

#include "app/run/edits/edit_forms.h"
#include "app/run/edits/edit_list.h"
#include "app/run/edits/moved_edits.h"

namespace headscope::app {

/// All that the program knows about one kind of edit. Each alternative of model::Edit specialises it, with
/// static members only (kinds/); the compiler names what a new kind lacks:
/// - kGrammar: its lines in edit_grammar();
/// - kOperator, behind a place, or kName, before "=": how its text begins; read: the rest of it, nothing
///   where another kind of the same operator is meant (with kName: adds one for each layer);
/// - kKeys: the keys of its JSON object, first the one that tells the kind; from_json;
/// - text, which parse_edits reads back, and words;
/// - numbers: how many it holds, about, for the limit of all; length: about how long its text is;
/// - kOverwrites: leaves nothing of its place; replaces: whether it takes the place of one of its kind;
/// - kHasParts: those side by side that replace each other are one edit;
/// - append, merge, contains, remove, join: of what somebody types, adds, takes back or paints;
/// - is_beyond, has_positions, move: of positions;
/// - strength, set_strength: what a slider moves;
/// - fills: whether it puts something into a cell of a head, whatever the mask says.
template <class T>
struct EditKind {
  static_assert(!sizeof(T), "a kind of edit has no EditKind: see app/run/edits/edit_kind.h");
};
template <class T>
using KindOf = EditKind<std::remove_cvref_t<T>>;

/// Kinds that are there or not: what the others say otherwise.
template <class T>
struct WholeEdit {
  static constexpr bool kOverwrites = false, kHasParts = false;
  static bool contains(const T& all, const T& edit) { return all == edit; }
  /// Takes away what is in `edit`; whether nothing is left.
  static bool remove(T& from, const T& edit) { return from == edit; }
  /// As parts of one text, in their order; whether they are.
  static bool append(T&, const T&) { return false; }
  /// Takes over what `next` leaves of one that it replaces.
  static void merge(T&, const T&) {}
  /// Makes one edit of two that differ in their positions alone; whether it could.
  static bool join(T&, const T&) { return false; }
  static bool fills(const T&, model::HeadIndex, int, int) { return false; }
  static bool is_beyond(const T&, int) { return false; }
  static bool has_positions(const T&) { return true; }
  static std::optional<Strength> strength(const T&) { return std::nullopt; }
  static void set_strength(T&, float) {}
  static std::size_t numbers(const T& edit) { return EditKind<T>::length(edit); }
};

/// Whether a point is of a head's scores or pattern; `chosen`: the edit's head, nothing: all.
inline bool is_of_head(model::HookPoint point, const std::optional<int>& chosen, model::HeadIndex head) {
  return model::is_of_cells(point.site) && point.layer == head.layer &&
         chosen.value_or(head.head) == head.head;
}

/// Keys of JSON of a kind that has a place.
template <class... Keys>
constexpr auto keys_at_place(Keys... keys) {
  return std::array<std::string_view, sizeof...(Keys) + 4>{keys..., "site", "head", "positions", "units"};
}

/// Kinds that change values at a place, `at`, in cells only where the query sees the key. kSources: what
/// stands in a list with the place's positions, one for each, or for none. In place of text and words they
/// have what follows the place there: operand and what; and values, how many numbers they hold beside it.
template <class T, std::vector<int> T::*kSources = nullptr>
struct EditAtPlace : WholeEdit<T> {
  static std::size_t values(const T&) { return 0; }
  static std::string text(const T& edit) {
    return place_text(edit.at).append(EditKind<T>::kOperator) + EditKind<T>::operand(edit);
  }
  static std::string words(const T& edit) { return place_words(edit.at) + EditKind<T>::what(edit); }
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
      const auto index = place - positions.begin();
      if (place != positions.end() && *place == added[i]) continue;
      positions.insert(place, added[i]);
      if constexpr (kSources != nullptr)
        if (!(edit.*kSources).empty())
          (into.*kSources).insert((into.*kSources).begin() + index, (edit.*kSources)[i]);
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

/// Asks about two edits of one kind; false of two kinds.
template <class A, class B, class Ask>
bool of_one_kind(A& a, B& b, const Ask& ask) {
  return std::visit(
      [&](auto& first) {
        auto* second = std::get_if<std::remove_cvref_t<decltype(first)>>(&b);
        return second != nullptr && ask(first, *second);
      },
      a);
}

/// Calls visit<T>() for each kind in the order of model::Edit until one is true; whether one was.
template <class Visit, class... T>
bool any_kind(const Visit& visit, std::type_identity<std::variant<T...>>) {
  return (visit.template operator()<T>() || ...);
}
template <class Visit>
bool any_kind(const Visit& visit) {
  return any_kind(visit, std::type_identity<model::Edit>());
}

}  // namespace headscope::app
