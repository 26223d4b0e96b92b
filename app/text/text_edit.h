#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "viz/text/text.h"

// A text that is edited: where its caret can be, how its rows lie, and what changes it.
namespace headscope::app {

// Caret positions in bytes that are mostly, but not always, UTF-8. A byte outside a well-formed character
// counts as a character. All offsets are in bytes; those beyond the end count as the end.

inline bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

/// Bytes [begin, end).
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  bool operator==(const ByteRange&) const = default;
};

/// The longest grapheme, in characters: longer runs of combining marks are cut, so that nothing takes
/// quadratic time.
inline constexpr int kLongestGrapheme = 128;

/// First boundary of an extended grapheme cluster (Unicode Annex 29) after `at`, which must be a boundary.
std::size_t next_grapheme(std::string_view text, std::size_t at);
/// Last boundary before `at`, which may be any byte; 0 at the start.
std::size_t previous_grapheme(std::string_view text, std::size_t at);
/// Last boundary at or before `at`.
std::size_t grapheme_floor(std::string_view text, std::size_t at);

/// End of the word after `at`: skips spaces, then letters and digits, or else signs.
std::size_t next_word(std::string_view text, std::size_t at);
/// Start of the word before `at`.
std::size_t previous_word(std::string_view text, std::size_t at);

/// What a double click at `at` selects: a run of letters and digits, of spaces, or of signs; or a single line
/// break.
ByteRange word_at(std::string_view text, std::size_t at);
/// The line around `at`, including its line feed.
ByteRange paragraph_at(std::string_view text, std::size_t at);

/// Lays out one line without line breaks, like viz::Fonts::layout. Tests use a monospaced layout.
using LineLayout = std::function<viz::TextLayout(std::string_view line)>;

/// One row of the wrapped text: its bytes [start, end), without the line break.
struct EditRow {
  std::size_t start = 0;
  std::size_t end = 0;
  bool hard = false;  ///< ends at a line break or the end of the text, not by wrapping
  bool operator==(const EditRow&) const = default;
};

/// A position of the caret in a row.
struct CaretStop {
  std::size_t byte = 0;  ///< offset in the text, in bytes
  float x = 0;           ///< from the start of the row, logical pixels
};

/// The rows of a soft-wrapped text. Wraps at spaces, hyphens and next to ideographs, or within a word that is
/// wider than the row; one space may overhang the edge. Line breaks are "\n" and "\r\n". There is at least
/// one row; a text that ends in a line break has an empty last row. `width` <= 0: never wraps.
std::vector<EditRow> wrap(std::string_view text, const LineLayout& layout, float width);

/// The row of a byte. A byte at which one row wraps and the next starts belongs to the next row, or with
/// `upstream` to the previous one.
std::size_t row_of(const std::vector<EditRow>& rows, std::size_t byte, bool upstream);

/// The wrapped text of an editor: a cache of wrap() and of the caret's stops for the last text.
class EditMetrics {
 public:
  /// All widths are 0 and nothing wraps until `use` is called.
  EditMetrics() = default;
  EditMetrics(LineLayout layout, float width, std::size_t page_rows = 1);

  /// Sets font and width; cheap if nothing changed. With `single_line` the whole text, including line breaks,
  /// is one row.
  void use(std::shared_ptr<const viz::Fonts> fonts, float font_size, float width, std::size_t page_rows,
           bool single_line);

  const std::vector<EditRow>& rows(std::string_view text);
  /// The positions of the caret in one of the rows, ascending; the last one is its end. Valid until the rows
  /// are laid out again.
  const std::vector<CaretStop>& stops(std::string_view text, const EditRow& row);
  std::size_t page_rows() const { return page_rows_; }

 private:
  LineLayout line_ = [](std::string_view) { return viz::TextLayout{}; };
  float width_ = 0;
  std::size_t page_rows_ = 1;
  bool single_line_ = false;
  std::shared_ptr<const viz::Fonts> fonts_;
  float font_size_ = 0;
  bool stale_ = true;  ///< rows_ was made for other widths
  std::string text_;
  std::vector<EditRow> rows_;
  std::map<std::size_t, std::vector<CaretStop>> stops_;  // of rows that were asked for, by their start
};

/// The stop nearest to `x`.
CaretStop nearest_stop(const std::vector<CaretStop>& stops, float x);
/// The last stop at or left of `x`: the stop of the character at `x`.
CaretStop stop_under(const std::vector<CaretStop>& stops, float x);
/// The last stop at or before `byte`.
CaretStop stop_of(const std::vector<CaretStop>& stops, std::size_t byte);

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
