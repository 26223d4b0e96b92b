#include "app/views/parts/list.h"

#include <algorithm>
#include <cmath>

#include "app/views/parts/parts.h"

namespace headscope::app {

const Option<bool> kStrongestFirst = switch_option(
    "strongest-first", "Strongest first", "oO", "sort keys by weight, largest first, instead of by position");

Option<int> first_row_option(std::string_view name, bool reset_on_prompt_change, int by_default) {
  Option<int> option = pane_option(name, by_default, 0, 1 << 24, reset_on_prompt_change);
  option.of_rows = true;
  return option;
}

SetOption TableRows::from(double row) const {
  return {option, static_cast<int>(std::lround(std::clamp<double>(row, 0, all - shown)))};
}

TableRows TableRows::with(const Options& options) const {
  TableRows rows = *this;
  if (const int wanted = options[*option]; wanted >= 0)
    rows.first = std::clamp(wanted, 0, std::max(0, all - shown));
  return rows;
}

ViewActions TableRows::by_wheel(const Gesture& gesture) const {
  constexpr int kRows = 3;  // per step of the wheel
  const bool turned = gesture.modifiers.shift;
  const float by = sideways ? (turned ? gesture.by.y : gesture.by.x) : turned ? 0 : gesture.by.y;
  if (by == 0 || !scrolls()) return {};
  return {from(first + kRows * (by > 0 ? -1 : 1))};
}

std::optional<ViewActions> TableRows::by_key(Key key) const {
  if (shown == 0) return std::nullopt;
  if (key == Key::up) return ViewActions{from(first - 1)};
  if (key == Key::down) return ViewActions{from(first + 1)};
  if (key == Key::page_up) return ViewActions{from(first - shown)};
  if (key == Key::page_down) return ViewActions{from(first + shown)};
  if (key == Key::home) return ViewActions{from(0)};
  if (key == Key::end) return ViewActions{from(all)};
  return std::nullopt;
}

std::vector<Scroll> TableRows::bars(float right) const {
  if (!scrolls()) return {};
  const viz::Rect along{place.x, place.y, right - place.x, place.h};
  return {{sideways, along, 1.0 * first, 1.0 * shown, 1.0 * all,
           [rows = *this](double to) -> ViewActions { return {rows.from(to)}; }}};
}

List::List(const ViewContext& context, int role, int count) : RoleBox(role), context_(context) {
  table.rows = count;
  table.mark = context.theme->accent;
  table.row_role = role;
}

List::List(const ViewContext& context, const ListRows& rows, int count) : List(context, rows.role, count) {
  rows_ = &rows;
  table.row_names = rows.names;
  table.first_number = rows.first_number;
  table.max_rows = context.max_rows;
  table.note_below = !context.in_pane;
}

ListColumn& List::add(viz::TableColumn::Kind kind, std::string heading, int importance,
                      const ListLook& look) {
  ListColumn& column = columns_.emplace_back();
  column.kind = kind;
  column.heading = std::move(heading);
  column.heading_color = look.heading.value_or(context_.theme->text_muted);
  column.color = look.color.value_or(context_.theme->text);
  column.importance = importance;
  column.decimals = look.digits, column.scientific_below = look.scientific;
  column.low = look.low, column.high = look.high, column.axis = look.axis;
  column.rounds = look.rounds;
  column.least = look.least, column.most = look.most, column.enough = look.enough;
  column.is_signed = look.is_signed.value_or(context_.differs());
  column.hidden = look.hidden;
  column.look = look;
  return column;
}

void List::set_difference(ListColumn& column) const {
  if (!context_.differs()) return;
  column.heading.insert(0, delta(context_));
  if (column.look.file) column.look.file->name.insert(0, difference_column_prefix(context_));
  column.look.blank = [number = column.number](int row) { return !std::isfinite(number(row)); };
}

viz::ColorScale List::own_scale(const viz::TableColumn& column, int index) const {
  float largest = 0;
  const auto include = [&largest](std::span<const float> vector, float factor) {
    largest = std::max(largest, std::abs(factor) * viz::value_range(viz::Matrix::row(vector)).magnitude());
  };
  for (std::size_t row = 0; row < column.vectors.size(); ++row)
    include(column.vectors[row], column.factors.empty() ? 1 : column.factors[row]);
  for (const auto* fixed : {&table.header, &table.footer})
    for (const viz::FixedCell& cell : *fixed | std::views::join)
      if (cell.column == index) include(cell.vector, 1);
  return viz::diverging_scale(largest);
}

void List::mark(std::function<bool(int row)> is_chosen) {
  is_chosen_ = std::move(is_chosen);
  for (int row = table.rows - 1; row >= 0; --row)
    if (is_chosen_(row)) table.marked = row;
}

viz::FixedCell List::cell(int column, std::string text) const {
  viz::FixedCell cell;
  cell.column = column;
  cell.text = std::move(text);
  cell.color = context_.theme->text;
  return cell;
}

viz::FixedCell List::sum_cell(int column, std::size_t count) const {
  viz::FixedCell sum = cell(column, "sum");
  if (count < 2) return sum;
  sum.text += " of all " + std::to_string(count);
  return sum;
}

void List::add_footer(std::string words, std::string value, std::optional<viz::Color> color) {
  const auto named = std::ranges::find_if(columns_, [](const ListColumn& column) {
    return !column.hidden && column.kind == viz::TableColumn::Kind::text;
  });
  viz::FixedRow& row = table.footer.emplace_back();
  row = {cell(static_cast<int>(named - columns_.begin()), std::move(words)), cell(last(), std::move(value))};
  for (viz::FixedCell& one : row) one.color = color.value_or(context_.theme->text);
}

viz::FixedCell List::strip_cell(int column, int which, std::string called, std::span<const float> vector) {
  viz::FixedCell made = cell(column, "");
  made.vector = vector;
  made.vector_row = which, made.vector_id = table.rows;
  fixed_.push_back({which, std::move(called), vector});
  return made;
}

/// Differences may be small: they are not written as 0, and what may be rounding has no long bar.
static void show_small(viz::TableColumn& column) {
  if (column.decimals > 0 && column.scientific_below == 0)
    column.scientific_below = std::pow(10, -column.decimals);
  if (column.kind == viz::TableColumn::Kind::bar && column.low == column.high &&
      viz::value_range(viz::Matrix::row(column.numbers)).magnitude() < kRounding)
    column.low = -kRounding, column.high = kRounding;
}

const viz::Table& List::filled() {
  if (filled_) return table;
  filled_ = true;
  const auto for_rows = [&](const auto& cell, auto& cells) {
    if (!cell) return;
    for (int row = 0; row < table.rows; ++row) cells.push_back(cell(row));
  };
  for (const ListColumn& column : columns_) {
    viz::TableColumn& made = table.columns.emplace_back(column);
    if (column.hidden) continue;
    for (const auto& [cell, words] :
         {std::pair{&column.text, &made.texts}, {&column.detail, &made.details}}) {
      for_rows(*cell, texts_.emplace_back());
      *words = texts_.back();
    }
    for_rows(column.number, made.numbers);
    for_rows(column.vector, made.vectors);
    if (column.vector && made.scale == viz::ColorScale())
      made.scale = own_scale(made, static_cast<int>(table.columns.size()) - 1);
    for_rows(column.look.blank, made.blank);
    if (context_.differs()) show_small(made);
  }
  return table;
}

std::vector<Swatch> List::scales() {
  std::vector<Swatch> all;
  const std::vector<viz::TableColumn>& columns = filled().columns;
  for (int i = 0; i < static_cast<int>(columns.size()); ++i) {
    const bool is_drawn = layout_.places.empty() || layout_.place_of(i) != nullptr;
    if (is_drawn && !columns[i].hidden && !columns[i].scale_title.empty())
      all.push_back({.words = columns[i].scale_title, .scale = columns[i].scale});
  }
  return all;
}

bool List::lay_out(const ViewContext& c) {
  layout_ = viz::lay_out_table(filled(), area_, style_of(c));
  if (footer_of) table.footer.front() = footer_of(layout_.rows);
  return layout_.places.size() >= 2 && (table.rows == 0 || !layout_.rows.empty());
}

bool List::place(const ViewContext& c, viz::Rect area) {
  area_ = area;
  const int wanted = rows_ != nullptr ? c.options[rows_->first] : 0;
  table.first = std::max(0, wanted);
  table.selects = rows_ == nullptr ? may_be_cut
                                   : !rows_->cut_keeps_order && !c.in_pane &&
                                         wanted == std::get<int>(rows_->first.default_value);
  const bool fits = lay_out(c);
  const auto shown = static_cast<int>(layout_.rows.size());
  if (!fits || wanted >= 0 || shown >= table.rows) return fits;
  const std::vector<int> order = viz::table_rows(table);
  int row = kept >= 0 ? kept : order.front();
  if (kept < 0 && table.order.empty() && !table.strengths.empty())
    row = *std::ranges::max_element(order, {}, [&](int one) {
      return std::isfinite(table.strengths[one]) ? std::abs(table.strengths[one]) : 0.F;
    });
  table.first = first_row_showing(static_cast<int>(std::ranges::find(order, row) - order.begin()), shown);
  return lay_out(c);
}

std::string List::note() const {
  std::string columns;
  for (int i = 0; i < static_cast<int>(table.columns.size()); ++i) {
    const viz::TableColumn& column = table.columns[i];
    if (!column.hidden && column.importance > 0 && !column.heading.empty() && layout_.place_of(i) == nullptr)
      columns += (columns.empty() ? "not shown: " : ", ") + column.heading;
  }
  const std::string rows = layout_.note_below ? "" : layout_.note;
  return rows + (rows.empty() || columns.empty() ? "" : "; ") + columns;
}

void List::paint(Picture& picture, const ViewContext& c) const {
  const bool whole = picture.whole;
  const viz::Style style = style_of(c);
  viz::paint_table(picture, table, layout_, style);
  picture.whole = whole && (rows_ != nullptr || layout_.note.empty());
  for (const viz::TableLayout& block : layout_.blocks())
    for (const viz::TableLayout::Place& place : block.places)
      for (std::size_t i = 0; i < block.rows.size() && columns_[place.column].draw; ++i)
        columns_[place.column].draw(picture.scene, c, block.rows[i], block.cell(place, i).inset(1));
}

Wish List::width(const ViewContext& c) const {
  return {least_width * c.font_size, good_width * c.font_size, most_width * c.font_size};
}

Wish List::height(const ViewContext& c, float) const {
  const viz::Style style = style_of(c);
  const float all = viz::table_height(table, style) + 1;
  const float row = viz::table_row_height(style);
  if (rows_ == nullptr && !may_be_cut)
    return {all - static_cast<float>(table.rows) * (row - viz::least_row_height(style)), all, all};
  const int more = (table.max_rows > 0 ? std::min(table.rows, table.max_rows) : table.rows) - least_rows;
  const float least = least_rows > 0 ? all - static_cast<float>(std::max(0, more)) * row : 3 * row;
  return {std::min(all, least), all, all};
}

TableRows List::shown_rows(const ViewContext& c) const {
  TableRows rows{&rows_->first, layout_.first, static_cast<int>(layout_.rows.size()), layout_.all, {}};
  rows.place = {layout_.left(), layout_.rows_top, layout_.right() - layout_.left(),
                static_cast<float>(rows.shown) * layout_.row_height};
  return rows.with(c.options);
}

int List::row_at(const Spot& at) const {
  const bool hit_row = at.region.role == table.row_role || strips_at(at) != nullptr;
  return hit_row && at.region.id < table.rows ? at.region.id : -1;
}

const ListColumn* List::strips_at(const Spot& at) const {
  if (at.region.role != table.vector_role) return nullptr;
  const auto is_hit = [&](const ListColumn& column) {
    return column.vector && column.vector_row == at.hit.row;
  };
  const auto column = std::ranges::find_if(columns_, is_hit);
  return column != columns_.end() ? &*column : nullptr;
}

std::optional<Ref> List::ref_at(const Spot& at) const {
  const int row = row_at(at);
  const Ref ref = row >= 0 && refers_to ? refers_to(row) : Ref();
  return ref == Ref() ? std::nullopt : std::optional(ref);
}

void List::add_component(Facts& facts, const Spot& at) const {
  if (at.region.role != table.vector_role) return;
  const auto say = [&](const std::string& of, std::span<const float> vector, float factor) {
    if (at.hit.col >= std::ssize(vector)) return;
    facts.overlay.add(viz::StrokeRect{at.cell().inset(-0.75F), context_.theme->text, 1.5F});
    facts.number(of + "[" + std::to_string(at.hit.col) + "]", factor * vector[at.hit.col]);
  };
  const auto fixed = std::ranges::find(fixed_, at.hit.row, &FixedStrip::which);
  if (fixed != fixed_.end()) say(fixed->name, fixed->vector, 1);
  const ListColumn* column = strips_at(at);
  if (column == nullptr || at.region.id >= table.rows) return;
  say(column->look.file && !column->look.file->name.empty() ? column->look.file->name : column->heading,
      column->vector(at.region.id), column->factors.empty() ? 1 : column->factors[at.region.id]);
}

void List::add_facts(Facts& facts, const ViewContext& c, const Spot& at) const {
  add_component(facts, at);
  const int row = row_at(at);
  if (row < 0) return;
  for (const viz::Region& region : at.picture.regions)
    if (region.role == table.row_role && region.id == row && !ref_at(at))
      facts.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->text, 1, 2});
  say_row(facts, row);
}

void List::say_row(Facts& facts, int row) const {
  for (const ListColumn& column : columns_) {
    const ListLook& look = column.look;
    if (!look.tip || column.hidden || !column.file_cell || (look.blank && look.blank(row)) ||
        (look.file && look.file->used_as() != Column::Use::value))
      continue;
    const std::string& label = look.file ? look.file->name : column.heading;
    const Cell cell = column.file_cell(row);
    const auto* value = std::get_if<double>(&cell);
    if (value != nullptr && !std::isnan(*value) && !label.empty())
      facts.number(label, *value).unit = look.file ? look.file->unit : "";
  }
  if (row_facts) row_facts(facts, row);
}

std::optional<ViewActions> List::on(const ViewContext& c, const Spot* at, const Gesture& gesture) const {
  const bool clicks = gesture.kind == Gesture::Kind::click && at != nullptr && on_click;
  if (const int row = clicks ? row_at(*at) : -1; row >= 0) return on_click(c, row);
  const bool moves = gesture.kind == Gesture::Kind::key || gesture.kind == Gesture::Kind::wheel;
  if (!moves || rows_ == nullptr) return std::nullopt;
  const TableRows rows = shown_rows(c);
  if (gesture.kind == Gesture::Kind::wheel)
    return rows.scrolls() ? std::optional(rows.by_wheel(gesture)) : std::nullopt;
  const bool up = gesture.key == Key::up;
  if (gesture.modifiers.shift && (refers_to || on_click) && rows.shown > 0 &&
      (up || gesture.key == Key::down))
    return choose_next(c, rows, up ? -1 : 1);
  const bool page = gesture.key == Key::page_up || gesture.key == Key::page_down;
  return page || rows_->keys == ListKeys::lines_and_pages ? rows.by_key(gesture.key) : std::nullopt;
}

ViewActions List::choose_next(const ViewContext& c, const TableRows& rows, int by) const {
  const std::vector<int> order = viz::table_rows(table);
  const auto marked = std::ranges::find(order, table.marked);
  auto at = marked == order.end() ? std::ptrdiff_t{rows.first + (by > 0 ? 0 : rows.shown - 1)}
                                  : marked - order.begin() + by;
  while (is_chosen_ && at >= 0 && at < std::ssize(order) && is_chosen_(order[at])) at += by;
  if (at < 0 || at >= std::ssize(order)) return {};
  ViewActions actions = on_click ? on_click(c, order[at]) : choice_of(refers_to(order[at]), c);
  if (!rows.shows(static_cast<int>(at))) actions.emplace_back(rows.showing(static_cast<int>(at)));
  return actions;
}

void List::settle(ViewActions& actions, const ViewContext& c, const Spot& at) const {
  if (actions.empty() || kept < 0 || rows_ == nullptr) return;
  const TableRows rows = shown_rows(c);
  if (!rows.scrolls()) return;
  actions.emplace_back(row_at(at) >= 0 ? rows.from(rows.first)
                                       : SetOption{&rows_->first, rows_->first.default_value});
}

void List::add_scrolls(std::vector<Scroll>& scrolls, const ViewContext& c, const Picture&) const {
  if (rows_ == nullptr) return;
  std::ranges::move(shown_rows(c).bars(area_.right() + style_of(c).unit()), std::back_inserter(scrolls));
}

Table List::exported(std::string ranked_by, int rows) const {
  Table result;
  result.ranked_by = std::move(ranked_by);
  std::vector<const ListColumn*> words, strips;
  for (const ListColumn& column : columns_)
    if (column.look.file) (column.vector ? strips : words).push_back(&column);
  for (const ListColumn* column : words) result.columns.push_back(*column->look.file);
  for (const ListColumn* column : strips)
    for (std::size_t i = 0; i < column->vector(0).size(); ++i)
      result.columns.emplace_back(column->look.file->name + "[" + std::to_string(i) + "]",
                                  column->look.file->unit);
  for (int row = 0; row < (rows < 0 ? table.rows : rows); ++row) {
    TableRow cells;
    for (const ListColumn* column : words)
      cells.push_back(column->look.blank && column->look.blank(row) ? Cell() : column->file_cell(row));
    for (const ListColumn* column : strips) {
      const std::span<const float> values = column->vector(row);
      for (const float value : values)
        cells.push_back(cell_of(column->factors.empty() ? value : column->factors[row] * value));
      cells.resize(cells.size() + column->vector(0).size() - values.size());
    }
    result.add(std::move(cells));
  }
  return result;
}

void arrange_keys(List& list, const ViewContext& c, std::span<const float> weights) {
  list.rank_by(weights);
  list.table.marked = c.selection.key, list.table.mark = c.theme->key;
  list.kept = std::min(c.selection.key, static_cast<int>(weights.size()) - 1);
  list.table.first_number = c.options[kStrongestFirst] ? 1 : 0;
  if (!c.options[kStrongestFirst]) return;
  list.order_by([weights](int key) { return std::abs(weights[key]); });
  list.table.row_names = c.differs() ? "keys that differ most" : "strongest keys";
}

}  // namespace headscope::app
