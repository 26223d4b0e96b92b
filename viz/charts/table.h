#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "viz/scene/picture.h"
#include "viz/scene/scale.h"

namespace headscope::viz {

/// A column of a table. Its cells' contents are given for all rows, by row index.
struct TableColumn {
  enum class Kind {
    text,    ///< words, left-aligned
    number,  ///< right-aligned
    bar,     ///< a bar on the column's axis, with its number at the right
    strip    ///< a vector as coloured cells
  };
  Kind kind = Kind::text;
  std::string heading;
  Color heading_color;
  Color color;       ///< colour of words and numbers
  float least = 0;   ///< width in logical pixels below which the column is dropped; 0: as its kind needs
  float most = 0;    ///< maximum width; 0: as its kind can use
  float enough = 0;  ///< width that it has before columns of less importance have any
  /// Without enough room, columns of least importance are dropped first; ties: the right one.
  int importance = 0;
  bool hidden = false;  ///< never shown; the picture is whole nevertheless

  /// For Kind::text; for number and bar, if given, written instead of each number. Must outlive the table.
  std::span<const std::string> texts;
  /// For text: small, at the cell's right end; like `texts`; empty: none.
  std::span<const std::string> details;
  bool cut_at_start = false;   ///< of a text without room the end is shown, not the beginning
  std::vector<Color> grounds;  ///< for text: background of each cell; empty: none
  std::vector<bool> framed;    ///< for text: which cells have a frame; empty: none
  Color frame;
  std::vector<float> numbers;   ///< for number and bar
  std::vector<float> marks;     ///< for bar: other numbers, as upright lines; empty: none
  std::vector<bool> blank;      ///< for number, bar and strip: which rows are blank; empty: none
  int decimals = -1;            ///< decimal points are aligned; -1: as many as fit with the largest number
  double scientific_below = 0;  ///< smaller ones but 0 are written "2.1e−5"; millions are "1.23e6" always

  bool is_signed = false;  ///< bars take the colours of their signs
  /// Limits of the bars' axis, which includes 0. Equal: those of the numbers, in a table that cannot scroll
  /// of the rows that are shown.
  double low = 0, high = 0;
  bool rounds = false;  ///< such limits are round numbers, for signed bars of both signs
  bool axis = false;    ///< its limits are written next to the heading, with a line at the upper one

  std::vector<std::span<const float>> vectors;  ///< for strip; must outlive the table
  std::vector<float> factors;                   ///< a row's vector is multiplied by; empty: none
  ColorScale scale;
  std::vector<ColorScale> scales;  ///< of each row instead; empty: none
  std::string scale_title;         ///< what it is called in a legend; empty: in none
  int vector_row = 0;              ///< row of the strips' regions, to tell columns apart
};

/// A cell of a fixed row, above or below the others.
struct FixedCell {
  int column = 0;
  std::string text;               ///< aligned like the column's
  Color color;                    ///< colour of all text in the cell
  std::span<const float> vector;  ///< for a strip; must outlive the table
  int vector_id = 0;              ///< id of the strip's region
  int vector_row = 0;
  std::optional<ColorScale> scale;  ///< the strip's own; none: the column's
  std::string beside;               ///< next to a strip: right of it, or without room there left of it
};
using FixedRow = std::vector<FixedCell>;

/// Rows under headings, between fixed rows that are always shown.
struct Table {
  int rows = 0;
  std::vector<TableColumn> columns;  ///< from left to right
  std::vector<FixedRow> header;
  std::vector<FixedRow> footer;
  int first = 0;  ///< index in the order of the first visible row
  /// For pictures that cannot scroll: if not all rows fit, they stand in two blocks side by side where
  /// narrow columns leave room for that, and a line under them says which are shown. Fixed rows below the
  /// others stand in the second block.
  bool note_below = false;
  std::vector<float> strengths = {};  ///< of the rows; empty: none is stronger than another
  std::vector<float> order = {};  ///< what rows are sorted by, ascending, NaN last; empty: as they are given
  /// If not all rows fit, the marked one is among those that are shown, and the others are the first ones if
  /// they are sorted, else the strongest; `first` has no effect.
  bool selects = false;
  int max_rows = 0;  ///< maximum number of rows; 0: as many as fit
  int marked = -1;   ///< index of a row on a ground of `mark`; -1: none
  Color mark;
  std::string row_names;  ///< in the note: "keys", "strongest keys"
  int first_number = 0;   ///< number of the first row in the note
  int row_role = 0;       ///< role of the rows' regions; their ids are the rows' indices
  int vector_role =
      0;  ///< role of the strips' regions: a column for each component, ids are the rows' indices
};

/// The rows in their order.
std::vector<int> table_rows(const Table& table);

/// The layout.
struct TableLayout {
  struct Place {
    int column = 0;
    float x = 0;
    float w = 0;
    double low = 0, high = 0;  ///< limits of the axis of bars
    float right() const { return x + w; }
  };
  Rect area;
  std::vector<Place> places;  ///< places of the columns that fit, from left to right, in the first block
  std::vector<int> rows;      ///< the visible rows, from the top
  int first = 0, all = 0;     ///< the first of them, and how many there are, in the table's order
  float rows_top = 0, row_height = 0;  ///< of the rows; fixed ones have the default height
  int per_block = 1;                   ///< rows in the first of two blocks; in one, all of them
  float block_width = 0;               ///< from the first block's left to that of the second
  bool note_below = false;             ///< the note has a line under the rows
  std::string note;                    ///< which rows show, "keys 3 to 17 of 42"; empty: all of them
  bool whole = true;                   ///< all columns and rows fit

  float left() const { return places.empty() ? area.x : places.front().x; }
  float right() const { return places.empty() ? area.x : places.back().right(); }
  Rect cell(const Place& place, std::size_t row) const {  ///< of a visible row, in one block
    return {place.x, rows_top + static_cast<float>(row) * row_height, place.w, row_height};
  }
  const Place* place_of(int column) const;  ///< null: it was dropped
  std::vector<TableLayout> blocks() const;  ///< one or two, each with its rows and places
};

float table_row_height(const Style& style);
/// The least: rows stand closer, down to this, where that makes room for all of them.
float least_row_height(const Style& style);
/// The height at which all rows fit, or the maximum number of rows; the columns may be missing.
float table_height(const Table& table, const Style& style);

TableLayout lay_out_table(const Table& table, Rect area, const Style& style);

/// Draws the layout. The picture is not whole if columns, rows, scales or parts of texts are left out.
void paint_table(Picture& picture, const Table& table, const TableLayout& layout, const Style& style);

/// Decimals for numbers up to this magnitude in one column.
int decimals_for(double largest);

}  // namespace headscope::viz
