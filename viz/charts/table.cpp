#include "viz/charts/table.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "viz/charts/heatmap.h"
#include "viz/charts/number_axis.h"
#include "viz/charts/table_rows.h"
#include "viz/scene/contrast.h"

namespace headscope::viz {
namespace {

using Kind = TableColumn::Kind;
using Place = TableLayout::Place;

// In ems.
constexpr float kMaxText = 10;
constexpr float kMinBar = 2.5F;
constexpr float kMaxBar = 9;
constexpr float kMinStrip = 5.5F;
constexpr float kMaxStrip = 24;

constexpr float kMaxComponent = 6;  // logical pixels
constexpr float kSlack = 0.5F;      // a text this much wider than its column is not truncated

bool has_numbers(const TableColumn& column) {
  return column.kind == Kind::number || column.kind == Kind::bar;
}
Align alignment(const TableColumn& column) {
  return has_numbers(column) ? Align::right : Align::left;
}
FontStyle heading_face(const TableColumn& column) {
  return has_numbers(column) ? FontStyle::regular : FontStyle::medium;
}

/// The smallest and largest finite number, zero included.
std::pair<double, double> range_with_zero(std::span<const float> numbers) {
  double low = 0, high = 0;
  for (const float v : numbers) {
    if (!std::isfinite(v)) continue;
    low = std::min(low, static_cast<double>(v));
    high = std::max(high, static_cast<double>(v));
  }
  return {low, high};
}

/// The axis of a column's bars in these rows.
std::pair<double, double> axis_of(const TableColumn& column, std::span<const int> rows) {
  if (column.low < column.high || !has_numbers(column)) return {column.low, column.high};
  std::vector<float> numbers;
  for (const int row : rows) numbers.push_back(column.numbers[static_cast<std::size_t>(row)]);
  numbers.insert(numbers.end(), column.marks.begin(), column.marks.end());
  const auto [low, high] = range_with_zero(numbers);
  if (!column.rounds) return {low, high};
  const double limit = round_limit(std::max(-low, high));
  return {column.is_signed ? -limit : 0, limit};
}

/// The label of an axis' end: one digit if that is exact.
std::string end_label(double end) {
  if (end == 0) return number(0, 1);
  const double digits = end / std::pow(10, std::floor(std::log10(std::abs(end))));
  return number(end, std::abs(digits - std::round(digits)) < 1e-6 ? 1 : 2);
}

/// How a column writes its numbers.
class NumberFormat {
 public:
  explicit NumberFormat(const TableColumn& column)
      : decimals_(column.decimals), scientific_below_(column.scientific_below) {
    if (decimals_ >= 0) return;
    const auto [low, high] = range_with_zero(column.numbers);
    decimals_ = decimals_for(std::max(-low, high));
  }
  std::string operator()(double value) const {
    constexpr double kScientificFrom = 1e6;  // longer ones do not fit next to a bar
    const double size = std::abs(value);
    if (value != 0 && size < scientific_below_) return number(value, 2);
    return size >= kScientificFrom ? number(value, 3) : fixed_number(value, decimals_);
  }

 private:
  int decimals_;
  double scientific_below_;
};

float heading_width(const TableColumn& column, const Style& style) {
  return style.width(column.heading, style.small(), heading_face(column));
}

/// The widest of a sample of texts: some rows are representative, and those of the most bytes are among them.
float widest(std::span<const std::string> texts, float size, const Style& style) {
  constexpr std::size_t kLookedAt = 128;
  float width = 0;
  const std::size_t step = texts.empty() ? 1 : 1 + (texts.size() - 1) / kLookedAt;
  std::size_t most = 0;
  for (std::size_t row = 0; row < texts.size(); ++row) {
    if (row % step != 0 && texts[row].size() <= most) continue;
    most = std::max(most, texts[row].size());
    width = std::max(width, style.width(texts[row], size));
  }
  return std::ceil(width);
}

/// Width that fits the number next to a bar, whatever the number is.
float bar_number_width(const TableColumn& column, const Style& style) {
  return std::max(std::ceil(style.width("−000.000", style.small())),
                  widest(column.texts, style.small(), style));
}

/// Room at the right of bars: for their numbers, and with an axis for its heading after the upper limit, if
/// that leaves room for bars that can be compared in a column of this width.
float room_after_bars(const TableColumn& column, const Style& style, float width = 1e9F) {
  const float number = bar_number_width(column, style) + style.unit();
  const float limit = style.width("0.25", style.small()) / 2 + 1.5F * style.unit();
  const float with_heading = std::max(number, limit + std::ceil(heading_width(column, style)));
  constexpr float kWhole = 1;  // widths are whole pixels
  return column.axis && with_heading + kMinBar * style.font_size < width + kWhole ? with_heading : number;
}

/// The width of a column of texts, at most `most` without the detail.
float text_width(const TableColumn& column, float most, const Style& style) {
  const float words = std::min(most, widest(column.texts, style.font_size, style));
  const float details =
      column.details.empty() ? 0 : 2 * style.unit() + widest(column.details, style.small(), style);
  return std::max(std::min(most, std::ceil(heading_width(column, style))), words + details);
}

float number_width(const TableColumn& column, const Style& style) {
  if (!column.texts.empty())
    return std::max(std::ceil(heading_width(column, style)), widest(column.texts, style.small(), style));
  const NumberFormat format(column);
  const auto [low, high] = range_with_zero(column.numbers);
  float width = heading_width(column, style);
  const auto make_room = [&](const std::string& words) {
    width = std::max(width, style.width(words, style.small()));
  };
  make_room(format(low));
  make_room(format(high));
  if (column.scientific_below > 0) make_room("−0.0e−00");
  if (!std::ranges::all_of(column.numbers, [](float v) { return std::isfinite(v); })) make_room("NaN");
  return std::ceil(width);
}

/// The minimum width of a column, and the maximum that it can use.
std::pair<float, float> widths_of(const TableColumn& column, Rect area, const Style& style) {
  const float em = style.font_size;
  float least = 0, most = 0;
  switch (column.kind) {
    case Kind::text: {
      const auto [narrow, wide] = std::minmax({0.3F * area.w, kMaxText * em});
      least = text_width(column, narrow, style);
      most = text_width(column, wide, style);
      break;
    }
    case Kind::number:
      least = most = number_width(column, style);
      break;
    case Kind::bar:
      least = room_after_bars(column, style) + kMinBar * em;
      most = room_after_bars(column, style) + kMaxBar * em;
      break;
    case Kind::strip: {
      // Vectors need a whole number of pixels per component.
      const std::size_t components = column.vectors.empty() ? 0 : column.vectors.front().size();
      least = kMinStrip * em;
      most = std::max(least, std::min(kMaxStrip * em, kMaxComponent * static_cast<float>(components)));
      break;
    }
  }
  if (column.least > 0) least = column.least;
  if (column.most > 0) most = column.most;
  return {least, std::max(least, most)};
}

/// Places the columns that fit, by importance, and widens them as far as the room allows: first words, which
/// are cut without it, then bars and strips.
std::vector<Place> place_columns(const Table& table, Rect area, const Style& style) {
  const float gap = 3 * style.unit();
  std::vector<std::pair<float, float>> widths;
  std::vector<int> columns;
  for (const TableColumn& column : table.columns) {
    if (!column.hidden) columns.push_back(static_cast<int>(widths.size()));
    widths.push_back(widths_of(column, area, style));
  }
  std::ranges::stable_sort(columns, std::greater{}, [&](int i) { return table.columns[i].importance; });
  const auto enough_of = [&](int i) {  // words beside a number of theirs are whole
    const TableColumn& column = table.columns[i];
    return column.details.empty() || column.enough > 0 ? column.enough : widths[i].second;
  };
  // Columns of more importance have enough before another one is placed; two are placed if they fit at all.
  float used = -gap, sufficient = -gap, for_words = 0, for_others = 0;
  std::size_t count = 0;
  for (; count < columns.size(); ++count) {
    const float least = widths[columns[count]].first;
    if ((count < 2 ? used : sufficient) + gap + least > area.w) break;
    used += gap + least;
    sufficient += gap + std::max(least, enough_of(columns[count]));
  }
  columns.resize(count);
  std::ranges::sort(columns);
  const float part = sufficient > used ? std::min(1.F, (area.w - used) / (sufficient - used)) : 0;
  for (const int i : columns) {
    auto& [width, most] = widths[i];
    width += part * std::max(0.F, enough_of(i) - width);
    most = std::max(width, most);
    (table.columns[i].kind == Kind::text ? for_words : for_others) += most - width;
  }
  used += part * (sufficient - used);
  const auto share_of = [](float wanted, float room) {
    return wanted > 0 ? std::clamp(room / wanted, 0.F, 1.F) : 0;
  };
  const float words = share_of(for_words, area.w - used),
              others = share_of(for_others, area.w - used - words * for_words);
  std::vector<Place> places;
  float x = area.x;
  for (const int i : columns) {
    const auto [least, most] = widths[i];
    const float w =
        std::floor(least + (table.columns[i].kind == Kind::text ? words : others) * (most - least));
    places.push_back({i, x, w, 0, 0});
    x += w + gap;
  }
  return places;
}

/// The places of columns in the left one of two blocks side by side; empty: a column would be left out, a
/// text cut, or a strip narrower.
std::vector<Place> places_in_half(const Table& table, const std::vector<Place>& whole, Rect half,
                                  const Style& style) {
  std::vector<Place> places = place_columns(table, half, style);
  const auto is_kept = [&](const Place& one, const Place& before) {
    const Kind kind = table.columns[one.column].kind;
    return one.column == before.column && kind != Kind::strip &&
           (kind == Kind::bar || one.w + kSlack >= before.w);
  };
  return std::ranges::equal(places, whole, is_kept) ? places : std::vector<Place>();
}

/// Height of the headings, the rows above, and the hairline.
float head_height(const Table& table, const Style& style) {
  return style.line(style.small()) + style.unit() +
         static_cast<float>(table.header.size()) * table_row_height(style) + style.unit();
}
/// Height of the line about the rows that are shown.
float note_height(const Style& style) {
  return style.line(style.small()) + style.unit();
}
/// Height of the rows below.
float foot_height(const Table& table, const Style& style) {
  return table.footer.empty()
             ? 0
             : 2 * style.unit() + static_cast<float>(table.footer.size()) * table_row_height(style);
}

struct Painter {
  Picture& picture;
  const Table& table;
  const TableLayout& layout;
  const Style& style;
  float u = style.unit();
  float row_h = layout.row_height;

  const TableColumn& column_of(const Place& place) const { return table.columns[place.column]; }

  void text(const std::string& words, Point at, float size, Color color, FontStyle face, Align align,
            float room = 1e9F) {
    if (style.width(words, size, face) > room) picture.whole = false;
    add_label(picture.scene, style, words, at, size, color, face, align, room);
  }

  /// Paints words in a column, aligned like its cells.
  void text(const std::string& words, const Place& place, float middle, float size, Color color,
            FontStyle face = FontStyle::regular) {
    const Align align = alignment(column_of(place));
    text(words, {align == Align::right ? place.right() : place.x, middle}, size, color, face, align,
         place.w + kSlack);
  }

  void strip(const Place& place, float y, float h, const ColorScale& scale, std::span<const float> values,
             int id, int row) {
    paint_vector_strip(picture, {values, scale, table.vector_role, id, row},
                       {place.x, y + u, place.w, h - 2 * u}, style);
  }

  /// The rectangle of a column's bars: left of its numbers.
  Rect bar_rect(const Place& place, float y) const {
    return {place.x, y + 1.5F * u, place.w - room_after_bars(column_of(place), style, place.w),
            row_h - 3 * u};
  }

  void headings(float middle) {
    for (const Place& place : layout.places) {
      const TableColumn& column = column_of(place);
      if (column.kind == Kind::bar && column.axis)
        axis_heading(place, middle);
      else
        text(column.heading, place, middle, style.small(), column.heading_color, heading_face(column));
    }
  }

  /// The limits of the bars' axis and its zero, each over its place as far as they have room, the upper limit
  /// first, and after them the heading, which has its room in any case.
  void axis_heading(const Place& place, float middle) {
    const TableColumn& column = column_of(place);
    const Rect bars = bar_rect(place, 0);
    const NumberAxis axis{place.low, place.high};
    float heading_start = place.x, end = place.right() - heading_width(column, style) - u + kSlack;
    for (const double value : {place.high, 0.0, place.low}) {
      const std::string words = end_label(value);
      const float width = style.width(words, style.small()), at = axis.clamped(value, bars.x, bars.w),
                  start = std::max(at - width / 2, place.x - 2 * u);
      if (value < place.low || value > place.high || start + width > end) continue;
      text(words, {start, middle}, style.small(), style.theme.text_muted, FontStyle::regular, Align::left);
      heading_start = std::max(heading_start, start + width + u);
      end = start - u;
    }
    text(column.heading, {place.right(), middle}, style.small(), column.heading_color, heading_face(column),
         Align::right, place.right() - heading_start + kSlack);
  }

  void fixed_row(const FixedRow& row, float y, float middle) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const FixedCell& cell = row[i];
      const Place* place = layout.place_of(cell.column);
      if (place == nullptr) continue;
      const bool left = alignment(column_of(*place)) == Align::left;  // it may extend into empty cells
      const float end = end_of_words(row, i);
      if (left)
        text(cell.text, {place->x, middle}, style.small(), cell.color, FontStyle::medium, Align::left,
             end - place->x);
      else
        text(cell.text, {place->right(), middle}, style.small(), cell.color, FontStyle::medium, Align::right,
             place->w + 2 * u);  // into the gap: letters of medium weight are wider
      if (!cell.vector.empty())
        strip(*place, y, table_row_height(style), cell.scale.value_or(column_of(*place).scale), cell.vector,
              cell.vector_id, cell.vector_row);
      const float width = style.width(cell.beside, style.small(), FontStyle::medium);
      const bool after = place->right() + 2 * u + width <= end;
      if (!after && touches_before(row, *place, width + 2 * u)) continue;
      text(cell.beside, {after ? place->right() + 2 * u : place->x - 1.5F * u, middle}, style.small(),
           cell.color, FontStyle::medium, after ? Align::left : Align::right);
    }
  }

  /// Whether words of this width before a cell would touch the text in the column before it.
  bool touches_before(const FixedRow& row, const Place& place, float width) const {
    if (&place == &layout.places.front()) return true;
    const Place& before = *(&place - 1);
    return before.right() + width > place.x && std::ranges::any_of(row, [&](const FixedCell& cell) {
             return cell.column == before.column && !cell.text.empty();
           });
  }

  /// Where the text after a cell must end: at the next cell, or the number at its right end.
  float end_of_words(const FixedRow& row, std::size_t cell) const {
    for (std::size_t i = cell + 1; i < row.size(); ++i)
      if (const Place* next = layout.place_of(row[i].column)) {
        const float number = next->right() - style.width(row[i].text, style.small(), FontStyle::medium);
        return alignment(column_of(*next)) == Align::right ? number - 2 * u : next->x - u;
      }
    return layout.right();
  }

  void cell(const Place& place, int row, float y, const NumberFormat& format) {
    const TableColumn& column = column_of(place);
    if (!column.blank.empty() && column.blank[row]) return;
    switch (column.kind) {
      case Kind::text:
        words(place, row, y);
        break;
      case Kind::bar:
        bar(place, row, y);
        [[fallthrough]];
      case Kind::number:
        text(column.texts.empty() ? format(static_cast<double>(column.numbers[row])) : column.texts[row],
             {place.right(), y + row_h / 2}, style.small(), column.color, FontStyle::regular, Align::right,
             column.kind == Kind::bar ? bar_number_width(column, style) + 1 : place.w + kSlack);
        break;
      case Kind::strip: {
        if (column.vectors[row].empty()) break;
        std::vector<float> values(column.vectors[row].begin(), column.vectors[row].end());
        if (!column.factors.empty())
          for (float& v : values) v *= column.factors[row];
        strip(place, y, row_h, column.scales.empty() ? column.scale : column.scales[row], values, row,
              column.vector_row);
        break;
      }
    }
  }

  /// Paints words and their detail on their background.
  void words(const Place& place, int row, float y) {
    const TableColumn& column = column_of(place);
    const float middle = y + row_h / 2;
    const Rect box{place.x - u, y + u / 2, place.w + 2 * u, row_h - u};
    Color color = column.color;
    if (!column.grounds.empty() && column.grounds[row].a > 0) {
      picture.scene.add(FillRect{box, column.grounds[row], u});
      const Color ground = blended(style.theme.surface, column.grounds[row]);
      color = readable_on(ground, color, style.theme.surface);
      if (contrast_ratio(color, ground) < kReadable) color = text_on(style.theme, ground);
    }
    if (!column.framed.empty() && column.framed[row])
      picture.scene.add(StrokeRect{box.inset(0.75F), column.frame, 1.5F, u});
    float room = place.w + kSlack;
    if (!column.details.empty() && !column.details[row].empty()) {
      text(column.details[row], {place.right(), middle}, style.small(), color, FontStyle::regular,
           Align::right, room);
      room -= style.width(column.details[row], style.small()) + u;
    }
    text(column.cut_at_start ? end_of(style, column.texts[row], style.font_size, room) : column.texts[row],
         {place.x, middle}, style.font_size, color, FontStyle::regular, Align::left, room);
  }

  /// A bar from zero to its number, with a hairline at zero.
  void bar(const Place& place, int row, float y) {
    const TableColumn& column = column_of(place);
    const Rect rect = bar_rect(place, y);
    const auto upright = [&](float x, float reach, Color color, float width = 1) {
      picture.scene.add_line({x, rect.y - reach}, {x, rect.bottom() + reach}, color, width);
    };
    if (column.axis) upright(rect.right(), 1, style.theme.line);
    const NumberAxis axis{place.low, place.high};
    const auto value = static_cast<double>(column.numbers[row]);
    if (std::isinf(value)) return;
    const float zero = axis.along(0, rect.x, rect.w), end = axis.clamped(value, rect.x, rect.w);
    const float left = std::min(zero, end), width = std::abs(end - zero);
    const Color color = column.is_signed ? sign_color(style.theme, value) : style.theme.bar;
    if (width > 0) picture.scene.add(FillRect{{left, rect.y, std::max(width, 1.F), rect.h}, color});
    upright(zero, 1, style.theme.text_muted.with_alpha(120));
    if (!column.marks.empty())
      upright(axis.clamped(static_cast<double>(column.marks[row]), rect.x, rect.w), u / 2, style.theme.text,
              std::max(1.5F, u / 2));
  }

  /// A pale background, with a bar at its side in case it is hardly visible.
  void mark(const Rect& row) {
    constexpr std::uint8_t kGround = 36;
    picture.scene.add(
        FillRect{{row.x - 2 * u, row.y, row.w + 3 * u, row.h}, table.mark.with_alpha(kGround), u});
    picture.scene.add(FillRect{{row.x - 2 * u, row.y, 0.75F * u, row.h}, table.mark, 0.375F * u});
  }

  void rows() {
    std::vector<NumberFormat> formats;
    for (const Place& place : layout.places) formats.emplace_back(column_of(place));
    float y = layout.rows_top;
    for (const int row : layout.rows) {
      const Rect rect{layout.left(), y, layout.right() - layout.left(), row_h};
      picture.regions.push_back({table.row_role, row, rect});
      if (row == table.marked) mark(rect);
      for (std::size_t i = 0; i < layout.places.size(); ++i) cell(layout.places[i], row, y, formats[i]);
      y += row_h;
    }
  }

  void hairline(float y, Color color) {
    picture.scene.add_line({layout.left(), y}, {layout.right(), y}, color);
  }
};

}  // namespace

int decimals_for(double largest) {
  return largest >= 1000 ? 0 : largest >= 100 ? 1 : largest >= 10 ? 2 : 3;
}

const Place* TableLayout::place_of(int column) const {
  const auto found = std::ranges::find(places, column, &Place::column);
  return found == places.end() ? nullptr : &*found;
}

std::vector<TableLayout> TableLayout::blocks() const {
  std::vector<TableLayout> made;
  for (std::size_t first_row = 0; first_row == 0 || first_row < rows.size(); first_row += per_block) {
    TableLayout& block = made.emplace_back(*this);
    block.rows.assign(rows.begin() + first_row, rows.begin() + std::min(rows.size(), first_row + per_block));
    for (Place& place : block.places) place.x += static_cast<float>(made.size() - 1) * block_width;
  }
  return made;
}

float table_row_height(const Style& style) {
  const bool printed = style.smallest > 0;  // nobody points at its rows
  return std::round((printed ? 1.45F : 1.7F) * style.font_size);
}

float least_row_height(const Style& style) {
  return std::ceil(1.3F * style.font_size);
}

float table_height(const Table& table, const Style& style) {
  const bool limited = table.max_rows > 0 && table.max_rows < table.rows;
  const int lines = limited ? table.max_rows : table.rows;
  return head_height(table, style) + foot_height(table, style) +
         static_cast<float>(lines) * table_row_height(style) +
         (limited && table.note_below ? note_height(style) : 0);
}

TableLayout lay_out_table(const Table& table, Rect area, const Style& style) {
  TableLayout layout;
  layout.area = area;
  layout.places = place_columns(table, area, style);
  const std::vector<int> rows = table_rows(table);
  const float default_row = table_row_height(style);
  const auto left_out =
      std::ranges::count_if(table.header, [&](const FixedRow& row) { return lacks_strip(row, layout); });
  const float head = head_height(table, style) - static_cast<float>(left_out) * default_row;
  layout.rows_top = area.y + head;
  const float room = area.h - head - foot_height(table, style), between = 9 * style.unit();
  const int all = static_cast<int>(rows.size());
  const int most = table.max_rows > 0 ? std::min(all, table.max_rows) : all;
  bool in_halves = false;
  // How many rows of a height fit into so many blocks.
  const auto fill = [&](int blocks, float height) {
    const auto fit = [&](float in) {
      return std::clamp(blocks * static_cast<int>(std::floor(in / height)), 0, most);
    };
    int count = fit(room);
    layout.note_below = table.note_below && count < all;
    if (layout.note_below) count = fit(room - note_height(style));
    layout.row_height = height, layout.per_block = std::max(1, (count + blocks - 1) / blocks);
    in_halves = blocks == 2;
    return count;
  };
  int count = fill(1, default_row);
  std::vector<Place> halves;  // only measured if one block is too low
  const Rect half{area.x, area.y, (area.w - between) / 2, area.h};
  if (table.note_below && count < most) halves = places_in_half(table, layout.places, half, style);
  const int most_blocks = halves.empty() ? 1 : 2;
  if (most_blocks > 1) count = fill(2, default_row);
  const float for_all = room - (table.note_below && most < all ? note_height(style) : 0);
  for (int blocks = 1; count < most && blocks <= most_blocks; ++blocks) {
    const float height = std::floor(for_all / static_cast<float>((most + blocks - 1) / blocks));
    if (height >= least_row_height(style)) count = fill(blocks, std::min(height, default_row));
  }
  if (in_halves) layout.places = std::move(halves), layout.block_width = half.w + between;
  layout.all = all;
  if (table.selects && count < all) {
    layout.rows = selected_rows(table, rows, count), layout.all = most;
  } else {
    layout.first = std::clamp(table.first, 0, all - count);
    layout.rows.assign(rows.begin() + layout.first, rows.begin() + layout.first + count);
  }
  layout.note = note_of(table, rows, layout.rows);
  std::vector<int> scaled = layout.rows;
  if (!table.note_below) {  // bars keep their length while the table scrolls
    scaled.resize(static_cast<std::size_t>(table.rows));
    std::iota(scaled.begin(), scaled.end(), 0);
  }
  for (Place& place : layout.places)
    std::tie(place.low, place.high) = axis_of(table.columns[place.column], scaled);
  const auto shown = std::ranges::count(table.columns, false, &TableColumn::hidden);
  layout.whole = count == most && std::ssize(layout.places) == shown;
  return layout;
}

void paint_table(Picture& picture, const Table& table, const TableLayout& layout, const Style& style) {
  if (!layout.whole) picture.whole = false;
  if (layout.places.empty()) return;
  const float u = style.unit(), h = table_row_height(style), line = style.line(style.small());
  const std::vector<TableLayout> blocks = layout.blocks();
  for (const TableLayout& block : blocks) {
    Painter paint{picture, table, block, style};
    float y = layout.area.y;
    paint.headings(y + line / 2);
    y += line + u;
    for (const FixedRow& row : table.header) {
      if (lacks_strip(row, layout)) continue;
      paint.fixed_row(row, y, y + h / 2);
      y += h;
    }
    paint.hairline(y + u / 2, style.theme.line);
    paint.rows();
  }
  Painter paint{picture, table, blocks.back(), style};  // what sums up stands at the end
  const int lines = std::min(layout.per_block, static_cast<int>(layout.rows.size()));
  float y = layout.rows_top + static_cast<float>(lines) * layout.row_height;
  if (layout.note_below) {
    paint.text(layout.note, {layout.left(), y + u + line / 2}, style.small(), style.theme.text_muted,
               FontStyle::regular, Align::left, layout.area.right() - layout.left());
    y += note_height(style);
  }
  if (!table.footer.empty()) {
    y += 2 * u;
    picture.scene.add_line({layout.left(), y}, {blocks.back().right(), y}, style.theme.text_muted);
    for (const FixedRow& row : table.footer) {
      paint.fixed_row(row, y + 1, y + h / 2 + 1);  // keeps clear of the line
      y += h;
    }
  }
}

}  // namespace headscope::viz
