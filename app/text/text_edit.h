#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "app/text/edit_layout.h"
#include "app/text/text_boundaries.h"

namespace headscope::app {

/// A change of a text, which the next one may extend: typing a word, holding a key down.
struct TextChange {
  enum class Kind { typed, erased, appended, other };
  Kind kind = Kind::other;
  ByteRange place = {};  ///< of what it inserted
};

/// The longest text of a field: a whole prompt.
inline constexpr std::size_t kMaxText = std::size_t{1} << 20;

/// An editable text of any bytes. The selection is between anchor and cursor.
struct TextState {
  std::string text;
  std::size_t cursor = 0;
  std::size_t anchor = 0;
  bool upstream = false;             ///< at a wrap: the caret is at the end of the previous row
  std::optional<float> preferred_x;  ///< target of consecutive up and down motions
  TextChange last_change;
  bool extends_change = false;  ///< the last change and the one before are one step of undo

  ByteRange selection() const;
  std::string_view selected() const;
};

/// Cursor at the end.
TextState make_text_state(std::string text);

enum class Motion { left, right, word_left, word_right };
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
/// Moves the cursor to a byte, beyond the end to the end: the result of row_motion().
struct MoveTo {
  std::size_t byte = 0;
  bool extend = false;
  bool upstream = false;
  std::optional<float> preferred_x = {};
};
/// Selects from the unit at `from` to the one at `to`, with the cursor at the end of the latter. Both are
/// equal for a click.
struct Select {
  Unit unit = Unit::character;
  std::size_t from = 0;
  std::size_t to = 0;
  bool upstream = false;
};
inline constexpr Select kSelectAll{.to = std::string_view::npos};
/// Appends bytes and moves the cursor after them. Consecutive appends with `join` are one undo step.
struct Append {
  std::string bytes;
  bool join = false;
};
/// Replaces the text.
struct Replace {
  std::string text;
};
using TextCommand = std::variant<Insert, Erase, Move, MoveTo, Select, Append, Replace>;

/// The state after a command. Never alters other bytes; offsets beyond the end count as the end. Move the
/// state in to avoid copying the text.
TextState apply(TextState state, const TextCommand& command);

/// How a text became another one: what differs between their common beginning and end, whole characters.
struct ChangedText {
  std::size_t at = 0;
  std::string_view removed, inserted;
};
ChangedText changed_text(std::string_view before, std::string_view now);

enum class RowMotion { row_start, row_end, up, down, page_up, page_down };

/// A motion through the wrapped rows.
MoveTo row_motion(const TextState& state, EditMetrics& metrics, RowMotion motion, bool extend);

}  // namespace headscope::app
