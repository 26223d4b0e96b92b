#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "viz/text/text.h"

namespace headscope::app {

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

}  // namespace headscope::app
