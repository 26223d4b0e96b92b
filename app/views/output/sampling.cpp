#include <initializer_list>

#include "app/views/output/continuation.h"
#include "app/views/parts/parts.h"
#include "model/files/error.h"
#include "model/tokens/sampling.h"
#include "viz/scene/contrast.h"

namespace headscope::app {
namespace sampling {

enum Role { kGuess, kPart };  // rows of the table, parts of the bars; Region::id: rank, token id

const auto kFirstRank = first_row_option("first-rank", true);

// Rows of the picture's table, default and maximum, and rows of a file.
constexpr int kMaxParts = 300;  // maximum in a bar
constexpr int kDefaultRows = 30, kMaxRows = 500, kMaxNumbers = 1000;

/// The candidates after a position, and the drawn one.
struct Draw {
  std::shared_ptr<const NextToken> next;
  model::Candidates candidates;
  double number = 0;                    ///< in [0, 1)
  int rank = 0;                         ///< rank of the drawn token
  int drawn = 0;                        ///< its id
  std::vector<int> ids;                 ///< the most probable tokens
  std::vector<double> cumulative = {};  ///< by rank, cumulative probability; filled by `list_of`

  int vocabulary() const { return static_cast<int>(next->logits.size()); }
  bool removes() const { return candidates.kept() < vocabulary(); }
  double probability(int id) const { return candidates.probabilities()[id]; }
};

/// Nullopt until there are logits, and if they are not finite.
std::optional<Draw> draw_of(const ViewContext& c) {
  const auto next = current_next(c);
  if (!next) return std::nullopt;
  try {
    Draw draw{next, model::Candidates(next->logits, sampling_of(c.options)), 0, 0, 0, {}};
    draw.number = model::RandomNumbers(seed_of(c.options), next->position + 1).next();
    draw.rank = draw.candidates.draw(draw.number);
    draw.drawn = draw.candidates.best(draw.rank);
    for (int rank = 0; rank < std::min(draw.vocabulary(), kMaxNumbers); ++rank)
      draw.ids.push_back(draw.candidates.best(rank));
    return draw;
  } catch (const model::RunError&) {
    return std::nullopt;
  }
}

/// Rows of the picture's table: all kept tokens and a few others.
int row_count(const Draw& draw) {
  const int rows = draw.removes() ? std::min(draw.candidates.kept() + 10, kMaxRows) : 0;
  return std::min(draw.vocabulary(), std::max(rows, kDefaultRows));
}

/// Whether a row under the others shows the drawn token. In a pane the words at the bar do, and the list may
/// not move while somebody types.
bool adds_drawn(const ViewContext& c, const Draw& draw) {
  return !c.in_pane && draw.rank >= row_count(draw);
}

/// The step that removes the token with this rank; empty: it is kept.
std::string_view removed_by(const Draw& draw, int rank) {
  if (rank < draw.candidates.kept()) return "";
  return rank < draw.candidates.after_top_k() ? "top-p" : "top-k";
}

// ---- the bars ----

constexpr std::uint8_t kOthers = 70;  // alpha of tokens that are not told apart
constexpr float kLeastShare = 1.5F;   // logical pixels: narrower parts are not told apart
constexpr float kLeastRegion = 3;     // narrower parts cannot be pointed at

struct Share {
  std::string label;
  double size = 0;
  viz::Color fill;
  bool removed = false;  ///< hatched; these come last
  int id = 0;            ///< id of its region
};

struct ShareBar {
  std::vector<Share> shares;
  double total = 1;  ///< sum of all sizes, including parts that are not given
  double mark = -1;  ///< place of a triangle, in units of the sizes; negative: none
};

viz::Color others_color(const ViewContext& c) {
  return c.theme->bar.with_alpha(kOthers);
}

/// Kept tokens alternate between lighter and darker, so that neighbours are distinguishable.
viz::Color fill_of(const ViewContext& c, const Draw& draw, int rank) {
  if (rank == draw.rank) return c.theme->accent;
  if (rank >= draw.candidates.kept()) return c.theme->raised;
  return c.theme->bar.with_alpha(rank % 2 == 0 ? 255 : 200);
}

/// The tokens that a bar of this width shows one by one: ranks below this.
int told_apart(const Draw& draw, double total, float width) {
  int count = 0;
  const int most = std::min(static_cast<int>(draw.ids.size()), kMaxParts);
  while (count < most &&
         draw.probability(draw.ids[count]) / total * static_cast<double>(width) >= kLeastShare)
    ++count;
  return count;
}

/// The most probable tokens one by one, then the others that are kept, then those that are removed.
ShareBar shares_of(const ViewContext& c, const Draw& draw, bool kept_alone, float width) {
  ShareBar bar;
  const int kept = draw.candidates.kept();
  bar.total = kept_alone ? draw.candidates.mass() : 1;
  const int told = told_apart(draw, bar.total, width), shown = kept_alone ? std::min(kept, told) : told;
  double passed = 0;
  for (int rank = 0; rank < shown; ++rank) {
    const int id = draw.ids[rank];
    bar.shares.push_back({label_of(c, id), draw.probability(id), fill_of(c, draw, rank), rank >= kept, id});
    passed += draw.probability(id);
  }
  if (shown < kept)
    bar.shares.push_back(
        {grouped(kept - shown) + " others", draw.candidates.mass() - passed, others_color(c), false, -1});
  if (!kept_alone && draw.removes())
    bar.shares.push_back({"", 1 - std::max(passed, draw.candidates.mass()), c.theme->raised, true, -1});
  if (kept_alone || !draw.removes()) bar.mark = draw.number * bar.total;
  return bar;
}

/// The x of a size measured from the bar's left.
float share_x(viz::Rect bar, double size, double total) {
  return bar.x + static_cast<float>(total > 0 ? std::clamp(size / total, 0.0, 1.0) : 0) * bar.w;
}

/// The part of a share for a label as wide as `label`: all of it, or if the mark's line would strike the
/// label through, the larger side of that.
viz::Rect room_for_label(const viz::Rect& part, float label, float mark, float unit) {
  if (std::abs(mark - part.center().x) > label / 2 + unit) return part;
  const float left = mark - part.x, right = part.right() - mark;
  return left > right ? viz::Rect{part.x, part.y, left, part.h} : viz::Rect{mark, part.y, right, part.h};
}

/// Fills a rectangle with lines, like tokens that are removed.
void paint_hatching(viz::Scene& scene, const viz::Rect& rect, viz::Color color) {
  viz::Segments lines{{}, color, 1};
  constexpr float kStep = 6;
  for (float c = rect.x + rect.y + kStep; c < rect.right() + rect.bottom(); c += kStep) {
    const float left = std::max(rect.x, c - rect.bottom()), right = std::min(rect.right(), c - rect.y);
    lines.points.push_back({left, c - left});
    lines.points.push_back({right, c - right});
  }
  if (!lines.points.empty()) scene.add(std::move(lines));
}

/// Draws the parts in `bar`, each with its label if it fits, and the triangle above it.
void paint_shares(Picture& picture, const ViewContext& c, const ShareBar& shares, viz::Rect bar) {
  viz::Scene& scene = picture.scene;
  const viz::Style style = style_of(c);
  const viz::Theme& theme = *c.theme;
  const float u = style.unit();
  scene.add(viz::FillRect{bar, others_color(c), 2});
  const float mark = shares.mark < 0 ? bar.x - 1 : share_x(bar, shares.mark, shares.total);
  double passed = 0, kept = 0;
  for (std::size_t i = 0; i < shares.shares.size(); ++i) {
    const Share& share = shares.shares[i];
    const float left = share_x(bar, passed, shares.total);
    passed += share.size;
    if (!share.removed) kept = passed;
    const float width = share_x(bar, passed, shares.total) - left;
    if (width < kLeastShare) continue;
    const viz::Rect part{left, bar.y, width, bar.h};
    if (share.fill != others_color(c)) scene.add(viz::FillRect{part, share.fill});
    if (share.removed) continue;
    if (i > 0) scene.add(viz::FillRect{{part.x, part.y, 1, part.h}, theme.surface});
    const viz::Rect room = room_for_label(part, style.width(share.label, style.small()), mark, u);
    viz::add_whole_label(scene, style, share.label, room.center(), room.w - 2 * u,
                         viz::text_on(theme, viz::blended(theme.surface, share.fill)),
                         viz::FontStyle::regular, viz::Align::center);
    if (part.w >= kLeastRegion) picture.regions.push_back({kPart, share.id, part});
  }
  const float end = share_x(bar, kept, shares.total);
  if (kept < passed) paint_hatching(scene, {end, bar.y, bar.right() - end, bar.h}, theme.hatch);
  scene.add(viz::StrokeRect{bar, theme.line, 1, 2});
  if (shares.mark < 0) return;
  scene.add(viz::FillRect{{mark - 0.75F, bar.y - u, 1.5F, bar.h + 2 * u}, theme.text});
  scene.add(viz::FillPolygon{
      {{mark - 1.5F * u, bar.y - 2.5F * u}, {mark + 1.5F * u, bar.y - 2.5F * u}, {mark, bar.y}}, theme.text});
}

/// "seed 0 gives 0.6315: “·th” (rank 13, 1.38 %)"
std::string number_words(const ViewContext& c, const Draw& draw) {
  return "seed " + std::to_string(c.options[kSeed]) + " gives " + viz::fixed_number(draw.number, 4) + ": “" +
         label_of(c, draw.drawn) + "” (rank " + grouped(draw.rank + 1) + ", " +
         percent(draw.probability(draw.drawn)) + ")";
}

std::string all_words(const ViewContext& c, const Draw& draw) {
  std::string words = "softmax of logits";
  if (c.options[kTemperature] != 1) words += " / " + viz::number(c.options[kTemperature], 3);
  return words + ", " + grouped(draw.vocabulary()) + " tokens";
}

/// "top-k keeps 40, top-p keeps 13 with 91.2 % of the probability"
std::string kept_words(const ViewContext& c, const Draw& draw) {
  const model::Candidates& of = draw.candidates;
  std::string words;
  if (of.after_top_k() < draw.vocabulary()) words = "top-k keeps " + grouped(of.after_top_k());
  if (c.options[kTopP] < 1) {
    words += words.empty() ? "top-p keeps " : ", top-p keeps ";
    words += grouped(of.kept());
  }
  return words + " with " + percent(of.mass()) + " of the probability";
}

/// Places of one bar with its text above it, or of two bars and the link between them.
struct Layout {
  viz::Rect area;
  viz::Rect all, kept;  ///< h == 0: no room, or nothing is removed
  float legend = 0;     ///< middle of its line, if there is one
  viz::Rect rows;
};

/// Space between a bar and the words above it, for the pointer.
float pointer_height(const viz::Style& style) {
  return 4 * style.unit();
}
float words_height(const viz::Style& style) {
  return style.line(style.small()) + pointer_height(style);
}
/// Height of the line under the bars that explains their colours: nobody can point at them on paper.
float legend_height(const ViewContext& c) {
  return c.printed ? style_of(c).line(style_of(c).small()) + style_of(c).unit() : 0;
}
float bar_height_of(const viz::Style& style) {
  return std::round(2 * style.font_size);
}
float link_height(const viz::Style& style) {
  return 2 * style.unit();
}

Layout lay_out(const ViewContext& c, bool two) {
  const viz::Style style = style_of(c);
  Layout l;
  l.area = l.rows = below_title(c);
  const float one = words_height(style) + bar_height_of(style) + 4 * style.unit();
  const float least_rows = viz::table_height(viz::Table{}, style) + 5 * viz::table_row_height(style);
  float y = l.area.y;
  const auto place = [&](viz::Rect& bar) {
    bar = {l.area.x, y + words_height(style), l.area.w, bar_height_of(style)};
    y += one;
  };
  const bool both = two && l.area.h >= 2 * one + link_height(style) + least_rows;
  if (both) place(l.all), y += link_height(style);
  const float two_rows = viz::table_height(viz::Table{}, style) + 3 * viz::table_row_height(style);
  const bool alone = l.area.h < two_rows + one;  // the draw is more important than a row or two
  if (both || l.area.h >= one + two_rows || (alone && l.area.h >= one)) place(two ? l.kept : l.all);
  if (y > l.area.y && c.printed) {
    l.legend = y - 4 * style.unit() + legend_height(c) / 2 + style.unit() / 2;
    y += legend_height(c);
  }
  l.rows.y = y;
  l.rows.h = std::max(0.F, l.area.bottom() - y);
  return l;
}

void paint_bar(Picture& picture, const ViewContext& c, const Draw& draw, const viz::Rect& bar, bool kept) {
  const viz::Style style = style_of(c);
  const ShareBar shares = shares_of(c, draw, kept, bar.w);
  const float middle = bar.y - pointer_height(style) - style.line(style.small()) / 2;
  const std::string left = kept ? kept_words(c, draw) : all_words(c, draw);
  const std::string right = shares.mark >= 0 ? number_words(c, draw) : "";
  const float left_w = style.width(left, style.small()), right_w = style.width(right, style.small());
  const bool both = left_w + right_w + 6 * style.unit() <= bar.w;
  const auto word = [&](const std::string& words, float x, viz::Color color, viz::Align align) {
    viz::add_label(picture.scene, style, words, {x, middle}, style.small(), color, viz::FontStyle::regular,
                   align, bar.w);
  };
  if (both || right.empty()) word(left, bar.x, c.theme->text_muted, viz::Align::left);
  if (!right.empty()) word(right, bar.right(), c.theme->text, viz::Align::right);
  paint_shares(picture, c, shares, bar);
}

/// Links the kept part of the upper bar to the whole lower one.
void paint_link(viz::Scene& scene, const ViewContext& c, const Draw& draw, const Layout& l) {
  const float from = share_x(l.all, draw.candidates.mass(), 1);
  const float top = l.all.bottom() + 2;
  const float bottom = top + 4 * style_of(c).unit();
  scene.add(viz::FillPolygon{{{l.all.x, top}, {from, top}, {l.kept.right(), bottom}, {l.kept.x, bottom}},
                             c.theme->accent.with_alpha(28)});
}

/// What the colours of the bars mean; entries that do not fit are left out, the first ones last.
void paint_legend(viz::Scene& scene, const ViewContext& c, const Draw& draw, const Layout& l) {
  const viz::Style style = style_of(c);
  const float u = style.unit();
  const viz::Rect& bar = l.kept.h > 0 ? l.kept : l.all;
  const bool kept = l.kept.h > 0;
  const int told = told_apart(draw, kept ? draw.candidates.mass() : 1, bar.w);
  float x = l.area.x;
  const auto entry = [&](const std::string& words, std::initializer_list<viz::Color> fills, bool hatched) {
    const float swatch = 3 * u, size = static_cast<float>(fills.size()) * swatch;
    const float w = size + u + style.width(words, style.small());
    if (x + w > l.area.right()) return;
    for (const viz::Color fill : fills) {
      const viz::Rect place{x, l.legend - u, swatch - 1, 2 * u};
      scene.add(viz::FillRect{place, fill});
      if (hatched) paint_hatching(scene, place, c.theme->hatch);
      x += swatch;
    }
    viz::add_muted(scene, style, words, {x + u, l.legend});
    x += w - size + 4 * u;
  };
  const viz::Color bars = c.theme->bar;
  entry("one token each", {bars, bars.with_alpha(200)}, false);
  if (told < draw.candidates.kept())
    entry("the others, each at most " + percent(draw.probability(draw.ids[told - (told > 0 ? 1 : 0)])),
          {others_color(c)}, false);
  if (draw.removes() && l.all.h > 0) entry("removed", {c.theme->raised}, true);
  if (draw.rank < told) entry("drawn", {c.theme->accent}, false);
}

const ListRows kRows{.role = kGuess, .first = kFirstRank, .names = "guesses", .keys = ListKeys::pages};

std::string logit_words(const Draw& draw, int id) {
  return viz::fixed_number(static_cast<double>(draw.next->logits[id]), 2);
}

/// The width of a column with this heading and a number as the footer writes it; 0 without fonts, which
/// tables do not need.
float least_width(const ViewContext& c, std::string_view heading, const std::string& number) {
  if (c.fonts == nullptr) return 0;
  const viz::Style style = style_of(c);
  return std::ceil(std::max(style.width(heading, style.small()),
                            style.width(number, style.small(), viz::FontStyle::medium)));
}

/// Adds a row for a drawn token that is not among the others.
void add_drawn(List& list, const ViewContext& c, const Draw& draw) {
  const std::vector<viz::TableColumn>& columns = list.filled().columns;
  const auto cell = [&](std::string_view heading, std::string text) {
    const auto found = std::ranges::find(columns, heading, &viz::TableColumn::heading);
    viz::FixedCell made = list.cell(static_cast<int>(found - columns.begin()), std::move(text));
    made.color = c.theme->accent;
    return made;
  };
  list.table.footer.push_back({cell("rank", grouped(draw.rank + 1)), cell("token", label_of(c, draw.drawn)),
                               cell("logit", logit_words(draw, draw.drawn)),
                               cell("probability", viz::fixed_number(draw.probability(draw.drawn), 4)),
                               cell("cumulative", "drawn")});
}

/// The tokens by descending probability; `rows` of them in a file.
List list_of(const ViewContext& c, Draw& draw, int rows) {
  const auto id = [&draw](int rank) { return draw.candidates.best(rank); };
  const auto probability = [&draw, id](int rank) { return draw.probability(id(rank)); };
  const auto share = [&draw, probability](int rank) { return probability(rank) / draw.candidates.mass(); };
  draw.cumulative.clear();
  for (double sum = 0; std::ssize(draw.cumulative) < rows;)
    draw.cumulative.push_back(sum += probability(static_cast<int>(draw.cumulative.size())));
  const auto high = static_cast<double>(static_cast<float>(draw.removes() ? share(0) : probability(0)));
  const double limit = std::min(1.0, viz::round_limit(high));
  const viz::Color muted = c.theme->text_muted;
  List list(c, kRows, row_count(draw));
  list.number("rank", 6, [](int rank) { return rank + 1; },
              {.file = key_column("rank"),
               .color = muted,
               .digits = 0,
               .least = least_width(c, "rank", grouped(adds_drawn(c, draw) ? draw.rank + 1 : 1))});
  list.file(note_column("id"), id);
  list.text("token", 9, [&c, id](int rank) { return label_of(c, id(rank)); }, {.file = note_column("token")});
  list.file(note_column("bytes"),
            [&c, id](int rank) { return bytes_as_hex(c.run->model->tokenizer->bytes(id(rank))); });
  const auto logit = [&draw, id](int rank) { return draw.next->logits[id(rank)]; };
  float logit_width = 0;  // logits descend, so that the ends are the widest
  for (const int rank : {0, list.table.rows - 1, adds_drawn(c, draw) ? draw.rank : 0})
    logit_width = std::max(logit_width, least_width(c, "logit", logit_words(draw, id(rank))));
  list.number("logit", 4, logit, {.file = "logit", .digits = 2, .least = logit_width});
  list.bar("probability", 8, probability,
           {.file = "probability",
            .digits = 4,
            .scientific = 0.001,
            .high = limit,
            .axis = true,
            .most = c.in_pane ? 40 * c.font_size : 0});
  const int probabilities = list.last();
  list.number("cumulative", 5, draw.cumulative, {.file = "cumulative", .digits = 4});
  list.text("removed by", 3, [&draw](int rank) { return std::string(removed_by(draw, rank)); },
            {.file = note_column("removed by"), .color = muted, .hidden = !draw.removes()});
  list.bar("drawn with", 7, share,
           {.file = "drawn with",
            .digits = 4,
            .scientific = 0.001,
            .high = limit,
            .axis = true,
            .hidden = !draw.removes(),
            .blank = [&draw](int rank) { return rank >= draw.candidates.kept(); }});
  list.file(note_column("is drawn"),
            [&draw](int rank) { return std::string(rank == draw.rank ? "yes" : ""); });
  list.table.marked = draw.rank < list.table.rows ? draw.rank : -1;
  list.table.footer = {{list.cell(1, "the rest"), list.cell(probabilities, "")}};
  for (viz::FixedCell& cell : list.table.footer.front()) cell.color = c.theme->text_muted;
  if (adds_drawn(c, draw)) add_drawn(list, c, draw);
  return list;
}

/// Whether the list continues in a second column: on pages and slides, which cannot be scrolled.
bool is_in_two(const ViewContext& c, const Draw& draw) {
  return c.printed && !draw.removes() && below_title(c).w >= 52 * c.font_size;
}
int first_half(int rows) {
  return (rows + 1) / 2;
}

/// The probability of all tokens after the last visible row.
void say_rest(List& list, const Draw& draw) {
  if (list.layout().rows.empty()) return;
  const double shown = static_cast<double>(static_cast<float>(draw.cumulative[list.layout().rows.back()]));
  list.table.footer.front().back().text = viz::fixed_number(std::max(0.0, 1 - shown), 4);
}

/// Draws the list in two columns, the second one with the rows at the bottom. Returns which guesses are
/// shown, for the subtitle, or nothing if there is no room for all columns of the table twice.
std::optional<std::string> paint_in_two(Picture& picture, const ViewContext& c, const Draw& draw, List& list,
                                        const viz::Rect& area) {
  const float gap = 2.5F * c.font_size, w = std::floor((area.w - gap) / 2);
  const viz::Rect left{area.x, area.y, w, area.h}, right{area.right() - w, area.y, w, area.h};
  list.table.selects = list.table.note_below = false;
  list.table.max_rows = first_half(list.table.rows);
  const bool fits = list.lay_out(right) && list.left_out("").empty();
  if (!fits) return std::nullopt;
  const int first = list.table.first;
  const auto rows_in_column = [&] { return static_cast<int>(list.layout().rows.size()); };
  const auto shown_in_both = [&] { return std::min(2 * rows_in_column(), list.table.rows - first); };
  if (draw.rank >= first + shown_in_both() && draw.rank < list.table.rows) {
    add_drawn(list, c, draw);
    list.lay_out(right);  // a row under the list may take the room of one in it
  }
  const int rows = rows_in_column(), shown = shown_in_both();
  std::vector<viz::FixedRow> footer = std::exchange(list.table.footer, {});
  list.table.max_rows = rows;
  list.lay_out(left);
  list.paint(picture);
  list.table.footer = std::move(footer);
  list.table.first = first + rows;
  list.lay_out(right);
  say_rest(list, draw);
  list.paint(picture);
  picture.rows = {first, list.table.rows};
  if (shown == list.table.rows) return "";
  return "guesses " + grouped(first + 1) + " to " + grouped(first + shown) + " of " +
         grouped(list.table.rows);
}

std::string title_of(const ViewContext& c) {
  return "What may follow “" + c.run->tokens.labels[c.selection.query] + "”";
}

Picture build(const ViewContext& c) {
  const auto next = current_next(c);
  if (auto words = waiting(c, NextAfter{c.chosen_query}, next != nullptr)) return *words;
  auto draw = draw_of(c);
  if (!draw) return message(c, "cannot sample a next token: " + next->not_finite);
  const Layout l = lay_out(c, draw->removes());
  List list = list_of(c, *draw, row_count(*draw));
  const bool has_table = list.lay_out(l.rows);
  if (!has_table && l.all.h <= 0 && l.kept.h <= 0) return too_small(c, "for the table");
  Picture picture = blank(c);
  const bool whole = picture.whole;
  if (l.all.h > 0 && l.kept.h > 0) paint_link(picture.scene, c, *draw, l);
  if (l.all.h > 0) paint_bar(picture, c, *draw, l.all, false);
  if (l.kept.h > 0) paint_bar(picture, c, *draw, l.kept, true);
  if (l.legend > 0) paint_legend(picture.scene, c, *draw, l);
  std::string note = list.note(", ");
  std::optional<std::string> shown;
  if (has_table && is_in_two(c, *draw)) {
    List both = list_of(c, *draw, row_count(*draw));
    shown = paint_in_two(picture, c, *draw, both, l.rows);
  }
  if (shown) {
    note = shown->empty() ? "" : ", " + *shown;
  } else if (has_table) {
    say_rest(list, *draw);
    list.paint(picture);
  }
  const bool bars = l.all.h > 0 || l.kept.h > 0;
  const std::string draws = bars ? "" : number_words(c, *draw);
  paint_title(picture, c, title_of(c),
              "position " + std::to_string(c.selection.query) + (draws.empty() ? "" : ", ") + draws + note);
  picture.whole = whole && has_table && (c.in_pane || (l.kept.h > 0) == draw->removes());
  if (!c.in_pane && l.all.h <= 0) picture.whole = false;
  return picture;
}

/// The token of a region; -1: several.
int token_of(const Draw& draw, const viz::Region& region) {
  if (region.role == kPart) return region.id;
  return region.id < std::ssize(draw.ids) ? draw.ids[region.id] : -1;
}

Table table(const ViewContext& c) {
  auto draw = draw_of(c);
  if (!draw) return {};
  Table result = list_of(c, *draw, draw->vocabulary()).exported(draw->vocabulary());
  add_token_facts(result, c.run->tokens, "position", draw->next->position);
  result.about("seed", c.options[kSeed]);
  result.fact("random number", draw->number);
  return result;
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto draw = draw_of(c);
  const int id = draw ? token_of(*draw, region_of(picture, hit)) : -1;
  return id < 0 ? ViewActions{} : continue_with(c, *draw->next, id);
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto draw = draw_of(c);
  const viz::Region& region = region_of(picture, hit);
  if (!draw) return {};
  const int id = token_of(*draw, region);
  Facts facts = facts_of_row(c, region.rect);
  if (id < 0) {
    facts.say("all less probable tokens");
    return facts;
  }
  const double probability = draw->probability(id);
  const auto rank = static_cast<int>(std::ranges::find(draw->ids, id) - draw->ids.begin());
  facts.say("guess " + grouped(rank + 1) + ":", Fact::Location::status);
  add_guess(facts, c, *draw->next, id, probability);
  const std::string_view by = removed_by(*draw, rank);
  facts.say(by.empty() ? "drawn with " + plain(probability / draw->candidates.mass())
                       : "removed by " + std::string(by));
  return facts;
}

/// Appends the drawn token.
ViewActions draw_one(const ViewContext& c, int) {
  const auto draw = c.run ? draw_of(c) : std::nullopt;
  if (!draw) return {};
  return continue_with(c, *draw->next, draw->drawn);
}

float whole_height(const ViewContext& c) {
  const viz::Style style = style_of(c);
  viz::Table table;
  table.footer.resize(1);
  table.rows = kDefaultRows;
  if (const auto draw = c.run ? draw_of(c) : std::nullopt) {
    table.rows = row_count(*draw);
    if (adds_drawn(c, *draw)) table.footer.resize(2);
    if (is_in_two(c, *draw)) table.rows = first_half(table.rows);
  }
  return below_title(c).y + 2 * (words_height(style) + bar_height_of(style) + 4 * style.unit()) +
         link_height(style) + legend_height(c) + viz::table_height(table, style) + margin(c) + 1;
}

}  // namespace sampling

View sampling_view() {
  using namespace sampling;
  View view = make_view(Group::output, "sampling", "Sampling",
                        "how the next token is sampled: temperature, top-k, top-p and the random number",
                        build, facts, table);
  view.options = {&kTemperature, &kTopK, &kTopP, &kSeed, &kFirstRank};
  view.commands = {{"g", "Draw", "Continue with the sampled token, replacing what follows the query",
                    draw_one, "The probabilities are being computed."}};
  add_list(view, kRows, click);
  view.whole_height = whole_height;
  view.caption = {true, false, true};
  view.landmarks = {landmark("line", kPart), landmark("guesses", kGuess)};
  return view;
}

}  // namespace headscope::app
