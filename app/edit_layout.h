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

/// What wrap(text) gives, taking from the layout of `old_text` the rows that the change did not touch.
EditLayout rewrap(const EditLayout& old_layout, std::string_view old_text, std::string_view text,
                  Advances& advances, float width);

/// The row of a byte. A byte where one row ends by wrapping and the next starts belongs to the next, or with
/// `upstream` to the former.
std::size_t row_of(const EditLayout& layout, std::size_t byte, bool upstream);

/// What commands need to know of how the text is shown: a memo of wrap() for the text last asked for, not a
/// state.
class EditMetrics {
 public:
  /// Never wraps and has no widths, until told.
  EditMetrics() = default;
  EditMetrics(LineLayout layout, float width, std::size_t page_rows = 1);

  /// As the above for a font; cheap when nothing changed. `width` in logical pixels.
  void use(std::shared_ptr<const viz::Fonts> fonts, float font_size, float width, std::size_t page_rows);

  const EditLayout& layout(std::string_view text);
  /// One line as it is drawn.
  viz::TextLayout line(std::string_view line) const;
  /// Of one row, in rising order: at least its start. The last is its end.
  std::vector<CaretStop> stops(std::string_view text, const EditRow& row) const;
  /// Stop that is nearest to `x`.
  std::size_t byte_at(std::string_view text, const EditRow& row, float x) const;
  float x_of(std::string_view text, const EditRow& row, std::size_t byte) const;
  std::size_t page_rows() const { return page_rows_; }

 private:
  LineLayout line_ = [](std::string_view) { return viz::TextLayout{}; };
  Advances advances_{line_};
  float width_ = 0;
  std::size_t page_rows_ = 1;
  std::shared_ptr<const viz::Fonts> fonts_;
  float font_size_ = 0;
  std::string text_;
  EditLayout layout_{{EditRow{.hard = true}}};
};

}  // namespace headscope::app
