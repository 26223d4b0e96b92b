#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "viz/text.h"

namespace headscope::app {

/// Lays out one line without line breaks, as viz::Fonts::layout does. Tests give a monospaced one.
using LineLayout = std::function<viz::TextLayout(std::string_view line)>;

/// One line of the wrapped text: bytes [start, end) of it, without the line break.
struct EditRow {
  std::size_t start = 0;
  std::size_t end = 0;
  std::size_t looked = 0;  ///< the bytes from here on had no part in where this row ends
  bool hard = false;       ///< ends at a line break or the end of the text, not by wrapping
  bool operator==(const EditRow&) const = default;
};

/// Soft-wrapped text. There is always a row; a text that ends in a line break has an empty last one.
struct EditLayout {
  std::vector<EditRow> rows;
  bool operator==(const EditLayout&) const = default;
};

/// A place where the caret can stand in a row.
struct CaretStop {
  std::size_t byte = 0;  ///< of the text
  float x = 0;           ///< from the start of the row, logical pixels
};

/// How wide each character is, remembered.
class Advances {
 public:
  explicit Advances(LineLayout layout);
  /// `character`: one character, or one byte that is none.
  float operator()(std::string_view character);

 private:
  LineLayout layout_;
  std::array<float, 128> ascii_;
  std::unordered_map<std::uint32_t, float> others_;
};

/// Wraps at spaces, hyphens and beside ideographs, within words where one is wider than the row; one space
/// may hang over the edge. Line breaks are "\n" and "\r\n". `width` <= 0: never wraps.
EditLayout wrap(std::string_view text, Advances& advances, float width);

/// What wrap(text) gives, taking from the layout of `old_text` the rows that the change did not touch. Both
/// layouts are for the same advances and width.
EditLayout rewrap(const EditLayout& old_layout, std::string_view old_text, std::string_view text,
                  Advances& advances, float width);

/// The row of a byte. A byte where one row ends by wrapping and the next starts belongs to the next, or with
/// `upstream` to the former.
std::size_t row_of(const EditLayout& layout, std::size_t byte, bool upstream);

/// How a text is shown. Lengths are logical pixels.
struct EditShape {
  float width = 0;   ///< of the rows; 0: they are never wrapped
  float height = 0;  ///< of what is in sight
  float row_height = 0;
  bool single_line = false;  ///< all of the text is one row, line breaks too
  bool operator==(const EditShape&) const = default;
};

/// The text as it was shown last: a memo of wrap() and the widths it needs, not a state. One for each editor.
class EditMetrics {
 public:
  /// Knows no widths and never wraps, until told.
  EditMetrics();
  EditMetrics(LineLayout layout, const EditShape& shape);

  /// Shows text in another way from now on; cheap when it is the same.
  void use(const std::shared_ptr<const viz::Fonts>& fonts, float font_size, const EditShape& shape);

  const EditShape& shape() const { return shape_; }
  const EditLayout& layout(std::string_view text);
  /// Where the caret can stand in a row, in rising order: at least its start; the last is its end.
  std::vector<CaretStop> stops(std::string_view text, const EditRow& row) const;
  /// The stop of a row that is nearest to `x`; never where a row ends by wrapping, which is the next one's
  /// start.
  std::size_t byte_at(std::string_view text, const EditRow& row, float x) const;

 private:
  LineLayout line_;
  Advances advances_;
  EditShape shape_;
  std::shared_ptr<const viz::Fonts> fonts_;
  float font_size_ = 0;
  bool stale_ = true;  ///< whether layout_ was made for another shape or font
  std::string text_;
  EditLayout layout_;
};

/// The last stop at or before `byte`.
CaretStop stop_of(const std::vector<CaretStop>& stops, std::size_t byte);

}  // namespace headscope::app
