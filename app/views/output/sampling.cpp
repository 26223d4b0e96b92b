#include <algorithm>
#include <cmath>

#include "app/views/output/continuation.h"
#include "app/views/output/sampling_options.h"
#include "app/views/parts/declare.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/landmarks.h"
#include "app/views/parts/list.h"
#include "app/views/parts/selected.h"
#include "model/files/error.h"
#include "model/tokens/sampling.h"
#include "viz/charts/bars.h"
#include "viz/charts/share_bar.h"

namespace headscope::app {
namespace {

enum Role { kGuess, kPart };  // rows of the table, parts of the bars; Region::id: rank, token id

const auto kFirstRank = first_row_option("first-rank", "First row", "first row shown", true);

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

/// The step that removes the token with this rank; empty: it is kept.
std::string_view removed_by(const Draw& draw, int rank) {
  if (rank < draw.candidates.kept()) return "";
  return rank < draw.candidates.after_top_k() ? "top-p" : "top-k";
}

// ---- the bars ----

/// Kept tokens alternate between lighter and darker, so that neighbours are distinguishable.
viz::Color fill_of(const ViewContext& c, const Draw& draw, int rank) {
  if (rank == draw.rank) return c.theme->accent;
  if (rank >= draw.candidates.kept()) return c.theme->raised;
  return c.theme->bar.with_alpha(rank % 2 == 0 ? 255 : 200);
}

viz::ShareBar shares_of(const ViewContext& c, const Draw& draw, bool kept_alone) {
  viz::ShareBar bar;
  bar.role = kPart;
  bar.total = kept_alone ? draw.candidates.mass() : 1;
  const int count = std::min(static_cast<int>(draw.ids.size()), kMaxParts);
  const int shown = kept_alone ? std::min(draw.candidates.kept(), count) : count;
  double passed = 0;
  for (int rank = 0; rank < shown; ++rank) {
    const int id = draw.ids[rank];
    const bool removed = rank >= draw.candidates.kept();
    bar.shares.push_back({label_of(c, id), draw.probability(id), fill_of(c, draw, rank), removed, id});
    passed += draw.probability(id);
  }
  bar.rest = kept_alone || !draw.removes() ? c.theme->bar.with_alpha(70) : c.theme->raised;
  if (!kept_alone && shown < draw.vocabulary())
    bar.shares.push_back(
        {grouped(draw.vocabulary() - shown) + " others", 1 - passed, bar.rest, draw.removes(), -1});
  if (kept_alone || !draw.removes()) {
    bar.mark = draw.number * bar.total;
    bar.mark_color = c.theme->text;
  }
  return bar;
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
  const bool alone = l.area.h < two_rows + one;  // the draw is more important than a row or two
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
  const auto word = [&](const std::string& words, float x, viz::Color color, viz::Align align) {
    viz::add_label(picture.scene, style, words, {x, middle}, style.small(), color, viz::FontStyle::regular,
                   align, bar.w);
  };
  if (both || right.empty()) word(left, bar.x, c.theme->text_muted, viz::Align::left);
  if (!right.empty()) word(right, bar.right(), c.theme->text, viz::Align::right);
  viz::paint_share_bar(picture, shares, bar, style);
}

/// Links the kept part of the upper bar to the whole lower one.
void paint_link(viz::Scene& scene, const ViewContext& c, const Draw& draw, const Layout& l) {
  const float from = viz::share_x(viz::ShareBar(), l.all, draw.candidates.mass());
  const float top = l.all.bottom() + 2;
  const float bottom = top + 4 * style_of(c).unit();
  scene.add(viz::FillPolygon{{{l.all.x, top}, {from, top}, {l.kept.right(), bottom}, {l.kept.x, bottom}},
                             c.theme->accent.with_alpha(28)});
}

// ---- the table ----

const ListRows kRows{.role = kGuess, .first = kFirstRank, .names = "guesses", .keys = ListKeys::pages};

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
  list.number("rank", 6, [](int rank) { return rank + 1; }, {.file = "rank", .color = muted, .digits = 0});
  list.file("id", id);
  list.text("token", 9, [&c, id](int rank) { return label_of(c, id(rank)); }, {.file = "token"});
  list.file("bytes", [&c, id](int rank) { return bytes_as_hex(c.run->model->tokenizer->bytes(id(rank))); });
  list.number("logit", 4, [&draw, id](int rank) { return draw.next->logits[id(rank)]; },
              {.file = "logit", .digits = 2});
  list.bar("probability", 8, probability,
           {.file = "probability", .digits = 4, .scientific = 0.001, .high = limit, .axis = true});
  const int probabilities = list.last();
  list.number("cumulative", 5, draw.cumulative, {.file = "together", .digits = 4});
  list.text("removed by", 3, [&draw](int rank) { return std::string(removed_by(draw, rank)); },
            {.file = "removed by", .color = muted, .hidden = !draw.removes()});
  list.bar("drawn with", 7, share,
           {.file = "drawn with",
            .digits = 4,
            .scientific = 0.001,
            .high = limit,
            .axis = true,
            .hidden = !draw.removes(),
            .blank = [&draw](int rank) { return rank >= draw.candidates.kept(); }});
  list.file("is drawn", [&draw](int rank) { return std::string(rank == draw.rank ? "yes" : ""); });
  list.table.marked = draw.rank < list.table.rows ? draw.rank : -1;
  list.table.footer = {{list.cell(1, "the rest"), list.cell(probabilities, "")}};
  for (viz::FixedCell& cell : list.table.footer.front()) cell.color = c.theme->text_muted;
  return list;
}

std::string title_of(const ViewContext& c) {
  return "What may follow “" + c.run->tokens.labels[c.selection.query] + "”";
}

Picture build(const ViewContext& c) {
  const auto next = current_next(c);
  if (auto words = waiting(c, NextAfter{c.chosen_query}, next != nullptr)) return *words;
  auto draw = draw_of(c);
  if (!draw) return message(c, "cannot sample a next token: the run has " + next->not_finite);
  const Layout l = lay_out(c, draw->removes());
  List list = list_of(c, *draw, row_count(*draw));
  const bool has_table = list.lay_out(l.rows);
  if (!has_table && l.all.h <= 0 && l.kept.h <= 0) return too_small(c, "for the table");
  if (has_table) {  // tokens less probable than the last visible row
    const double shown = static_cast<double>(static_cast<float>(draw->cumulative[list.layout().rows.back()]));
    list.table.footer.front().back().text = viz::fixed_number(std::max(0.0, 1 - shown), 4);
  }
  Picture picture = blank(c);
  const bool bars = l.all.h > 0 || l.kept.h > 0;
  const std::string draws = bars ? "" : number_words(c, *draw);
  paint_title(picture, c, title_of(c),
              "position " + std::to_string(c.selection.query) + (draws.empty() ? "" : ", ") + draws +
                  list.note(", "));
  const bool whole = picture.whole;
  if (l.all.h > 0 && l.kept.h > 0) paint_link(picture.scene, c, *draw, l);
  if (l.all.h > 0) paint_bar(picture, c, *draw, l.all, false);
  if (l.kept.h > 0) paint_bar(picture, c, *draw, l.kept, true);
  if (has_table) list.paint(picture);
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
  return draw ? list_of(c, *draw, draw->vocabulary()).exported(draw->vocabulary()) : Table{};
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
  if (const auto draw = c.run ? draw_of(c) : std::nullopt) table.rows = row_count(*draw);
  return below_title(c).y + 2 * (words_height(style) + bar_height_of(style) + 4 * style.unit()) +
         link_height(style) + viz::table_height(table, style) + margin(c) + 1;
}

}  // namespace

View sampling_view() {
  View view = make_view(Group::output, "sampling", "Sampling",
                        "how the next token is sampled: temperature, top-k, top-p and the random number",
                        build, facts, table);
  view.options = {&kTemperature, &kTopK, &kTopP, &kSeed, &kFirstRank};
  view.commands = {{"g", "Draw", "Continue with the sampled token, replacing what follows the query",
                    draw_one, "The probabilities are being computed."}};
  add_list<kRows, click>(view);
  view.whole_height = whole_height;
  view.caption = {true, false, true};
  view.landmarks = {landmark<kPart>("line"), landmark<kGuess>("guesses")};
  return view;
}

}  // namespace headscope::app
