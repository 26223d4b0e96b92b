#pragma once
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "app/text/edit_layout.h"
#include "app/text/text_boundaries.h"

namespace headscope::app {

/// One step of the undo history: `removed` at byte `at` was replaced by `inserted`.
struct TextEdit {
  enum class Kind { typed, erased_back, erased_forward, appended, other };
  std::size_t at = 0;
  std::string removed;
  std::string inserted;
  Kind kind = Kind::other;
  std::size_t cursor_before = 0;
  std::size_t anchor_before = 0;
};

/// The longest text of a field: a whole prompt.
inline constexpr std::size_t kMaxText = std::size_t{1} << 20;

/// At most kMax steps of kMaxBytes together; the oldest are dropped first.
struct TextHistory {
  static constexpr std::size_t kMax = 1000, kMaxBytes = 8 * kMaxText;
  std::deque<TextEdit> done;    ///< newest at the back
  std::deque<TextEdit> undone;  ///< next to be redone at the back
  bool open = false;            ///< whether the newest step may still grow
};

/// An editable text of any bytes. The selection is between anchor and cursor.
struct TextState {
  std::string text;
  std::size_t cursor = 0;
  std::size_t anchor = 0;
  bool upstream = false;             ///< at a wrap: the caret is at the end of the previous row
  std::optional<float> preferred_x;  ///< target of consecutive up and down motions
  TextHistory history;

  ByteRange selection() const;
  std::string_view selected() const;
};

/// Cursor at the end, nothing to undo.
TextState make_text_state(std::string text);

/// Whether a field has room for `size` bytes in place of its selection.
bool has_room(const TextState& state, std::size_t size);

enum class Motion { left, right, word_left, word_right, text_start, text_end };
enum class Unit { character, word, paragraph };

// Commands: everything that can be done to a text, as values.

/// Replaces the selection. Consecutive `typed` insertions are one undo step per word.
struct Insert {
  std::string bytes;
  bool typed = false;
};
/// Erases the selection, or from the cursor to the motion's target if there is none. Backspace is `left`.
struct Erase {
  Motion motion = Motion::left;
};
/// Moves the cursor, and the anchor unless `extend` is set. Without `extend`, left and right go to the ends
/// of a selection.
struct Move {
  Motion motion = Motion::right;
  bool extend = false;
};
/// Moves the cursor to a byte: the result of row_motion().
struct MoveTo {
  std::size_t byte = 0;
  bool extend = false;
  bool upstream = false;
  std::optional<float> preferred_x;
};
/// Selects from the unit at `from` to the one at `to`, with the cursor at the end of the latter. Both are
/// equal for a click.
struct Select {
  Unit unit = Unit::character;
  std::size_t from = 0;
  std::size_t to = 0;
  bool upstream = false;
};
struct SelectAll {};
/// Appends bytes and moves the cursor after them. Consecutive appends with `join` are one undo step.
struct Append {
  std::string bytes;
  bool join = false;
};
/// Replaces the text, as one undo step.
struct Replace {
  std::string text;
};
struct Undo {};
struct Redo {};
using TextCommand = std::variant<Insert, Erase, Move, MoveTo, Select, SelectAll, Append, Replace, Undo, Redo>;

/// The state after a command. Never alters other bytes; offsets beyond the end count as the end. Move the
/// state in to avoid copying the text.
TextState apply(TextState state, const TextCommand& command);

enum class RowMotion { row_start, row_end, up, down, page_up, page_down };

/// A motion through the wrapped rows.
MoveTo row_motion(const TextState& state, EditMetrics& metrics, RowMotion motion, bool extend);

}  // namespace headscope::app
