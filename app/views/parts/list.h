#pragma once
#include <deque>
#include <ranges>
#include <type_traits>
#include <utility>

#include "app/views/content.h"
#include "app/views/parts/declare.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/selected.h"
#include "viz/charts/table.h"

// Lists: rows under headings. A picture shows as many rows as fit, a file has all of them. A view declares
// its columns once; its picture and its file are made from that. ListRows says how the rows are moved.
namespace headscope::app {

/// The scroll position of a list: its first shown row. By default -1: chosen by the view.
Option<int> first_row_option(std::string_view name, bool reset_on_prompt_change = false, int by_default = 0);
/// The first of `shown` rows such that a row is among them: in the middle, unless it is among the first ones.
constexpr int first_row_showing(int row, int shown) {
  return row < shown ? 0 : row - shown / 2;
}

/// Sorts lists with a row for each key.
extern const Option<bool> kStrongestFirst;

/// The rows of a scrollable list: which are shown, and where.
struct TableRows {
  const Option<int>* option = nullptr;  ///< the option for the first row
  int first = 0;
  int shown = 0;  ///< 0: there is no list
  int all = 0;
  viz::Rect place;
  bool sideways = false;  ///< columns in place of rows

  /// From where the option says, which may be newer than the picture.
  TableRows with(const Options& options) const;
  bool scrolls() const { return shown > 0 && shown < all; }
  bool shows(int row) const { return row >= first && row < first + shown; }
  /// Scrolls to a row, but not past the end.
  SetOption from(double row) const;
  /// Scrolls just far enough to show a row that is out of sight.
  SetOption showing(int row) const { return from(row < first ? row : row + 1 - shown); }
  /// Columns are moved by a wheel that goes sideways, or with Shift.
  ViewActions by_wheel(const Gesture& gesture) const;
  /// The action of a key: lines, pages, Home and End. Nothing for other keys, and without a list.
  std::optional<ViewActions> by_key(Key key) const;
  /// The scroll bar, at `right`; none if all rows are visible.
  std::vector<Scroll> bars(float right) const;
};

/// Which keys move the rows of a list; other keys move along the prompt.
enum class ListKeys {
  lines_and_pages,  ///< arrows up and down, Page Up and Down, Home and End
  pages
};

/// How the rows of a view's list are moved.
struct ListRows {
  int role = 0;            ///< role of the rows' regions
  Option<int> first;       ///< the scroll position, see first_row_option
  std::string_view names;  ///< in the note about the shown rows: "keys"
  ListKeys keys = ListKeys::lines_and_pages;
  bool cut_keeps_order = false;  ///< a figure cut to some rows shows neighbours, not the strongest ones
  int first_number = 1;  ///< of the first row in that note; 0: rows are positions, unless they are sorted
};

/// A column's look and its heading in files; see viz::TableColumn.
struct ListLook {
  std::optional<Column> file = {};  ///< its name, unit and use in files; none: not in files
  std::optional<viz::Color> color = {},
                            heading = {};  ///< colours of text and heading; none: text colour, and muted
  int digits = -1;                         ///< decimals; -1: as many as fit
  double scientific = 0;                   ///< smaller numbers are written "2.1e−5"
  double low = 0, high = 0;                ///< ends of the axis of bars; equal: those of the numbers
  bool rounds = false;                     ///< equal ends are round numbers instead
  bool axis = false;                       ///< the axis' ends are shown next to the heading
  float least = 0, most = 0;               ///< width in logical pixels; 0: as the cells need
  float enough = 0;                        ///< width that it has before columns of less importance
  std::optional<bool> is_signed = {};      ///< bars take the colours of their signs; none: of differences
  bool hidden = false;                     ///< not in pictures; files still have it
  /// On the difference side its numbers are differences: the heading says so, and only finite ones show.
  bool differs = false;
  bool tip = true;                          ///< numbers are said at the mouse
  std::function<bool(int row)> blank = {};  ///< which cells are empty, in files too; none: no cell is
};

/// A column: its look, and functions from a row to a cell's contents, in pictures and in files.
struct ListColumn : viz::TableColumn {
  std::function<std::string(int row)> text, detail;
  std::function<Cell(int row)> file_cell;
  std::function<float(int row)> number;
  std::function<std::span<const float>(int row)> vector;
  std::function<void(viz::Scene&, const ViewContext&, int row, viz::Rect cell)> draw;  ///< over its cells
  ListLook look;
};

template <class T>
inline constexpr bool is_function_of_row = std::is_invocable_v<const std::remove_reference_t<T>&, int>;

/// The cells of a column: a function of the row, or a range with one for each row, which is no temporary.
template <class T>
concept ListCells = is_function_of_row<T> || std::ranges::borrowed_range<T>;

/// The columns of a list over its rows, counted from 0. The context and everything that the columns'
/// functions refer to must outlive it.
class List final : public RoleBox {
 public:
  List(const ViewContext& context, const ListRows& rows, int count);
  /// Few rows, which are all shown.
  List(const ViewContext& context, int role, int count);

  /// What a row is about, for its words, click and commands. Null, or an empty Ref: nothing.
  std::function<Ref(int row)> refers_to;
  /// Facts about a row in addition to its numbers.
  std::function<void(Facts&, int row)> row_facts;
  /// What a click on a row, or an arrow to it with Shift, does; null: it selects what the row is about.
  std::function<ViewActions(const ViewContext&, int row)> on_click;
  /// The row in sight unless a first row is chosen; -1: of rows that are not sorted, the strongest.
  int kept = -1;
  // Ems: with less it stands below other boxes, not next to them; all columns have room; it gains nothing.
  float least_width = 12, good_width = 30, most_width = std::numeric_limits<float>::infinity();
  bool may_be_cut = false;  ///< without a scroll position, too, rows but the marked one may be left out
  int least_rows = 0;       ///< below which it is too low; 0: three lines are enough, whatever they are

  /// Sorts the rows by these numbers, whatever their strengths.
  template <ListCells Cells>
  void order_by(Cells&& numbers, bool descending = true) {
    if (rows_ != nullptr && rows_->first_number == 0) table.row_names = "rows", table.first_number = 1;
    for (int row = 0; row < table.rows; ++row)
      table.order.push_back((descending ? -1 : 1) * static_cast<float>(by_row<Cells>(numbers)(row)));
  }
  /// Of rows that are not sorted, which of them a figure has that has no room for all.
  template <ListCells Cells>
  void rank_by(Cells&& numbers) {
    for (int row = 0; row < table.rows; ++row)
      table.strengths.push_back(static_cast<float>(by_row<Cells>(numbers)(row)));
  }

  template <ListCells Cells>
  ListColumn& text(std::string heading, int importance, Cells&& cells, const ListLook& look = {}) {
    ListColumn& column = add(viz::TableColumn::Kind::text, std::move(heading), importance, look);
    column.text = by_row<Cells>(cells);
    column.file_cell = [cell = by_row<Cells>(cells)](int row) { return cell_of(cell(row)); };
    return column;
  }
  template <ListCells Cells>
  ListColumn& number(std::string heading, int importance, Cells&& cells, const ListLook& look = {}) {
    ListColumn& column = add(viz::TableColumn::Kind::number, std::move(heading), importance, look);
    column.number = [cell = by_row<Cells>(cells)](int row) { return static_cast<float>(cell(row)); };
    column.file_cell = [cell = by_row<Cells>(cells)](int row) { return cell_of(cell(row)); };
    if (look.differs) set_difference(column);
    return column;
  }
  template <ListCells Cells>
  ListColumn& bar(std::string heading, int importance, Cells&& cells, const ListLook& look = {}) {
    ListColumn& column = number(std::move(heading), importance, std::forward<Cells>(cells), look);
    column.kind = viz::TableColumn::Kind::bar;
    return column;
  }
  /// `vectors`: one for each row. `which`: `row` of its regions, to tell strips apart. In files there is a
  /// column for each component, after all others, empty beyond a vector's end.
  template <std::ranges::borrowed_range Vectors>
  ListColumn& strip(std::string heading, int importance, int which, Vectors&& vectors,
                    const ListLook& look = {}) {
    ListColumn& column = add(viz::TableColumn::Kind::strip, std::move(heading), importance, look);
    column.vector = [all = std::span(vectors)](int row) {
      const auto at = static_cast<std::size_t>(row);
      return at < all.size() ? std::span<const float>(all[at]) : std::span<const float>();
    };
    column.vector_row = which;
    return column;
  }
  /// A column only in files.
  template <ListCells Cells>
  void file(Column heading, Cells&& cells) {
    ListColumn& column =
        add(viz::TableColumn::Kind::text, "", 0, {.file = std::move(heading), .hidden = true});
    column.file_cell = [cell = by_row<Cells>(cells)](int row) { return cell_of(cell(row)); };
  }

  /// Index in the table of the last declared column.
  int last() const { return static_cast<int>(columns_.size()) - 1; }
  /// A cell of a fixed row above or below the others, in the theme's text colour.
  viz::FixedCell cell(int column, std::string text) const;
  /// "sum of all 9" under a list of `count`, or "sum".
  viz::FixedCell sum_cell(int column, std::size_t count) const;
  /// A vector in a fixed row, and what it is called at the mouse. `which`: as for a column of strips.
  viz::FixedCell strip_cell(int column, int which, std::string called, std::span<const float> vector);

  /// What stands first below the rows, by those that are seen. Null: it is the same for all.
  std::function<viz::FixedRow(std::span<const int> rows)> footer_of;

  /// Adds a row below the others: words in the first column of texts, a number in the one declared last.
  void add_footer(std::string words, std::string value, std::optional<viz::Color> color = {});

  /// Marks the first row that is chosen. Several may be, such as those of prompts that are the same: Shift
  /// and an arrow go from all of them to the next one.
  void mark(std::function<bool(int row)> is_chosen);

  // For pictures.
  viz::Table table;  ///< complete except for its columns, until it is laid out
  const viz::TableLayout& layout() const { return layout_; }
  /// The scales of its strips that have titles, for a legend; its columns are complete.
  std::vector<Swatch> scales();
  /// The table with its columns' cells.
  const viz::Table& filled();
  // As a box.
  Wish width(const ViewContext& context) const override;
  Wish height(const ViewContext& context, float width) const override;
  bool place(const ViewContext& context, viz::Rect area) override;
  /// Scrolled rows and dropped columns do not make the picture incomplete: `picture.whole` stays.
  void paint(Picture& picture, const ViewContext& context) const override;
  /// Which rows are shown, and in a pane which columns are not, but for those without importance.
  std::string note() const override;
  std::optional<Ref> ref_at(const Spot& at) const override;
  void add_facts(Facts& facts, const ViewContext& context, const Spot& at) const override;
  std::optional<ViewActions> on(const ViewContext&, const Spot*, const Gesture&) const override;
  void settle(ViewActions& actions, const ViewContext& context, const Spot& at) const override;
  void add_scrolls(std::vector<Scroll>&, const ViewContext&, const Picture&) const override;

  /// Says a row's numbers, and its other facts.
  void say_row(Facts& facts, int row) const;

  /// The table for files, see Table::ranked_by, with `rows` rows; -1: all of the picture's.
  Table exported(std::string ranked_by = {}, int rows = -1) const;

 private:
  struct FixedStrip {
    int which = 0;
    std::string name;
    std::span<const float> vector;
  };

  Ref ref_of(const viz::Region& region, int, int) const override {
    return refers_to && region.id < table.rows ? refers_to(region.id) : Ref();
  }
  /// The rows that a picture shows; the option may be newer.
  TableRows shown_rows(const ViewContext& context) const;
  bool lay_out(const ViewContext& context);
  /// The row that was hit, or whose strip was; -1: none.
  int row_at(const Spot& at) const;
  /// The column whose strip was hit; null: none.
  const ListColumn* strips_at(const Spot& at) const;
  /// Says a strip's component that was hit.
  void add_component(Facts& facts, const Spot& at) const;
  /// Chooses a row above or below the marked one, and scrolls to it.
  ViewActions choose_next(const ViewContext& context, const TableRows& rows, int by) const;
  void set_difference(ListColumn& column) const;
  /// The scale of strips that are not given one: that of their largest number.
  viz::ColorScale own_scale(const viz::TableColumn& column, int index) const;
  ListColumn& add(viz::TableColumn::Kind kind, std::string heading, int importance, const ListLook& look);
  template <class Cells>
  static auto by_row(const std::remove_reference_t<Cells>& cells) {
    if constexpr (std::invocable<decltype(cells), int>) {
      return cells;
    } else {
      return [all = std::span(cells)](int row) -> const auto& {
        return all[row];
      };
    }
  }

  const ViewContext& context_;
  const ListRows* rows_ = nullptr;  ///< null: all are shown
  std::deque<ListColumn> columns_;
  std::deque<std::vector<std::string>> texts_;  // texts of the table's columns
  std::function<bool(int row)> is_chosen_;
  bool filled_ = false;
  std::vector<FixedStrip> fixed_;
  viz::TableLayout layout_;
};

/// Sorts a list with a row for each key by weight, if kStrongestFirst says so, and marks the selected key.
void arrange_keys(List& list, const ViewContext& context, std::span<const float> weights);

}  // namespace headscope::app
