#include "app/views/output/continuation.h"
#include "app/views/output/lens_blocks.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/list_means.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace lens {

enum Role { kCell };  // row: place on the stream, its end on top; col: position
const auto kWords = switch_option("lens-guesses", "Guesses", "wW",
                                  "make cells wide enough for the text of the best guess", true);
/// -1: such that the query's column is visible.
const auto kFirstColumn = first_row_option("first-column", true, -1);

// ---- colours ----

float value_of(const ViewContext& c, const model::LensReading& reading, LensColoring coloring) {
  const model::PositionStatistics& guesses = reading.guesses;
  if (coloring == LensColoring::probability)
    return static_cast<float>(chooses_token(c) ? guesses.next_probability : guesses.top.front().probability);
  if (coloring == LensColoring::divergence) return static_cast<float>(bits(reading.divergence));
  return guesses.next_rank < 0 ? std::numeric_limits<float>::quiet_NaN()
                               : static_cast<float>(guesses.next_rank + 1);
}

/// The value behind a cell's colour; for differences run minus baseline, NaN without a counterpart.
float shown_value(const ViewContext& c, const LensBlocks& lens, int position, int place) {
  const LensColoring coloring = c.options[kLensColor];
  const model::LensReading& reading = lens.at(position, place);
  if (c.side != Side::difference) return value_of(c, reading, coloring);
  const model::LensReading& before = lens.before(position, place);
  if (!lens.known_block(position).compares(position)) return std::numeric_limits<float>::quiet_NaN();
  if (coloring == LensColoring::probability)
    return static_cast<float>(reading.guesses.next_probability - before.guesses.next_probability);
  return value_of(c, reading, coloring) - value_of(c, before, coloring);
}

struct Legend {
  viz::ColorScale scale;
  std::string title;
};

/// Whose final answer the colours of a difference are about.
std::string whose_answer(const ViewContext& c) {
  if (chooses_token(c)) return lens_target(c);
  return compares_different_inputs(*c.run) ? "the " + second_name(*c.run) + "'s final answer"
                                           : "the unedited run's final answer";
}
/// Of the final answer in a cell.
std::string bold_words(const ViewContext& c) {
  return "bold: " + (c.side == Side::difference && !chooses_token(c) ? "the answer" : lens_target(c));
}

/// The values of all shown places and positions that are known.
std::vector<float> shown_values(const ViewContext& c, const LensBlocks& lens) {
  std::vector<float> values;
  for (int position = lens.first; position < lens.first + lens.count; ++position)
    if (lens.knows(position))
      for (const int place : shown_places(c)) values.push_back(shown_value(c, lens, position, place));
  return values;
}

Legend legend_of(const ViewContext& c, const LensBlocks& lens) {
  constexpr float kBeyond = 0.1F;
  const LensColoring coloring = c.options[kLensColor];
  const std::vector<float> values = shown_values(c, lens);
  const viz::Matrix all = viz::Matrix::row(values);
  const bool is_rank = coloring == LensColoring::rank, is_kl = coloring == LensColoring::divergence;
  if (c.side == Side::difference) {
    const viz::ColorScale scale = beyond_rounding(
        viz::robust_scale(all, coloring == LensColoring::probability ? 0 : kBeyond, viz::value_range(all)));
    if (is_kl) return {scale, delta(c) + std::string("KL(end ‖ here), bits")};
    return {scale, delta(c) + std::string(is_rank ? "rank" : "probability") + " of " + whose_answer(c)};
  }
  if (coloring == LensColoring::probability)
    return {viz::linear_scale(1), "probability of " + (chooses_token(c) ? lens_target(c) : "the best guess")};
  if (is_rank) {
    viz::ColorScale scale;
    scale.logarithmic = true;
    scale.low = 1;
    scale.high = std::max(2, c.run->run->config.vocab_size);
    return {scale, "rank of " + lens_target(c) + ", logarithmic"};
  }
  // The embedding's prediction is very different: its divergence would leave the rest without colour.
  const float most = viz::robust_magnitude(all, kBeyond), largest = viz::value_range(all).high;
  viz::ColorScale scale = viz::linear_scale(static_cast<double>(most > 0 ? most : largest));
  scale.values_above = static_cast<double>(largest) > scale.high;
  return {scale, "KL(end ‖ here), bits"};
}

struct Layout {
  viz::Rect area;
  std::vector<int> places;         ///< a row each, from above
  std::vector<std::string> names;  ///< names of the labelled places, from the top
  int step = 1;                    ///< rows between labels
  viz::LabelRoom rows, columns;
  viz::Region grid;
  float text = 0;  ///< text size of the guesses; 0: no room, or switched off
  int first = 0;   ///< position
  int shown = 0;   ///< positions; 0: no room for the lens
  int length = 0;
  /// The columns, which scroll sideways.
  TableRows scrolled() const { return {&kFirstColumn, first, shown, length, grid.rect}; }
  bool scrolls() const { return scrolled().scrolls(); }
};

/// The smallest text size of guesses.
float least_size(const viz::Style& style) {
  return std::max(0.7F * style.font_size, style.smallest);
}

/// Text size of guesses in rows of this height; 0: not legible.
float text_size(float row, const viz::Style& style) {
  for (const float size : {style.small(), least_size(style)})
    if (row >= 1.25F * size) return size;
  return 0;
}

/// Rows between labels. If not all fit, only places before blocks are labelled.
int step_of_labels(const ViewContext& c, float row) {
  const float needed = 1.25F * style_of(c).small();
  if (!c.options[kLensMid] || row >= needed) return viz::label_step(row, needed);
  return 2 * viz::label_step(2 * row, needed);
}

viz::AxisLabels row_axis(const ViewContext& c, const Layout& l) {
  return {.labels = l.names, .title = "residual stream", .color = c.theme->text_muted};
}

viz::AxisLabels column_axis(const ViewContext& c, const Layout& l) {
  std::string title = "position";
  if (l.scrolls())
    title = "positions " + grouped(l.first) + " to " + grouped(l.first + l.shown - 1) + " of " +
            grouped(l.length);
  return token_axis(c, title, c.theme->query, c.selection.query);
}

/// Places the columns in a width, and their cells.
void place_columns(const ViewContext& c, Layout& l, float width) {
  constexpr float kMinBare = 2;  // pixels: narrower columns would share pixels
  const viz::Style style = style_of(c);
  const float least = l.text > 0 ? 3.6F * c.font_size : kMinBare,
              most = (l.text > 0 ? 7.F : 2.6F) * c.font_size;
  l.shown = std::clamp(static_cast<int>(width / least), 0, l.length);
  // Somewhat narrower columns rather than one or two left out.
  constexpr float kNarrower = 0.85F;
  if (l.shown + 2 >= l.length && static_cast<float>(l.length) * kNarrower * least <= width)
    l.shown = l.length;
  if (l.shown == 0) return;
  const auto cell = static_cast<double>(std::min(width / static_cast<float>(l.shown), most));
  l.grid.cols = l.shown;
  l.grid.rect.w = static_cast<float>(viz::whole_pixels(cell, 0.85, style) * l.shown);
  const int wanted =
      c.options[kFirstColumn] >= 0 ? c.options[kFirstColumn] : first_row_showing({}, c.selection.query, l.shown);
  l.first = std::clamp(wanted, 0, l.length - l.shown);
  l.grid.first_col = l.first;
  // A pane that scrolls keeps its rows where they are, however long the names of the shown tokens.
  viz::AxisLabels shown = column_axis(c, l);
  if (!c.in_pane && std::ssize(shown.labels) == l.length)
    shown.labels = shown.labels.subspan(static_cast<std::size_t>(l.first), static_cast<std::size_t>(l.shown)),
    shown.emphasised -= l.first;
  l.columns = viz::column_label_room(shown, l.grid.rect.w / static_cast<float>(l.shown),
                                     std::min(0.25F * l.area.h, 7 * c.font_size), style);
}

float legend_height(const viz::Style& style) {
  return style.line(style.small()) + 2 * style.unit();
}

/// Whether a line above the cells names the answers that their colours are about: those of the baseline,
/// which need not be any cell's own guess.
bool names_answers(const ViewContext& c) {
  return c.side == Side::difference && c.options[kWords] &&
         c.options[kLensColor] != LensColoring::divergence && lens_token(c).by != TokenRef::By::id;
}

Layout lay_out(const ViewContext& c, viz::Rect area) {
  const viz::Style style = style_of(c);
  Layout l;
  l.area = area;
  l.length = c.run->run->length();
  l.places = shown_places(c);
  const auto rows = static_cast<int>(l.places.size());
  l.grid.role = kCell;
  l.grid.rows = l.grid.row_count = rows;
  l.grid.col_count = l.length;

  for (const int place : l.places) l.names.push_back(place_name(c, place));
  l.rows = viz::row_label_room(row_axis(c, l), 2 * c.font_size, 0.24F * l.area.w, style);
  const float width = l.area.w - l.rows.size;
  const float answers = names_answers(c) ? style.line(style.small()) + style.unit() : 0;
  const float top = l.area.y + legend_height(style) + answers;
  // Circular: the height of rows depends on the column labels, these on the width of cells for the text, and
  // whether there is text on the height of rows.
  float row = 0;
  l.text = c.options[kWords] ? style.small() : 0;
  for (int pass = 0; pass < 2; ++pass) {
    place_columns(c, l, width);
    row = (l.area.bottom() - top - l.columns.size) / static_cast<float>(rows);
    if (l.text > 0) l.text = text_size(row, style);
  }
  place_columns(c, l, width);
  constexpr float kMinRow = 3;
  if (width < 4 * c.font_size || row < kMinRow) l.shown = 0;
  if (l.shown == 0) return l;
  const auto height = viz::whole_pixels(std::min(row, 3.4F * c.font_size), 0.85, style);
  l.grid.rect.x = style.snapped(l.area.x + l.rows.size);
  l.grid.rect.y = style.snapped(top);
  l.grid.rect.h = static_cast<float>(height * rows);

  l.step = step_of_labels(c, static_cast<float>(height));
  std::vector<std::string> names;
  for (int i = (rows - 1) % l.step; i < rows; i += l.step) names.push_back(std::move(l.names[i]));
  l.names = std::move(names);
  return l;
}

/// The ranges of known columns, each as a grid whose first column is its first position.
std::vector<viz::Region> known_parts(const Layout& l, const LensBlocks& lens) {
  std::vector<viz::Region> parts;
  for (int col = l.first; col < l.first + l.shown; ++col) {
    if (!lens.knows(col)) continue;
    int end = col;
    while (end < l.first + l.shown && lens.knows(end)) ++end;
    viz::Region part = l.grid;
    part.rect.x = l.grid.cell_rect(0, col).x;
    part.rect.w = l.grid.cell_rect(0, end).x - part.rect.x;
    part.first_col = col;
    part.cols = end - col;
    parts.push_back(part);
    col = end;
  }
  return parts;
}

/// Draws the cells of a range, with the best guesses on them.
void paint_part(Picture& picture, const ViewContext& c, const LensBlocks& lens, const Layout& l,
                const viz::Region& part, const viz::ColorScale& scale) {
  const viz::Style style = style_of(c);
  const auto first = static_cast<int>(part.first_col), count = static_cast<int>(part.cols),
             rows = static_cast<int>(l.places.size());
  std::vector<float> values;
  std::vector<std::uint8_t> nothing;  // cells without a counterpart
  for (const int place : l.places)
    for (int position = first; position < first + count; ++position) {
      values.push_back(shown_value(c, lens, position, place));
      if (c.side == Side::difference) nothing.push_back(std::isnan(values.back()) ? 1 : 0);
    }
  viz::HeatmapCells cells;
  cells.masked = nothing;
  cells.matrix = viz::Matrix::row_major(values, rows, count);
  cells.scale = scale;
  viz::Region image = part;
  image.first_col = 0;
  image.col_count = count;
  viz::paint_cells(picture.scene, cells, image, style);
  if (l.text <= 0) return;
  const viz::ColorTable color(scale, *c.theme);
  for (int col = first; col < first + count; ++col) {
    // The answer is the baseline's, which a position without a counterpart does not have.
    const LogitLens& block = lens.known_block(col);
    const bool has_answer = c.side != Side::difference || block.compares(col);
    for (int row = 0; row < rows; ++row) {
      const int id = lens.at(col, l.places[row]).guesses.top.front().id;
      const viz::Rect cell = part.cell_rect(row, col);
      const std::string words = label_of(c, id);
      const auto face =
          has_answer && id == block.answer(col) ? viz::FontStyle::bold : viz::FontStyle::regular;
      const float room = cell.w - 1.5F * style.unit();
      // Rather small than cut.
      const float size =
          style.width(words, l.text, face) > room ? std::min(l.text, least_size(style)) : l.text;
      viz::add_label(picture.scene, style, words, cell.center(), size,
                     text_on(c, color(cells.matrix.at(row, col - first))), face, viz::Align::center, room);
    }
  }
}

void paint_grid(Picture& picture, const ViewContext& c, const LensBlocks& lens, const Layout& l,
                const viz::ColorScale& scale) {
  for (const viz::Region& part : known_parts(l, lens)) paint_part(picture, c, lens, l, part, scale);
  picture.scene.add(viz::StrokeRect{l.grid.rect, c.theme->line, 1});
  const int query = c.selection.query;
  if (query < l.first || query >= l.first + l.shown) return;
  viz::Rect column = l.grid.cell_rect(0, query);
  column.h = l.grid.rect.h;
  picture.scene.add(viz::StrokeRect{column, c.theme->query, column.w > 8 ? 2.F : 1.F});
}

void paint_axes(Picture& picture, const ViewContext& c, const Layout& l) {
  const viz::Style style = style_of(c);
  // A grid with one row per label, which covers several rows of the picture; the labelled one is in the
  // middle of the last row.
  viz::Region labels = l.grid;
  const auto count = static_cast<int>(l.names.size());
  labels.row_count = count;
  labels.rows = l.grid.rows / l.step;
  labels.first_row = count - 0.5 - (l.grid.rows - 0.5) / l.step;
  const bool rows = viz::paint_row_labels(picture.scene, row_axis(c, l), l.rows, labels, style);
  const bool columns = viz::paint_column_labels(picture.scene, column_axis(c, l), l.columns, l.grid, l.area.x,
                                                style, viz::LabelSide::after);
  if (!rows || !columns) picture.whole = false;
}

/// The baseline's answer above each column that has one.
void paint_answers(Picture& picture, const ViewContext& c, const LensBlocks& lens, const Layout& l) {
  if (!names_answers(c) || l.text <= 0) return;
  const viz::Style style = style_of(c);
  const float middle = l.grid.rect.y - style.unit() / 2 - style.line(style.small()) / 2;
  viz::add_label(picture.scene, style, "answer", {l.grid.rect.x - 2 * style.unit(), middle}, style.small(),
                 c.theme->text_muted, viz::FontStyle::regular, viz::Align::right, l.rows.size);
  for (int col = l.first; col < l.first + l.shown; ++col) {
    if (!lens.knows(col) || !lens.known_block(col).compares(col)) continue;
    const viz::Rect cell = l.grid.cell_rect(0, col);
    viz::add_label(picture.scene, style, label_of(c, lens.known_block(col).answer(col)),
                   {cell.center().x, middle}, l.text, c.theme->text, viz::FontStyle::bold, viz::Align::center,
                   cell.w - style.unit());
  }
}

/// Above the grid, with what bold letters mean where that has room.
void paint_legend(Picture& picture, const ViewContext& c, const Layout& l, const Legend& legend) {
  const viz::Style style = style_of(c);
  const float middle = l.area.y + style.line(style.small()) / 2;
  const std::string bold = l.text > 0 ? bold_words(c) : "";
  const float words = style.width(bold, style.small()), room = l.area.w - words - 6 * style.unit();
  viz::Scene measured;
  const bool has_room =
      !bold.empty() && viz::paint_color_scale_line(measured, legend.scale, legend.title, {}, style) <= room;
  viz::paint_color_scale_in(picture.scene, legend.scale, legend.title, std::nullopt, {l.area.x, middle},
                            l.area.w, style);
  if (has_room) viz::add_muted(picture.scene, style, bold, {l.area.right(), middle}, viz::Align::right);
}

/// Why a shown block failed; `computing` if none did.
std::string waiting_words(const ViewContext& c, const Layout& l, std::string computing) {
  for (int b = LensOf::around(l.first).block; b <= LensOf::around(l.first + l.shown - 1).block; ++b)
    if (std::string sentence = c.failure(LensOf{b, lens_token(c)}); !sentence.empty()) return sentence;
  return computing;
}

std::string subtitle_of(const ViewContext& c, const Layout& l, const LensBlocks& lens) {
  const int known = lens.positions();
  if (known < l.shown)
    return waiting_words(c, l, "computing… " + grouped(known) + " of " + grouped(l.shown) + " positions");
  return c.side == Side::difference ? "guesses" + shown_run_words(c) : "";
}

/// `lens`: of the position; null: not there yet.
void add_cell(Facts& facts, const ViewContext& c, const LogitLens* lens, int position, int place) {
  facts.commands.push_back(choose_query(c, position));
  facts.say("position " + token_name(c.run->tokens, position));
  facts.say(place_name(c, place), Fact::Location::status);
  facts.say(place_name(c, place) + ": " + place_words(c, place), Fact::Location::tooltip);
  if (lens == nullptr) return facts.say(kComputing);
  const model::LensReading& reading = lens->at(position, place);
  const model::PositionStatistics& s = reading.guesses;
  const model::Guess& best = s.top.front();
  facts.say(guess_words(c, best), Fact::Location::status);
  for (std::size_t i = 0; i < s.top.size(); ++i)
    facts.say("guess " + std::to_string(i + 1) + ": " + guess_words(c, s.top[i]), Fact::Location::tooltip);
  const std::string target = chooses_token(c) ? "token" : "final answer";
  std::string answer = target + " “" + label_of(c, lens->answer(position)) + "” ";
  if (c.side == Side::difference && lens->compares(position)) {
    const model::PositionStatistics& before = lens->before_at(position, place).guesses;
    facts.say((compares_different_inputs(*c.run) ? "in the " + second_name(*c.run) : "before") + ": " +
                  guess_words(c, before.top.front()),
              Fact::Location::tooltip);
    answer += percent(before.next_probability) + " → ";
  } else if (c.side == Side::difference) {
    facts.say(no_counterpart_words(c), Fact::Location::tooltip);
  }
  answer += percent(s.next_probability);
  if (s.next_rank >= 0)
    answer += ", rank " + grouped(s.next_rank + 1) + " of " + grouped(c.run->run->config.vocab_size);
  facts.say(answer);
  facts.say("KL(end ‖ here) " + viz::number(bits(reading.divergence)) + " bits");

  add_copies_of_token(facts, c, best.id);
  facts.value("probability", plain(best.probability), Fact::Location::menu);
  facts.value("the " + target + "'s probability", plain(s.next_probability), Fact::Location::menu);
  if (s.next_rank >= 0)
    facts.value("the " + target + "'s rank", std::to_string(s.next_rank + 1), Fact::Location::menu);
  facts.value("KL", plain(bits(reading.divergence)), Fact::Location::menu);
  add_patch(facts.commands, c, point_of(place), position, "the stream here (" + place_name(c, place) + ")");
}

/// The grid with its axes and its legend. Its columns scroll sideways.
class LensBox final : public Box {
 public:
  LensBox(const LensBlocks& lens, Legend legend) : lens_(lens), legend_(std::move(legend)) {}

  Wish width(const ViewContext& c) const override { return {12 * c.font_size, 80 * c.font_size}; }
  Wish height(const ViewContext& c, float) const override {
    const auto rows = static_cast<float>(shown_places(c).size());
    const float around = 9 * c.font_size;
    return {around / 2, around + (c.printed ? 2.1F : 1.8F) * c.font_size * rows,
            around + 3.4F * c.font_size * rows};
  }
  bool place(const ViewContext& c, viz::Rect area) override {
    layout_ = lay_out(c, area);
    return layout_.shown > 0;
  }
  void paint(Picture& picture, const ViewContext& c) const override {
    paint_legend(picture, c, layout_, legend_);
    paint_answers(picture, c, lens_, layout_);
    paint_grid(picture, c, lens_, layout_, legend_.scale);
    paint_axes(picture, c, layout_);
    picture.regions.push_back(layout_.grid);
  }
  void add_facts(Facts& facts, const ViewContext& c, const Picture& picture,
                 const viz::Hit& hit) const override {
    const viz::Region& region = region_of(picture, hit);
    if (region.role != kCell) return;
    viz::paint_crosshair(facts.overlay, region, hit.row, hit.col, c.theme->text_muted, c.theme->query,
                         style_of(c));
    add_cell(facts, c, lens_.knows(hit.col) ? &lens_.known_block(hit.col) : nullptr, hit.col,
             layout_.places[hit.row]);
  }
  std::optional<ViewActions> on(const ViewContext& c, const Picture&, const viz::Hit* hit,
                                const Gesture& gesture) const override {
    TableRows columns = layout_.scrolled();
    if (const int now = c.options[kFirstColumn]; now >= 0)  // the option may be newer than the picture
      columns.first = std::clamp(now, 0, columns.all - columns.shown);
    if (gesture.kind == Gesture::Kind::click && hit != nullptr) {
      ViewActions actions{SelectQuery{hit->col}};
      if (columns.scrolls())
        actions.emplace_back(columns.from(columns.first));  // nothing moves under the mouse
      return actions;
    }
    if (!columns.scrolls()) return std::nullopt;
    if (gesture.kind == Gesture::Kind::wheel) {
      constexpr int kColumns = 3;  // per step of the wheel
      const float by = gesture.by.x != 0 ? gesture.by.x : gesture.by.y;
      return ViewActions{columns.from(columns.first + (by > 0 ? -kColumns : kColumns))};
    }
    const bool page = gesture.key == Key::page_up || gesture.key == Key::page_down;
    return gesture.kind == Gesture::Kind::key && page ? columns.by_key(gesture.key) : std::nullopt;
  }
  /// Under the grid and its labels.
  void add_scrolls(std::vector<Scroll>& scrolls, const ViewContext& c, const Picture&) const override {
    const TableRows columns = layout_.scrolled();
    viz::Rect along = columns.place;
    along.h =
        std::min(along.bottom() + layout_.columns.size + 1, c.height - kScrollBar * c.font_size) - along.y;
    for (Scroll& bar : columns.bars(columns.place.right())) {
      bar.sideways = true, bar.along = along;
      scrolls.push_back(std::move(bar));
    }
  }

 private:
  const LensBlocks& lens_;
  Legend legend_;
  Layout layout_;
};

void declare(Content& it) {
  const ViewContext& c = it.c;
  it.table = [&c] { return lens_table(c); };
  if (!c.run) {
    static_cast<void>(c.ask(LensOf::around(std::max(0, c.selection.query), lens_token(c))));
    return;
  }
  if (c.fonts == nullptr) return;
  const Layout l = lay_out(c, below_title(c));  // only the positions that are shown are asked about
  // On a page that is too small it asks about one position: its box then finds no room.
  const LensBlocks& lens = it.keep(lens_blocks(c, std::min(l.first, l.length - 1), std::max(1, l.shown)));
  if (lens.positions() == 0) {
    it.message = waiting_words(c, l, kComputing);
    return;
  }
  it.title = "Logit lens";
  it.subtitle = subtitle_of(c, l, lens);
  it.body = std::make_unique<LensBox>(lens, legend_of(c, lens));
}

}  // namespace lens

View lens_view() {
  using namespace lens;
  View view =
      make_view(Group::output, "lens", "Logit lens",
                "what the model would predict if it stopped at each place in the residual stream", declare);
  view.audience = Audience::research;
  view.draws_again = false;  // which positions are asked about depends on the width
  view.options = {&kLensColor, &kLensToken, &kLensMid, &kLensAt, &kWords, &kFirstColumn};
  view.for_means = &kLensAt;
  view.for_means_value = static_cast<int>(LensAt::query);
  view.shows_difference = true;
  view.shows_parts = true;
  view.caption = {true, false, true};
  view.landmarks = {landmark("grid", kCell)};
  return view;
}

}  // namespace headscope::app
