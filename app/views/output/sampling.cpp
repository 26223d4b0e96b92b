#include <algorithm>
#include <cmath>
#include <limits>

#include "app/run/analyses/attention_questions.h"
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/next_token.h"
#include "app/views/output/continuation.h"
#include "app/views/output/sampling_options.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/names.h"
#include "app/views/parts/navigation.h"
#include "app/views/parts/selected.h"
#include "app/views/parts/table_rows.h"
#include "app/views/view.h"
#include "model/files/error.h"
#include "model/tokens/sampling.h"
#include "viz/charts/bars.h"
#include "viz/charts/share_bar.h"
#include "viz/charts/table.h"
#include "viz/scene/colormap.h"

namespace headscope::app {
namespace {

enum Role { kGuess, kPart };  // rows of the table, parts of the bars; Region::id: rank, token id

const Option<int> kFirstRank =
    first_row_option("first-rank", "First row", "first row of the table that is shown", true);

// Rows of the figure's table, where nothing is removed and at most, and of the numbers in a file.
constexpr int kMostParts = 300;  // of the bars
constexpr int kUsualRows = 30, kMostRows = 500, kMostNumbers = 1000;

/// What may be drawn after a position, and what is.
struct Draw {
  std::shared_ptr<const NextToken> next;
  model::Candidates candidates;
  double number = 0;     ///< in [0, 1)
  int rank = 0;          ///< of the token that it draws
  int drawn = 0;         ///< its id
  std::vector<int> ids;  ///< the most probable tokens

  int vocabulary() const { return static_cast<int>(next->logits.size()); }
  bool removes() const { return candidates.kept() < vocabulary(); }
  double probability(int id) const { return candidates.probabilities()[static_cast<std::size_t>(id)]; }
};

NextAfter question_of(const ViewContext& c) {
  return {c.chosen_query};
}

/// Throws model::RunError where the logits are no numbers.
Draw draw_of(const ViewContext& c, std::shared_ptr<const NextToken> next) {
  Draw draw{next, model::Candidates(next->logits, sampling_of(c.options)), 0, 0, 0, {}};
  draw.number = model::RandomNumbers(seed_of(c.options), next->position + 1).next();
  draw.rank = draw.candidates.draw(draw.number);
  draw.drawn = draw.candidates.best(draw.rank);
  for (int rank = 0; rank < std::min(draw.vocabulary(), kMostNumbers); ++rank)
    draw.ids.push_back(draw.candidates.best(rank));
  return draw;
}

/// None while there are no logits, or where nothing can be drawn from them.
std::optional<Draw> draw_of(const ViewContext& c) {
  const auto next = current_next(c);
  if (!next) return std::nullopt;
  try {
    return draw_of(c, next);
  } catch (const model::RunError&) {
    return std::nullopt;
  }
}

/// Of the figure's table: all that is kept and a few that are not.
int row_count(const Draw& draw) {
  const int rows = draw.removes() ? std::min(draw.candidates.kept() + 10, kMostRows) : 0;
  return std::min(draw.vocabulary(), std::max(rows, kUsualRows));
}

/// Which step took a token of this rank; none: it is kept.
std::string_view removed_by(const Draw& draw, int rank) {
  if (rank < draw.candidates.kept()) return "";
  return rank < draw.candidates.after_top_k() ? "top-p" : "top-k";
}

// ---- the bars ----

/// Kept ones in turn lighter and darker, so that neighbours can be told apart.
viz::Color fill_of(const ViewContext& c, const Draw& draw, int rank) {
  if (rank == draw.rank) return c.theme->accent;
  if (rank >= draw.candidates.kept()) return c.theme->raised;
  return c.theme->accent.with_alpha(rank % 2 == 0 ? 110 : 70);
}

viz::ShareBar shares_of(const ViewContext& c, const Draw& draw, bool kept_alone) {
  viz::ShareBar bar;
  bar.role = kPart;
  bar.total = kept_alone ? draw.candidates.mass() : 1;
  const int count = std::min(static_cast<int>(draw.ids.size()), kMostParts);
  const int shown = kept_alone ? std::min(draw.candidates.kept(), count) : count;
  double passed = 0;
  for (int rank = 0; rank < shown; ++rank) {
    const int id = draw.ids[static_cast<std::size_t>(rank)];
    const bool removed = rank >= draw.candidates.kept();
    bar.shares.push_back({label_of(c, id), draw.probability(id), fill_of(c, draw, rank), removed, id});
    passed += draw.probability(id);
  }
  bar.rest = kept_alone || !draw.removes() ? c.theme->accent.with_alpha(40) : c.theme->raised;
  if (!kept_alone && shown < draw.vocabulary())
    bar.shares.push_back(
        {grouped(draw.vocabulary() - shown) + " others", 1 - passed, bar.rest, draw.removes(), -1});
  if (kept_alone || !draw.removes()) {
    bar.mark = draw.number * bar.total;
    bar.mark_color = c.theme->text;
  }
  return bar;
}

/// "0.6315 of seed 0 draws “·th”, guess 13 with 1.38 %"
std::string number_words(const ViewContext& c, const Draw& draw) {
  return viz::fixed_number(draw.number, 4) + " of seed " + std::to_string(c.options[kSeed]) + " draws “" +
         label_of(c, draw.drawn) + "”, guess " + grouped(draw.rank + 1) + " with " +
         percent(draw.probability(draw.drawn));
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

/// Room for one bar with its words above it, and where two are, the way between them.
struct Layout {
  viz::Rect area;
  viz::Rect all, kept;  ///< h == 0: no room, or nothing is removed
  viz::Rect rows;
};

float words_height(const viz::Style& style) {
  return style.line(style.small()) + 3 * style.unit();
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
  const bool alone = l.area.h < two_rows + one;  // then the draw is worth more than a row or two
  if (both || l.area.h >= one + two_rows || (alone && l.area.h >= one)) place(two ? l.kept : l.all);
  l.rows.y = y;
  l.rows.h = std::max(0.F, l.area.bottom() - y);
  return l;
}

void paint_bar(Picture& picture, const ViewContext& c, const Draw& draw, const viz::Rect& bar, bool kept) {
  const viz::Style style = style_of(c);
  const viz::ShareBar shares = shares_of(c, draw, kept);
  const float middle = bar.y - 3 * style.unit() - style.line(style.small()) / 2;
  const std::string left = kept ? kept_words(c, draw) : all_words(c, draw);
  const std::string right = shares.mark >= 0 ? number_words(c, draw) : "";
  const float left_w = style.width(left, style.small()), right_w = style.width(right, style.small());
  const bool both = left_w + right_w + 6 * style.unit() <= bar.w;
  if (both || right.empty())
    viz::add_label(picture.scene, style, left, {bar.x, middle}, style.small(), c.theme->text_muted,
                   viz::FontStyle::regular, viz::Align::left, bar.w);
  if (!right.empty())
    viz::add_label(picture.scene, style, right, {bar.right(), middle}, style.small(), c.theme->text,
                   viz::FontStyle::regular, viz::Align::right, bar.w);
  viz::paint_share_bar(picture, shares, bar, style);
}

/// What is kept of the upper bar becomes all of the lower one.
void paint_link(viz::Scene& scene, const ViewContext& c, const Draw& draw, const Layout& l) {
  const float from = viz::share_x(viz::ShareBar(), l.all, draw.candidates.mass());
  const float top = l.all.bottom() + 2;
  const float bottom = top + 4 * style_of(c).unit();
  scene.add(viz::FillPolygon{{{l.all.x, top}, {from, top}, {l.kept.right(), bottom}, {l.kept.x, bottom}},
                             c.theme->accent.with_alpha(28)});
}

// ---- the table ----

enum Column { kRank, kToken, kLogit, kProbability, kTogether, kRemoved, kDrawn };

/// What the table's columns refer to.
struct Rows {
  std::vector<std::string> tokens, removed;
  std::vector<float> ranks, logits, probabilities, together, drawn;
  std::vector<bool> gone;
};

Rows rows_of(const ViewContext& c, const Draw& draw) {
  Rows rows;
  double together = 0;
  for (int rank = 0; rank < row_count(draw); ++rank) {
    const int id = draw.ids[static_cast<std::size_t>(rank)];
    const double p = draw.probability(id);
    together += p;
    rows.ranks.push_back(static_cast<float>(rank + 1));
    rows.tokens.push_back(label_of(c, id));
    rows.logits.push_back(draw.next->logits[static_cast<std::size_t>(id)]);
    rows.probabilities.push_back(static_cast<float>(p));
    rows.together.push_back(static_cast<float>(together));
    rows.removed.emplace_back(removed_by(draw, rank));
    rows.gone.push_back(!rows.removed.back().empty());
    rows.drawn.push_back(static_cast<float>(p / draw.candidates.mass()));
  }
  return rows;
}

viz::Table table_of(const ViewContext& c, const Draw& draw, const Rows& rows) {
  viz::Table table;
  table.rows = row_count(draw);
  table.columns.resize(kDrawn + 1);
  const auto column = [&](Column which, viz::TableColumn::Kind kind, const char* heading,
                          int importance) -> viz::TableColumn& {
    viz::TableColumn& result = table.columns[which];
    result.kind = kind;
    result.heading = heading;
    result.heading_color = c.theme->text_muted;
    result.color = c.theme->text;
    result.importance = importance;
    return result;
  };
  using Kind = viz::TableColumn::Kind;
  const double high = viz::round_limit(
      static_cast<double>(std::max(rows.probabilities.front(), draw.removes() ? rows.drawn.front() : 0.F)));
  const auto bars = [&](Column which, const char* heading, const std::vector<float>& numbers,
                        viz::Color color, int importance) -> viz::TableColumn& {
    viz::TableColumn& result = column(which, Kind::bar, heading, importance);
    result.numbers = numbers;
    result.bar_color = color;
    result.decimals = 4;
    result.scientific_below = 0.001;
    result.high = std::min(1.0, high);
    result.axis = true;
    return result;
  };
  column(kRank, Kind::number, "rank", 6).numbers = rows.ranks;
  table.columns[kRank].color = c.theme->text_muted;
  table.columns[kRank].decimals = 0;
  viz::TableColumn& token = column(kToken, Kind::text, "token", 9);
  token.texts = rows.tokens;
  viz::TableColumn& logit = column(kLogit, Kind::number, "logit", 4);
  logit.numbers = rows.logits;
  logit.decimals = 2;
  bars(kProbability, "probability", rows.probabilities, c.theme->accent.with_alpha(110), 8);
  viz::TableColumn& together = column(kTogether, Kind::number, "cumulative", 5);
  together.numbers = rows.together;
  together.decimals = 4;
  viz::TableColumn& removed = column(kRemoved, Kind::text, "removed by", 3);
  removed.texts = rows.removed;
  removed.color = c.theme->text_muted;
  removed.hidden = !draw.removes();
  viz::TableColumn& drawn = bars(kDrawn, "drawn with", rows.drawn, c.theme->accent, 7);
  drawn.blank = rows.gone;
  drawn.hidden = !draw.removes();
  table.first = c.options[kFirstRank];
  table.marked = draw.rank < table.rows ? draw.rank : -1;
  table.mark = c.theme->accent;
  table.row_names = "guesses";
  table.first_number = 1;
  table.row_role = kGuess;
  table.footer.resize(1);
  return table;
}

/// What is less probable than the last row that shows.
viz::FixedRow rest_of(const ViewContext& c, const Rows& rows, int last) {
  const auto cell = [&](Column which, std::string text) {
    viz::FixedCell fixed;
    fixed.column = which;
    fixed.text = std::move(text);
    fixed.color = c.theme->text_muted;
    return fixed;
  };
  const double others = 1 - static_cast<double>(rows.together[static_cast<std::size_t>(last)]);
  return {cell(kToken, "the rest"), cell(kProbability, viz::fixed_number(std::max(0.0, others), 4))};
}

std::string title_of(const ViewContext& c) {
  return "What may follow “" + c.run->tokens.labels[static_cast<std::size_t>(c.selection.query)] + "”";
}

Picture build(const ViewContext& c) {
  const auto next = current_next(c);
  if (auto words = waiting(c, question_of(c), next != nullptr)) return *words;
  const auto draw = draw_of(c);
  if (!draw) return message(c, "no next token can be drawn: the run has " + next->not_finite);
  const viz::Style style = style_of(c);
  const Layout l = lay_out(c, draw->removes());
  const Rows rows = rows_of(c, *draw);
  viz::Table table = table_of(c, *draw, rows);
  const viz::TableLayout layout = viz::lay_out_table(table, l.rows, style);
  const bool has_table = layout.places.size() >= 2 && !layout.rows.empty();
  if (!has_table && l.all.h <= 0 && l.kept.h <= 0) return too_small(c, "for the table");
  if (has_table) table.footer = {rest_of(c, rows, layout.rows.back())};
  Picture picture = blank(c);
  const bool bars = l.all.h > 0 || l.kept.h > 0;
  const std::string draws = bars ? "" : number_words(c, *draw);
  paint_title(picture, c, title_of(c),
              "position " + std::to_string(c.selection.query) + (draws.empty() ? "" : ", ") + draws +
                  (layout.note.empty() ? "" : ", ") + layout.note);
  const bool whole = picture.whole;  // rows scroll, columns give way
  if (l.all.h > 0 && l.kept.h > 0) paint_link(picture.scene, c, *draw, l);
  if (l.all.h > 0) paint_bar(picture, c, *draw, l.all, false);
  if (l.kept.h > 0) paint_bar(picture, c, *draw, l.kept, true);
  if (has_table) viz::paint_table(picture, table, layout, style);
  picture.whole = whole && has_table && (c.in_pane || (l.kept.h > 0) == draw->removes());
  if (!c.in_pane && l.all.h <= 0) picture.whole = false;
  return picture;
}

/// The token that a region stands for; -1: several.
int token_of(const Draw& draw, const viz::Region& region) {
  if (region.role == kPart) return region.id;
  return region.id < std::ssize(draw.ids) ? draw.ids[static_cast<std::size_t>(region.id)] : -1;
}

Hover hover(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Hover result;
  const auto draw = draw_of(c);
  const viz::Region& region = region_of(picture, hit);
  if (!draw) return result;
  result.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->text, 1, 2});
  const int id = token_of(*draw, region);
  if (id < 0) {
    result.lines = {"all tokens that are less probable"};
    result.status = result.lines.front();
    return result;
  }
  result.lines = guess_lines(c, *draw->next, id, draw->probability(id));
  const auto rank = static_cast<int>(std::ranges::find(draw->ids, id) - draw->ids.begin());
  const std::string_view by = removed_by(*draw, rank);
  result.lines.push_back(by.empty() ? "drawn with " + plain(draw->probability(id) / draw->candidates.mass())
                                    : "removed by " + std::string(by));
  result.status = "guess " + grouped(rank + 1) + ": " + result.lines[0] + " " +
                  percent(draw->probability(id)) + ", " + result.lines.back();
  return result;
}

Table table(const ViewContext& c) {
  Table result;
  auto draw = draw_of(c);
  if (!draw) return result;
  result.header = {"rank",        "id",       "token",      "bytes",      "logit",
                   "probability", "together", "removed by", "drawn with", "is drawn"};
  double together = 0;
  for (int rank = 0; rank < draw->vocabulary(); ++rank) {
    const int id = draw->candidates.best(rank);
    const double p = draw->probability(id);
    const std::string_view by = removed_by(*draw, rank);
    together += p;
    result.rows.push_back({std::to_string(rank + 1), std::to_string(id), label_of(c, id),
                           bytes_as_hex(c.run->model->tokenizer->bytes(id)),
                           plain(draw->next->logits[static_cast<std::size_t>(id)]), plain(p), plain(together),
                           std::string(by), by.empty() ? plain(p / draw->candidates.mass()) : "",
                           rank == draw->rank ? "yes" : ""});
  }
  return result;
}

TableRows shown_rows(const ViewContext& c, const Picture& picture) {
  const auto draw = c.run ? draw_of(c) : std::nullopt;
  const int all = draw ? row_count(*draw) : 0;
  return table_rows_of(picture, kGuess, all, c.options[kFirstRank], kFirstRank);
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (!c.run) return {};
  switch (gesture.kind) {
    case Gesture::Kind::key:
      if (gesture.key == Key::page_up || gesture.key == Key::page_down)
        return shown_rows(c, picture).by_key(gesture.key).value_or(ViewActions{});
      return keys_along_prompt(c, gesture);
    case Gesture::Kind::wheel:
      return shown_rows(c, picture).by_wheel(gesture);
    case Gesture::Kind::click: {
      const auto draw = hit ? draw_of(c) : std::nullopt;
      if (!draw) return {};
      const int id = token_of(*draw, region_of(picture, *hit));
      if (id < 0) return {};
      return go_on(c, *draw->next, id);
    }
    default:
      return {};
  }
}

std::vector<MenuLine> menu(const ViewContext& c, const Picture& picture, const viz::Hit* hit) {
  const auto draw = hit ? draw_of(c) : std::nullopt;
  if (!draw) return {};
  const int id = token_of(*draw, region_of(picture, *hit));
  if (id < 0) return {};
  return guess_menu(c, *draw->next, id, draw->probability(id));
}

std::vector<Scroll> scrolls(const ViewContext& c, const Picture& picture) {
  return shown_rows(c, picture).bars(c.width - kScrollBar * c.font_size);
}

/// Takes the token that the number draws.
ViewActions draw_one(const ViewContext& c, int) {
  const auto draw = c.run ? draw_of(c) : std::nullopt;
  if (!draw) return {};
  return go_on(c, *draw->next, draw->drawn);
}

float whole_height(const ViewContext& c) {
  const viz::Style style = style_of(c);
  viz::Table table;
  table.footer.resize(1);
  table.rows = kUsualRows;
  if (const auto draw = c.run ? draw_of(c) : std::nullopt) table.rows = row_count(*draw);
  return below_title(c).y + 2 * (words_height(style) + bar_height_of(style) + 4 * style.unit()) +
         link_height(style) + viz::table_height(table, style) + margin(c) + 1;
}

}  // namespace

View sampling_view() {
  View view;
  view.id = "sampling";
  view.title = "Sampling";
  view.help = "how the next token is drawn: temperature, top-k, top-p, and the random number";
  view.group = Group::output;
  view.options = {&kTemperature, &kTopK, &kTopP, &kSeed, &kFirstRank};
  view.commands = {
      {"g", "Draw", "Go on with the token that is drawn, in place of what follows the query", draw_one}};
  view.on = on;
  view.menu = menu;
  view.scrolls = scrolls;
  view.build = build;
  view.hover = hover;
  view.table = table;
  view.whole_height = whole_height;
  view.caption = {true, false, true};
  return view;
}

}  // namespace headscope::app
