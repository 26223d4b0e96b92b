#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "viz/scene/picture.h"
#include "viz/scene/scale.h"

namespace headscope::viz {

/// A column of a table. What its cells say is given for all rows, in the order of the rows' indices.
struct TableColumn {
  enum class Kind {
    text,    ///< words, left-aligned
    number,  ///< right-aligned
    bar,     ///< a bar on the column's axis, its number right of it
    strip    ///< a vector as coloured cells
  };
  Kind kind = Kind::text;
  std::string heading;
  Color heading_color;
  Color color;          ///< of words and numbers
  float least = 0;      ///< width in logical pixels under which the column gives way; 0: as its kind needs
  float most = 0;       ///< what it takes where there is room; 0: as its kind can use
  int importance = 0;   ///< where there is no room, columns of the least go first; of equals the right one
  bool hidden = false;  ///< does not show however much room there is, and nothing is missing then

  /// Of Kind::text; of number, where given, what is written in place of each number. Must outlive the table.
  std::span<const std::string> texts;
  std::span<const std::string> details;  ///< of text: small, at the cell's right end; as texts; empty: none
  std::vector<Color> grounds;            ///< of text: under each cell; empty: none
  std::vector<bool> framed;              ///< of text: which cells have a frame; empty: none
  Color frame;
  std::vector<float> numbers;  ///< of number and bar
  std::vector<bool> blank;     ///< of number, bar and strip: which rows have none; empty: all have
  int decimals = -1;  ///< points stand below each other; -1: as many as the largest number leaves room for
  double scientific_below = 0;  ///< smaller ones but 0 are written "2.1e−5"; millions are "1.23e6" always

  Color bar_color;
  std::optional<Color> bar_below;  ///< of bars below zero; none: the same
  double low = 0, high = 0;  ///< ends of the bars' axis, 0 among them or between; equal: those of the numbers
  bool axis = false;         ///< its limits are written next to the heading, the upper one has a line

  std::vector<std::span<const float>> vectors;  ///< of strip; must outlive the table
  std::vector<float> factors;                   ///< a row's vector is multiplied by; empty: none
  ColorScale scale;
  std::string scale_title;  ///< in the legend; empty: not there
  int vector_row = 0;       ///< of the strips' regions: tells columns apart
};

/// What a row of its own, above or below the others, says in a column.
struct FixedCell {
  int column = 0;
  std::string text;               ///< aligned as the column's
  float size = 0;                 ///< of the text; 0: small
  Color color;                    ///< of all words of the cell
  std::span<const float> vector;  ///< of a strip; must outlive the table
  int vector_id = 0;              ///< of the strip's region
  int vector_row = 0;
  std::string before, after;  ///< words next to a strip
  std::string instead;        ///< when the column is omitted: after the previous cell of the row
};
using FixedRow = std::vector<FixedCell>;

struct TableOrder {
  int column = -1;      ///< of numbers; -1: as they are given
  bool falling = true;  ///< else rising
};

/// Rows under headings, between rows that always show.
struct Table {
  int rows = 0;
  std::vector<TableColumn> columns;  ///< from left to right
  std::vector<FixedRow> header;
  std::vector<FixedRow> footer;
  std::string masked;   ///< a hatched line under the rows says that there are others, which the table has not
  bool legend = false;  ///< a line under the table with the strips' scales
  int first = 0;        ///< place in the order of the first row that shows
  int marked = -1;      ///< index of a row on a ground of `mark`; -1: none
  Color mark;
  TableOrder order;
  std::string filter;     ///< only rows in which some text contains it, byte by byte; empty: all
  std::string row_names;  ///< in the note: "keys", "strongest keys"
  int first_number = 0;   ///< what the note calls the first row
  int row_role = 0;       ///< of the rows' regions; their ids are the rows' indices
  int vector_role = 0;    ///< of the strips' regions: a column for each component, ids are the rows' indices
};

/// The rows that pass the filter, in the order asked for: stable, and what is no number last.
std::vector<int> table_rows(const Table& table);

/// Where everything stands.
struct TableLayout {
  struct Place {
    int column = 0;
    float x = 0;
    float w = 0;
    float right() const { return x + w; }
  };
  Rect area;
  std::vector<Place> places;  ///< of the columns that have room, from left to right
  std::vector<int> rows;      ///< those that show, from above
  TableWindow window;         ///< the same as places among all that pass the filter
  float rows_top = 0;
  bool masked = false;  ///< there is room for the line
  bool legend = false;  ///< some strip shows that it is about
  std::string note;     ///< which rows show, "keys 3 to 17 of 42"; empty: all of them
  bool whole = true;    ///< all columns and rows have room

  float left() const { return places.empty() ? area.x : places.front().x; }
  float right() const { return places.empty() ? area.x : places.back().right(); }
  const Place* place_of(int column) const;  ///< null: it gave way
};

float table_row_height(const Style& style);
/// At which all rows show, whatever the filter; the columns need not be there.
float table_height(const Table& table, const Style& style);

TableLayout lay_out_table(const Table& table, Rect area, const Style& style);

/// Paints what the layout has room for. The picture is not whole where columns, rows, scales or parts of
/// words are left out.
void paint_table(Picture& picture, const Table& table, const TableLayout& layout, const Style& style);

/// Decimals for numbers up to this magnitude in one column.
int decimals_for(double largest);

}  // namespace headscope::viz
