#include <cstdlib>
#include <numeric>

#include "app/views/output/continuation.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/parts.h"

namespace headscope::app::lens {

enum Role { kCell };  // row: place on the stream, its end on top; col: position

enum class Coloring { probability, rank, divergence };
const auto kColor = choice_option<Coloring>(
    "lens-color", "Colour", "cC", "what the cell colours show",
    {{"probability", "Probability",
      "Probability of the best guess, or of --token; for differences, of the baseline's final answer"},
     {"rank", "Rank", "Rank of the final answer, on a logarithmic scale"},
     {"kl", "KL", "KL divergence of the final distribution from the one here, in bits"}},
    {.flag = "metric"});
const auto kToken = make_option<TokenRef>("lens-token", "Token",
                                          "the token whose probability and rank are read: its text, "
                                          "id:N, or rank:N at the end of the stream",
                                          {.flag = "token", .default_value = TokenRef::best(), .keys = "lL"});
const auto kMid =
    switch_option("lens-mid", "Inside blocks", "hH", "also show the stream between attention and MLP", true);
const auto kWords = switch_option("lens-guesses", "Guesses", "wW",
                                  "make cells wide enough for the text of the best guess", true);
enum class Rows { automatic, all, query };
const auto kRows = choice_option<Rows>(
    "lens-at", "Numbers", "pP", "the positions listed in the table",
    {{"auto", "Automatic", "All positions; means over prompts, which differ in length, the query alone"},
     {"all", "All positions", "Numbers after every position"},
     {"query", "Query", "Numbers after the query alone"}},
    {.of_list = true});
/// -1: such that the query's column is visible.
const auto kFirstColumn = pane_option("first-column", -1, 0, 1 << 24, true);

// ---- tokens and places ----

TokenRef token_of(const ViewContext& c) {
  const TokenRef token = given_token(c, kToken);
  return token.empty() ? TokenRef::best() : token;
}
/// Whether the token that is read is not the final answer.
bool chooses_token(const ViewContext& c) {
  return token_of(c) != TokenRef::best();
}
/// Whether it is the baseline's final answer, on the difference side.
bool names_baseline(const ViewContext& c) {
  return c.differs() && !chooses_token(c);
}
/// "the final answer", "“·it”"
std::string target_words(const ViewContext& c) {
  const TokenRef token = token_of(c);
  if (!chooses_token(c)) return "the final answer";
  return token.by == TokenRef::By::id ? "“" + label_of(c, token.number) + "”"
                                      : "the final guess of rank " + std::to_string(token.number);
}

/// The places that are shown. The stream runs upwards: the last place comes first.
std::vector<int> shown_places(const ViewContext& c) {
  std::vector<int> places;
  for (int place = 2 * c.config().n_layer; place >= 0; --place)
    if (c.options[kMid] || !lens_place(place).mid) places.push_back(place);
  return places;
}
struct PlaceNames {
  std::string name;  ///< "0 pre", "0 mid" ... "11 post"
  model::HookPoint point;
  std::string words;
};
PlaceNames names_of(const ViewContext& c, int place) {
  using enum model::Site;
  const auto [layer, mid] = lens_place(place);
  const std::string number = std::to_string(layer), block = "block " + number;
  if (layer == c.config().n_layer)
    return {std::to_string(layer - 1) + " post", {resid_post, layer - 1}, "the end of the stream"};
  if (mid) return {number + " mid", {resid_mid, layer}, block + ", between attention and MLP"};
  return {number + " pre", {resid_pre, layer}, layer == 0 ? "embedding, before block 0" : "before " + block};
}
// ---- numbers ----

/// The lens at positions [first, first + count), as far as known; the rest has been requested.
struct Lens {
  int first = 0, count = 0;
  std::vector<std::shared_ptr<const LogitLens>> blocks;  ///< null: not known yet

  const LogitLens* block_of(int position) const { return blocks[LensOf::around(position).block].get(); }
  bool knows(int position) const { return block_of(position) && block_of(position)->knows(position); }
  /// Those that are known.
  std::vector<int> positions() const {
    std::vector<int> known;
    for (int i = first; i < first + count; ++i)
      if (knows(i)) known.push_back(i);
    return known;
  }
};

/// Asks for the query's block first, then for the others by their distance from it.
Lens lens_at(const ViewContext& c, int first, int count) {
  Lens lens{first, count, {}};
  lens.blocks.resize(LensOf::blocks(c.run->run->length()));
  const int from = LensOf::around(first).block, query = LensOf::around(c.selection.query).block;
  std::vector<int> wanted(LensOf::around(first + count - 1).block + 1 - from);
  std::iota(wanted.begin(), wanted.end(), from);
  std::ranges::stable_sort(wanted, {}, [&](int block) { return std::abs(block - query); });
  for (const int block : wanted) lens.blocks[block] = c.ask(LensOf{block, token_of(c)});
  return lens;
}

/// A row for each position and each place, shown or not.
Table table(const ViewContext& c) {
  if (!c.run) return {};
  const bool of_query = c.options[kRows] == Rows::query;
  const Lens lens = of_query ? lens_at(c, c.selection.query, 1) : lens_at(c, 0, c.run->run->length());
  if (lens.positions().empty()) return {};
  Table result{of_query ? note_column("position") : key_column("position"),
               note_column("token"),
               "place",
               "hook",
               note_column("answer id"),
               note_column("answer")};
  result.add_columns({"probability", "rank", Column("KL", "bits")});
  if (c.differs())
    result.add_columns({"compared probability", "compared rank", Column("compared KL", "bits")});
  for (int g = 1; g <= LogitLens::kGuesses; ++g) {
    const std::string guess = "guess " + std::to_string(g);
    result.add_columns({note_column(guess + " id"), note_column(guess + " token"), guess + " logit",
                        guess + " probability"});
  }
  const auto add_reading = [](TableRow& row, const model::LensReading& of) {
    add_cells(row, of.guesses.next_probability, rank_cell(of.guesses.next_rank), bits(of.divergence));
  };
  const int layers = c.config().n_layer;
  for (const int position : lens.positions()) {
    const LogitLens& block = *lens.block_of(position);
    const int answer = block.answer(position);
    for (int place = 0; place <= 2 * layers; ++place) {
      const model::LensReading& reading = block.at(position, place);
      TableRow row;
      const PlaceNames names = names_of(c, place);
      add_cells(row, position, c.run->tokens.labels[position], names.name, model::hook_name(names.point),
                answer, label_of(c, answer));
      add_reading(row, reading);
      if (c.differs() && block.compares(position)) add_reading(row, block.before_at(position, place));
      if (c.differs()) row.resize(result.at("guess 1 id"));
      for (const model::Guess& guess : reading.guesses.top)
        add_cells(row, guess.id, label_of(c, guess.id), guess.logit, guess.probability);
      result.add(std::move(row));
    }
  }
  return result;
}

/// What a cell's colour shows.
float value_of(const ViewContext& c, const model::LensReading& reading) {
  const model::PositionStatistics& guesses = reading.guesses;
  const bool of_best = !c.differs() && !chooses_token(c);
  const Coloring coloring = c.options[kColor];
  if (coloring == Coloring::rank) return static_cast<float>(rank_cell(guesses.next_rank));
  if (coloring == Coloring::divergence) return static_cast<float>(bits(reading.divergence));
  return static_cast<float>(of_best ? guesses.top.front().probability : guesses.next_probability);
}

/// By shown place and position; NaN: not known, or without a counterpart.
std::vector<float> values_of(const ViewContext& c, const Lens& lens, const std::vector<int>& places) {
  const auto length = static_cast<std::size_t>(c.run->run->length());
  std::vector<float> values(places.size() * length, std::numeric_limits<float>::quiet_NaN());
  for (const int position : lens.positions()) {
    const LogitLens& block = *lens.block_of(position);
    for (std::size_t row = 0; row < places.size(); ++row) {
      float& value = values[row * length + static_cast<std::size_t>(position)];
      if (!c.differs())
        value = value_of(c, block.at(position, places[row]));
      else if (block.compares(position))
        value = value_of(c, block.at(position, places[row])) -
                value_of(c, block.before_at(position, places[row]));
    }
  }
  return values;
}

viz::ColorScale scale_of(const ViewContext& c, const viz::Matrix& values) {
  constexpr float kBeyond = 0.1F;
  const Coloring coloring = c.options[kColor];
  const viz::ValueRange range = viz::value_range(values);
  if (c.differs())
    return beyond_rounding(viz::robust_scale(values, coloring == Coloring::probability ? 0 : kBeyond, range));
  if (coloring == Coloring::probability) return viz::linear_scale(1);
  if (coloring == Coloring::rank)
    return {.logarithmic = true, .low = 1, .high = static_cast<double>(std::max(2, c.config().vocab_size))};
  // The embedding's prediction is very different: its divergence would leave the rest without colour.
  const float most = viz::robust_magnitude(values, kBeyond);
  return viz::marked_for(viz::linear_scale(static_cast<double>(most > 0 ? most : range.high)), range);
}

std::string scale_title(const ViewContext& c) {
  const Coloring coloring = c.options[kColor];
  if (coloring == Coloring::divergence) return delta(c) + std::string("KL(end ‖ here), bits");
  std::string of = target_words(c);
  if (names_baseline(c))
    of = (compares_different_inputs(*c.run) ? "the " + second_name(*c.run) : "the unedited run") +
         "'s final answer";
  else if (coloring == Coloring::probability && !chooses_token(c))
    of = "the best guess";
  return delta(c) + std::string(coloring == Coloring::rank ? "rank of " : "probability of ") + of +
         (coloring == Coloring::rank && !c.differs() ? ", logarithmic" : "");
}

// ---- the picture ----

/// The smallest letters of guesses.
float least_letters(const viz::Style& style) {
  return std::max(0.7F * style.font_size, style.smallest);
}

/// Whether cells have the words of their guesses: in low rows nobody could read them.
bool has_words(const ViewContext& c) {
  constexpr float kAround = 9;  // ems above and below the grid
  const auto rows = static_cast<float>(shown_places(c).size());
  const float height = c.height - kAround * c.font_size;
  return c.options[kWords] && (!c.in_pane || height >= rows * 1.25F * least_letters(style_of(c)));
}
/// What a cell wants, in ems.
viz::Point cell_size(const ViewContext& c) {
  return {has_words(c) ? 3.5F : 1.3F, 1.8F};
}

/// The columns, which scroll sideways: as many as have room for words, or without these as can be told apart.
TableRows columns_of(const ViewContext& c) {
  constexpr float kBeside = 5;                         // ems: labels of rows
  constexpr float kLeastWidth = 2, kNarrower = 0.85F;  // pixels; rather than one or two left out
  const float least = has_words(c) ? cell_size(c).x * c.font_size : kLeastWidth;
  const float width = below_title(c).w - kBeside * c.font_size;
  const int length = c.run->run->length();
  int shown = std::clamp(static_cast<int>(width / least), 1, length);
  if (shown + 2 >= length && static_cast<float>(length) * kNarrower * least <= width) shown = length;
  const int wanted = c.options[kFirstColumn];
  const int first = wanted >= 0 ? wanted : first_row_showing(c.selection.query, shown);
  return {&kFirstColumn, std::clamp(first, 0, length - shown), shown, length, {}, true};
}

/// The best guesses on their cells, the answer in bold, and a frame around the query's column.
void paint_guesses(Picture& picture, const ViewContext& c, const Lens& lens, const Grid& values,
                   const viz::Region& grid) {
  const viz::Style style = style_of(c);
  const viz::ColorTable color(values.map.cells.scale, *c.theme);
  const std::vector<int> places = shown_places(c);
  const int query = c.selection.query;
  viz::Rect column = grid.cell_rect(0, query);
  column.h = grid.rect.h;
  if (query >= lens.first && query < lens.first + lens.count)
    picture.scene.add(viz::StrokeRect{column, c.theme->query, column.w > 8 ? 2.F : 1.F});
  if (!has_words(c)) return;
  for (const int col : lens.positions()) {
    // The answer is the baseline's, which a position without a counterpart does not have.
    const LogitLens& block = *lens.block_of(col);
    const bool has_answer = !c.differs() || block.compares(col);
    for (int row = 0; row < grid.row_count; ++row) {
      const viz::Rect cell = grid.cell_rect(row, col);
      const float room = cell.w - 1.5F * style.unit(), least = least_letters(style);
      if (cell.h < 1.25F * least) return;
      const int id = block.at(col, places[row]).guesses.top.front().id;
      const std::string words = label_of(c, id);
      const auto face =
          has_answer && id == block.answer(col) ? viz::FontStyle::bold : viz::FontStyle::regular;
      // Shrink before truncating.
      const bool is_small = cell.h < 1.25F * style.small() || style.width(words, style.small(), face) > room;
      const float value = values.number(row, col);
      viz::add_label(picture.scene, style, words, cell.center(), is_small ? least : style.small(),
                     text_on(c, std::isnan(value) ? c.theme->raised : color(value)), face, viz::Align::center,
                     room);
    }
  }
}

/// What is said of a cell besides its position.
void say_cell(Facts& facts, const ViewContext& c, const Lens& lens, int position, int place) {
  const PlaceNames names = names_of(c, place);
  facts.say(names.name, Fact::Location::status);
  facts.tip(names.name + ": " + names.words);
  if (!lens.knows(position)) return facts.say(kComputing);
  const LogitLens& block = *lens.block_of(position);
  const model::LensReading& reading = block.at(position, place);
  const model::PositionStatistics& s = reading.guesses;
  facts.say(guess_words(c, s.top.front()), Fact::Location::status);
  for (std::size_t i = 0; i < s.top.size(); ++i)
    facts.tip("guess " + std::to_string(i + 1) + ": " + guess_words(c, s.top[i]));
  const std::string target = chooses_token(c) ? "token" : "final answer";
  std::string answer = target + " “" + label_of(c, block.answer(position)) + "” ";
  if (c.differs() && block.compares(position)) {
    const model::PositionStatistics& before = block.before_at(position, place).guesses;
    facts.tip((compares_different_inputs(*c.run) ? "in the " + second_name(*c.run) : "before") + ": " +
              guess_words(c, before.top.front()));
    answer += percent(before.next_probability) + " → ";
  } else if (c.differs()) {
    facts.tip(no_counterpart_words(c));
  }
  answer += percent(s.next_probability);
  if (s.next_rank >= 0)
    answer += ", rank " + grouped(s.next_rank + 1) + " of " + grouped(c.config().vocab_size);
  facts.say(answer);
  facts.say("KL(end ‖ here) " + viz::number(bits(reading.divergence)) + " bits");

  add_copies_of_token(facts, c, s.top.front().id);
  facts.value("probability", plain(s.top.front().probability), Fact::Location::menu);
  facts.value("the " + target + "'s probability", plain(s.next_probability), Fact::Location::menu);
  if (s.next_rank >= 0)
    facts.value("the " + target + "'s rank", std::to_string(s.next_rank + 1), Fact::Location::menu);
  facts.value("KL", plain(bits(reading.divergence)), Fact::Location::menu);
  add_patch(facts.commands, c, names.point, position, "the stream here (" + names.name + ")");
}

std::unique_ptr<Grid> grid_of(const ViewContext& c, const Lens& lens, bool scrolls) {
  const std::vector<int> places = shown_places(c);
  std::vector<std::string> rows, columns;
  for (const int place : places) rows.push_back(names_of(c, place).name);
  // Colours of a difference are about the baseline's answers, which need not be any cell's own guess.
  const bool names_answers =
      c.differs() && c.options[kColor] != Coloring::divergence && token_of(c).by != TokenRef::By::id;
  for (int i = 0; i < c.run->run->length(); ++i) {
    columns.push_back(c.run->tokens.labels[i]);
    if (names_answers && lens.knows(i) && lens.block_of(i)->compares(i))
      columns.back() += " → " + label_of(c, lens.block_of(i)->answer(i));
  }
  auto grid =
      std::make_unique<Grid>(c, kCell, values_of(c, lens, places), std::move(rows), std::move(columns));
  viz::Heatmap& map = grid->map;
  map.cells.scale = scale_of(c, map.cells.matrix);
  map.show_scale = map.cell_values = map.centered = false;
  map.rows.title = "residual stream", map.rows.numbered = true;
  map.cols.title = "position";
  if (scrolls)
    map.cols.title += "s " + grouped(lens.first) + " to " + grouped(lens.first + lens.count - 1) + " of " +
                      grouped(c.run->run->length());
  if (names_answers) map.cols.title += " → answer";
  map.cols.color = c.theme->query, map.cols.emphasised = c.selection.query;
  map.cols.is_still = !c.in_pane;
  map.shown = {0, static_cast<double>(lens.first), static_cast<double>(places.size()),
               static_cast<double>(lens.count)};
  map.stretch = 0, grid->cell = cell_size(c);
  grid->refers_to = [places](int row, int col) { return Ref{.query = col, .other = places[row]}; };
  grid->over = [&lens, &values = *grid](Picture& picture, const ViewContext& now, const viz::Region& cells) {
    paint_guesses(picture, now, lens, values, cells);
  };
  return grid;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  it.table = [&c] { return table(c); };
  if (!c.run) return static_cast<void>(it.need(LensOf::around(std::max(0, c.selection.query), token_of(c))));
  if (c.fonts == nullptr) return;
  const TableRows columns = columns_of(c);  // only the positions that are shown are asked about
  const Lens& lens = it.keep(lens_at(c, columns.first, columns.shown));
  const auto known = std::ssize(lens.positions());
  if (known == 0) return static_cast<void>(it.need(LensOf::around(columns.first, token_of(c))));
  it.title = "Logit lens";
  const std::string of_run = shown_run_words(c);
  it.subtitle = known < columns.shown
                    ? "computing… " + grouped(known) + " of " + grouped(columns.shown) + " positions"
                    : "through ln_f and the unembedding" + (of_run.empty() ? "" : "; guesses" + of_run) +
                          "; bold: " + (names_baseline(c) ? "the answer" : target_words(c));
  auto grid = grid_of(c, lens, columns.scrolls());
  BoxPtr scale = legend(grid->map.cells.scale, scale_title(c));
  it.body = rows(boxes(std::move(scale), std::move(grid)));
  it.place_facts = [&](Facts& facts, const Ref& ref) { say_cell(facts, c, lens, ref.query, ref.other); };
  if (!columns.scrolls()) return;
  it.on = [columns](const ViewContext& now, const Spot* at, Gesture gesture) -> std::optional<ViewActions> {
    const TableRows shown = columns.with(now.options);
    if (gesture.kind == Gesture::Kind::click && at != nullptr)  // nothing moves under the mouse
      return ViewActions{SelectQuery{at->hit.col}, shown.from(shown.first)};
    gesture.modifiers.shift |= gesture.by.x == 0;  // no rows scroll
    if (gesture.kind == Gesture::Kind::wheel) return shown.by_wheel(gesture);
    const bool page = gesture.key == Key::page_up || gesture.key == Key::page_down;
    return gesture.kind == Gesture::Kind::key && page ? shown.by_key(gesture.key) : std::nullopt;
  };
  it.scrolls = [columns](const ViewContext& now, const Picture& picture) {
    TableRows shown = columns.with(now.options);
    shown.place = picture.regions.front().rect;
    shown.place.h = now.height - kScrollBar * now.font_size - shown.place.y;
    return shown.bars(shown.place.right());
  };
}

View view() {
  View view = make_view("lens", "Logit lens", declare,
                        "what the model would predict if it stopped at each place in the residual stream");
  view.draws_again = false;  // which positions are asked about depends on the width
  view.options = {&kColor, &kToken, &kMid, &kRows, &kWords, &kFirstColumn};
  view.for_means = {&kRows, static_cast<int>(Rows::query)};
  view.shows_parts = true;
  return view;
}

}  // namespace headscope::app::lens
