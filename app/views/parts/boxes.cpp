#include "app/views/parts/boxes.h"

#include <algorithm>
#include <cmath>

#include "app/views/parts/parts.h"

namespace headscope::app {

// ---- grids ----

namespace {

constexpr float kCellLeast = 0.6F;                // ems
constexpr float kCellRead = 1.6F;                 // ems that a row or a column needs for its label
constexpr float kNumberRead = 2.6F;               // ems that a column needs for its numbers
constexpr float kNumberHigh = 1.8F;               // ems that a row needs for them, if cells may be wider
constexpr float kGridLeast = 14;                  // ems of cells, however many
constexpr float kGridBeside = 9, kGridAbove = 5;  // ems: labels and scale
constexpr float kLabelsBeside = 5;                // ems, of squares in print, whose scale is under them

/// The side of a cell whose number is read well, in ems; of few cells it is larger.
float good_cell(int cols) {
  return std::max(3.F, 24 / static_cast<float>(std::max(4, cols)));
}

}  // namespace

Grid::Grid(const ViewContext& c, int role, std::vector<float> numbers, std::vector<std::string> rows,
           std::vector<std::string> cols)
    : RoleBox(role),
      numbers_(std::move(numbers)),
      drawn_(numbers_),
      row_names_(std::move(rows)),
      col_names_(std::move(cols)) {
  std::ranges::replace_if(
      drawn_, [](float number) { return !std::isfinite(number); }, 0.F);
  map.cells.matrix = viz::Matrix::row_major(drawn_, static_cast<int>(row_names_.size()),
                                            static_cast<int>(col_names_.size()));
  const viz::ValueRange range = viz::value_range(map.cells.matrix);
  const auto magnitude = static_cast<double>(range.magnitude());
  map.cells.scale = c.differs()     ? scale_of_differences(magnitude)
                    : range.low < 0 ? viz::diverging_scale(magnitude)
                                    : viz::linear_scale(static_cast<double>(range.high));
  map.rows.labels = row_names_, map.cols.labels = col_names_;
  map.rows.color = map.cols.color = c.theme->accent;
  map.rows.title_color = map.cols.title_color = c.theme->text_muted;
  map.cell_values = std::ranges::all_of(numbers_, [](float number) { return std::isfinite(number); });
  map.role = role;
}

Wish Grid::width(const ViewContext& c) const {
  const int cols = shown_cols();
  const float least_cell = map.cell_values ? kNumberRead : kCellRead;
  const float least = kGridBeside + std::min(least_cell * static_cast<float>(cols), kGridLeast);
  const float good = cell ? cell->x : good_cell(cols);
  return {least * c.font_size, (kGridBeside + good * static_cast<float>(cols)) * c.font_size};
}

Wish Grid::height(const ViewContext& c, float width) const {
  constexpr float kRows = 60;  // ems for many rows whose cells may have any shape
  const auto rows = static_cast<float>(map.cells.matrix.rows),
             cols = static_cast<float>(map.cells.matrix.cols);
  const float em = c.font_size, around = kGridAbove * em;
  const float beside = c.printed && map.stretch == 1 && !cell ? kLabelsBeside : kGridBeside;
  const float square = std::max(0.F, width - beside * em) / std::max(1.F, cols);
  const float good = cell               ? cell->y * em
                     : map.stretch == 0 ? std::clamp(kRows / rows, kCellLeast, 2.4F) * em
                                        : std::min(square, good_cell(map.cells.matrix.cols) * em);
  const float most = cell ? 2 * good : map.stretch == 0 ? std::numeric_limits<float>::infinity() : square;
  const float least = std::min(rows * kCellRead, kGridLeast) * em;
  const bool has_numbers = map.cell_values && !cell && map.stretch != 0 && square >= kNumberRead * em;
  const float enough = has_numbers ? around + std::min(rows * kNumberHigh, kGridLeast) * em : 0;
  return {around + least, around + std::max(least, rows * good), around + std::max(least, rows * most),
          enough};
}

bool Grid::place(const ViewContext& c, viz::Rect area) {
  area_ = area;
  if (cell)
    area_.w = std::min(area.w, (kGridBeside + 2 * cell->x * static_cast<float>(shown_cols())) * c.font_size);
  return area.w >= 10 * c.font_size;
}

void Grid::paint(Picture& picture, const ViewContext& c) const {
  const viz::Style style = style_of(c);
  viz::Heatmap shown = map;
  shown.centered = map.centered && !c.trimmed;
  shown.saves_width = map.saves_width || c.printed;
  const viz::Region grid = viz::paint_heatmap(picture, shown, area_, style);
  const auto first = static_cast<int>(grid.first_col), cols = first + shown_cols(), rows = grid.row_count;
  for (int row = 0; row < rows; ++row) {
    const auto is_covered = [&](int col) {
      return !map.cells.is_masked(row, col) && !std::isfinite(number(row, col));
    };
    for (int col = first; col < cols; ++col) {
      if (!is_covered(col)) continue;
      viz::Rect cells = grid.cell_rect(row, col);
      while (col + 1 < cols && is_covered(col + 1)) ++col;
      cells.w = grid.cell_rect(row, col).right() - cells.x;
      picture.scene.add(viz::FillRect{cells.inset(0.5F), c.theme->raised});
    }
  }
  if (over) over(picture, c, grid);
  if (chosen_row >= 0 && chosen_row < rows && chosen_col >= 0 && chosen_col < cols)
    picture.scene.add(viz::StrokeRect{grid.cell_rect(chosen_row, chosen_col), c.theme->accent, 2, 1});
}

void Grid::say(Facts& facts, const ViewContext& c, const viz::Region&, int row, int col) const {
  if (const float value = number(row, col); !quantity.empty() && std::isnan(value))
    facts.tip("none");
  else if (!quantity.empty())
    facts.number(difference_prefix(c) + quantity, value).unit = unit;
  if (cell_facts) cell_facts(facts, row, col);
}

std::optional<ViewActions> Grid::on(const ViewContext& c, const Spot* at, const Gesture& gesture) const {
  if (gesture.kind != Gesture::Kind::key || !moves_heads || gesture.modifiers.shift) return std::nullopt;
  if (gesture.key == Key::home) return ViewActions{SelectHead{c.selection.layer, 0}};
  if (gesture.key == Key::end) return ViewActions{SelectHead{c.selection.layer, c.config().n_head - 1}};
  return arrows({1, 0}, MoveHead{0, 1})(c, at, gesture);
}

std::unique_ptr<Grid> grid_of_heads(const ViewContext& c, int role, std::vector<float> numbers,
                                    std::string quantity, std::string unit,
                                    std::initializer_list<const char*> others) {
  const model::Config& config = c.config();
  std::vector<std::string> layers, heads;
  for (int layer = 0; layer < config.n_layer; ++layer) layers.push_back("L" + std::to_string(layer));
  for (int head = 0; head < config.n_head; ++head) heads.push_back("H" + std::to_string(head));
  heads.insert(heads.end(), others.begin(), others.end());
  auto grid = std::make_unique<Grid>(c, role, std::move(numbers), std::move(layers), std::move(heads));
  viz::Heatmap& map = grid->map;
  map.rows.title = "layer", map.cols.title = "head";
  map.rows.emphasised = c.selection.layer, map.cols.emphasised = c.selection.head;
  map.rows.numbered = map.cols.numbered = true;
  map.scale_title = std::string(c.differs() ? "difference, " : "") + (unit.empty() ? quantity : unit);
  grid->quantity = std::move(quantity), grid->unit = std::move(unit);
  grid->refers_to = [](int layer, int head) { return Ref{.layer = layer, .head = head}; };
  grid->moves_heads = true;
  grid->chosen_row = c.selection.layer, grid->chosen_col = c.selection.head;
  return grid;
}

// ---- the prompt, shaded ----

constexpr float kLinesNote = 9;  // ems for the note next to lines that scroll

ShadedPrompt::ShadedPrompt(const ViewContext& c, int role, std::span<const float> numbers,
                           const viz::ColorScale& scale)
    : RoleBox(role), outline(c.theme->query), context_(c), run_length_(c.run->tokens.run_length) {
  // A pane shows enough of what the model does not read to tell where that begins: a paste may be very long.
  constexpr int kBeyond = 256;
  const PromptTokens& tokens = c.run->tokens;
  const int count = c.in_pane ? std::min(tokens.length(), tokens.run_length + kBeyond) : tokens.length();
  const viz::ColorTable colors(scale, *c.theme);
  flow.role = role;
  flow.chips.reserve(count);
  for (int i = 0; i < count; ++i) {
    const bool shaded = i < std::ssize(numbers) && !std::isnan(numbers[i]);
    viz::Chip& chip = flow.chips.emplace_back();
    chip.label = tokens.labels[i];
    chip.break_after = chip.label.ends_with("↵");
    chip.fill = shaded ? colors(numbers[i]) : c.theme->surface;
    chip.text = shaded ? text_on(c, chip.fill) : c.theme->text;
    if (!shaded) chip.outline = c.theme->line;
  }
}

static int line_count(const std::vector<viz::ChipPlace>& places) {
  return places.empty() ? 0 : places.back().line + 1;
}

Wish ShadedPrompt::width(const ViewContext& c) const {
  return {14 * c.font_size, 60 * c.font_size};
}

Wish ShadedPrompt::height(const ViewContext& c, float width) const {
  const viz::Style style = style_of(c);
  const float line = viz::chip_line_height(style);
  const auto count = static_cast<float>(line_count(viz::place_chips(flow, width, style)));
  const float least = line - style.unit(), all = line * count - style.unit();
  constexpr float kOfPane = 0.2F;  // with more lines, its list would have too few rows
  const float good = c.in_pane && list != nullptr ? std::max(least, kOfPane * c.height) : all;
  return {least, std::min(good, all), all};
}

bool ShadedPrompt::place(const ViewContext& c, viz::Rect area) {
  const viz::Style style = style_of(c);
  area_ = area;
  places_ = viz::place_chips(flow, area.w, style);
  const auto room =
      static_cast<int>(std::floor((area.h + style.unit() + 0.5F) / viz::chip_line_height(style)));
  constexpr float kForNote = 3;  // times its width: with less, the tokens need it themselves
  has_note_ = first_line != nullptr && !c.printed && line_count(places_) > room &&
              area.w >= kForNote * kLinesNote * c.font_size;
  if (has_note_) {
    area_.w -= kLinesNote * c.font_size;
    places_ = viz::place_chips(flow, area_.w, style);
  }
  shown_ = std::min(line_count(places_), room);
  return shown_ > 0 && area_.w >= 2 * c.font_size;
}

TableRows ShadedPrompt::lines_in(const ViewContext& c) const {
  const std::span<const int> rows =
      list != nullptr && list->table.order.empty() ? list->layout().rows : std::span<const int>();
  const int all = line_count(places_), wanted = first_line != nullptr ? c.options[*first_line] : -1;
  const auto line_of = [&](int token) {
    return places_[std::clamp(token, 0, static_cast<int>(places_.size()) - 1)].line;
  };
  // Lines of the list's rows, but no tokens beyond the context while there are others.
  const int last_run = std::max(0, line_of(run_length_ - 1) + 1 - shown_);
  const int first = wanted >= 0    ? wanted
                    : rows.empty() ? line_of(chosen) - shown_ / 2
                                   : std::min(line_of(rows.front()), last_run);
  return {first_line, std::clamp(first, 0, all - shown_), shown_, all, area_};
}

void ShadedPrompt::paint(Picture& picture, const ViewContext& c) const {
  const viz::Style style = style_of(c);
  viz::ChipFlow chips = flow;
  if (chosen >= 0 && chosen < std::ssize(chips.chips)) chips.chips[chosen].outline = outline;
  const TableRows lines = lines_in(c);
  const float height = static_cast<float>(shown_) * viz::chip_line_height(style);
  const bool whole = picture.whole;  // scrolled chips do not make it incomplete
  viz::paint_chips(picture, chips, places_, lines.first, {area_.x, area_.y, area_.w, height}, style);
  picture.whole = whole;
  if (!has_note_) return;
  const float small = style.line(style.small());
  const float left = area_.right() + 2 * style.unit(), room = kLinesNote * c.font_size - 2 * style.unit();
  std::vector<std::string> words = small_lines(c, shown_words(c), room);
  while (!words.empty() && small * static_cast<float>(words.size()) > height) words.pop_back();
  paint_small_lines(picture.scene, c, words, {left, area_.y}, room);
}

std::string ShadedPrompt::shown_words(const ViewContext& c) const {
  const TableRows lines = lines_in(c);
  const auto before = [&](int line) {
    return std::ranges::lower_bound(places_, line, {}, &viz::ChipPlace::line) - places_.begin();
  };
  return grouped(before(lines.first)) + "–" + grouped(before(lines.first + shown_) - 1) + " of " +
         grouped(c.run->tokens.length());
}

std::string ShadedPrompt::note() const {
  return has_note_ || !lines_in(context_).scrolls() ? "" : "tokens " + shown_words(context_);
}

Ref ShadedPrompt::ref_of(const viz::Region& region, int, int) const {
  if (refers_to) return refers_to(region.id);
  return region.id < run_length_ ? Ref{.query = region.id} : Ref{.other = region.id};
}

void ShadedPrompt::say(Facts& facts, const ViewContext& c, const viz::Region& region, int, int) const {
  if (!token_facts) return;
  if (region.id < run_length_) return token_facts(facts, region.id);
  facts.say(token_name(c.run->tokens, region.id) + ": not run");
}

std::optional<ViewActions> ShadedPrompt::on(const ViewContext& c, const Spot*, const Gesture& gesture) const {
  if (first_line == nullptr || shown_ == 0) return std::nullopt;
  const TableRows lines = lines_in(c);
  if (gesture.kind == Gesture::Kind::wheel)
    return ViewActions{lines.from(lines.first + (gesture.by.y > 0 ? -1 : 1))};
  const bool moves = gesture.kind == Gesture::Kind::key && chosen >= 0 &&
                     (gesture.key == Key::up || gesture.key == Key::down);
  if (!moves) return std::nullopt;
  // The nearest token above or below, by its middle.
  const viz::ChipPlace& from = places_[chosen];
  const auto distance = [&](int token) {
    return std::abs(places_[token].x + places_[token].w / 2 - from.x - from.w / 2);
  };
  int nearest = -1;
  for (int i = 0; i < std::min<int>(c.run->tokens.run_length, static_cast<int>(places_.size())); ++i)
    if (places_[i].line == from.line + (gesture.key == Key::up ? -1 : 1) &&
        (nearest < 0 || distance(i) < distance(nearest)))
      nearest = i;
  return nearest < 0 ? ViewActions() : ViewActions{SelectQuery{nearest}};
}

void ShadedPrompt::settle(ViewActions& actions, const ViewContext& c, const Spot&) const {
  if (actions.empty() || first_line == nullptr) return;
  const TableRows lines = lines_in(c);
  actions.emplace_back(lines.from(lines.first));
}

void ShadedPrompt::add_scrolls(std::vector<Scroll>& scrolls, const ViewContext& c, const Picture&) const {
  if (first_line != nullptr)
    std::ranges::move(lines_in(c).bars(c.width - kScrollBar * c.font_size), std::back_inserter(scrolls));
}

// ---- curves ----

void add_curve(viz::CurveChart& chart, Content& it, std::string name, int color, std::vector<float> values) {
  chart.curves.push_back({viz::Matrix::row(it.keep(std::move(values))), std::move(name),
                          viz::categorical(*it.c.theme, color), static_cast<int>(chart.curves.size())});
}

BoxPtr curve_box(viz::CurveChart chart, std::string title, std::string x_title,
                 std::function<Wish(float)> height, DrawnPlaces places) {
  chart.role = places.role;
  const auto paint = [chart = std::move(chart), title = std::move(title), x_title = std::move(x_title)](
                         Picture& picture, const ViewContext& c, viz::Rect area) {
    const viz::Style style = style_of(c);
    const float u = style.unit(), line = style.line(style.small());
    const bool is_low = area.h < 7 * style.font_size;  // it does not say what its x axis is
    const float left = style.width("000.00", style.small()) + 3 * u,
                above = viz::paint_curve_names(picture.scene, chart, title, area, style) + line / 2,
                below = x_title.empty() ? 0 : viz::column_numbers_height(style) - (is_low ? line : 0);
    const viz::Rect plot{style.snapped(area.x + left), style.snapped(area.y + above),
                         std::max(1.F, std::floor(area.w - left - 2 * u)),
                         std::max(1.F, std::floor(area.h - above - below))};
    const viz::Region region = viz::paint_curves(picture, chart, plot, style);
    if (below > 0) viz::paint_column_numbers(picture.scene, region, is_low ? "" : x_title, style);
  };
  return custom({10, 40}, std::move(height), paint, std::move(places));
}

}  // namespace headscope::app
