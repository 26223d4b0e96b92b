#pragma once
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "app/run/worker.h"
#include "app/text/text_edit.h"
#include "app/views/view.h"

namespace headscope::app {

// The window's state is composed of slices (see UiState). A slice has one header, with the actions on it and
// a `reduce` for each of them, which applies it. A `reduce` takes the state that its action can change: one
// slice, or all of them.

struct UiState;
struct ReduceContext;
class Action;

/// The states before each of a number of steps, to go back and forward through.
template <class State>
struct History {
  static constexpr std::size_t kMax = 500, kMaxBytes = std::size_t{16} << 20;
  std::vector<State> before, after;  ///< the nearest last

  /// Adds a step from `state`, or with `extends` makes the last step longer. The oldest steps are dropped
  /// beyond the limits, but not this one. `bytes_of`: the size of a state.
  template <class BytesOf>
  void add(State state, bool extends, const BytesOf& bytes_of) {
    after.clear();
    if (extends && !before.empty()) return;
    before.push_back(std::move(state));
    std::size_t bytes = 0, kept = 0;
    for (auto it = before.rbegin(); it != before.rend() && kept < kMax; ++it, ++kept) {
      bytes += bytes_of(*it);
      if (bytes > kMaxBytes && kept > 0) break;
    }
    before.erase(before.begin(), before.end() - static_cast<std::ptrdiff_t>(kept));
  }
  /// Returns the state one step back or forward from `now`; nothing at the end.
  std::optional<State> step(bool forward, State now) {
    auto& from = forward ? after : before;
    if (from.empty()) return std::nullopt;
    State there = std::move(from.back());
    from.pop_back();
    (forward ? before : after).push_back(std::move(now));
    return there;
  }
};

/// A text field of the window.
enum class Field {
  prompt,
  option,
  export_path,
  export_size,
  open_path,
  edits,
  second,
  session_path,
  help,
  palette
};
constexpr std::size_t kFields = 10;

/// An edited text and how far it is scrolled.
struct TextField {
  TextState edit;
  float scroll = 0;                 ///< logical pixels
  History<TextState> history = {};  ///< unused by the prompts, which are parts of the Document
};

}  // namespace headscope::app
