#include "model/tokens/sampling.h"
#include "app/views/output/continuation.h"
#include "app/views/parts/parts.h"
#include "model/files/error.h"
#include "viz/scene/contrast.h"

namespace headscope::app {
namespace sampling {

enum Role { kGuess, kPart };  // rows of the table, parts of the bars; Region::id: rank, token id

const auto kFirstRank = first_row_option("first-rank", true);
constexpr int kMaxParts = 300;                    // maximum in a bar
constexpr int kDefaultRows = 30, kMaxRows = 500;  // of the picture's table; a file has all tokens

/// The candidates after a position, and the drawn one.
struct Draw {
  std::shared_ptr<const NextToken> next;
  model::Candidates candidates;
  double number = 0;     ///< in [0, 1)
  int rank = 0;          ///< rank of the drawn token
  int drawn = 0;         ///< its id
  int rows = 0;          ///< of the picture's table: all kept tokens and a few others
  std::vector<int> ids;  ///< the most probable tokens, at least as many

  int vocabulary() const { return static_cast<int>(next->logits.size()); }
  bool removes() const { return candidates.kept() < vocabulary(); }
  double probability(int id) const { return candidates.probabilities()[id]; }
};

/// Nullopt if the logits are not finite.
std::optional<Draw> draw_of(const ViewContext& c, const std::shared_ptr<const NextToken>& next) {
  try {
    Draw draw{next, model::Candidates(next->logits, sampling_of(c.options)), 0, 0, 0, 0, {}};
    draw.number = model::RandomNumbers(seed_of(c.options), next->position + 1).next();
    draw.rank = draw.candidates.draw(draw.number);
    draw.drawn = draw.candidates.best(draw.rank);
    const int kept = draw.removes() ? std::min(draw.candidates.kept() + 10, kMaxRows) : 0;
    draw.rows = std::min(draw.vocabulary(), std::max(kept, kDefaultRows));
    for (int rank = 0; rank < std::min(draw.vocabulary(), std::max(draw.rows, kMaxParts)); ++rank)
      draw.ids.push_back(draw.candidates.best(rank));
    return draw;
  } catch (const model::RunError&) {
    return std::nullopt;
  }
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

viz::Color others_color(const ViewContext& c) {
  return c.theme->bar.with_alpha(kOthers);
}

/// Kept tokens alternate between lighter and darker, so that neighbours are distinguishable.
viz::Color fill_of(const ViewContext& c, const Draw& draw, int rank) {
  if (rank == draw.rank) return c.theme->accent;
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

/// The x of a size measured from the bar's left.
float share_x(viz::Rect bar, double size, double total) {
  return bar.x + static_cast<float>(total > 0 ? std::clamp(size / total, 0.0, 1.0) : 0) * bar.w;
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

/// Draws the most probable tokens one by one, then the others that are kept, then those that are removed, and
/// in the bar of those that are drawn from a triangle where the number falls.
void paint_shares(Picture& picture, const ViewContext& c, const Draw& draw, bool kept_alone, viz::Rect bar) {
  viz::Scene& scene = picture.scene;
  const viz::Style style = style_of(c);
  const viz::Theme& theme = *c.theme;
  const float u = style.unit();
  const int kept = draw.candidates.kept();
  const double mass = draw.candidates.mass(), total = kept_alone ? mass : 1;
  const int told = told_apart(draw, total, bar.w), shown = kept_alone ? std::min(kept, told) : told;
  scene.add(viz::FillRect{bar, others_color(c), 2});
  double passed = 0;
  const auto add = [&](const std::string& label, double size, std::optional<viz::Color> fill, int id) {
    const float left = share_x(bar, passed, total);
    passed += size;
    const viz::Rect part{left, bar.y, share_x(bar, passed, total) - left, bar.h};
    if (part.w < kLeastShare) return;
    if (fill) scene.add(viz::FillRect{part, *fill});
    if (left > bar.x) scene.add(viz::FillRect{{part.x, part.y, 1, part.h}, theme.surface});
    viz::add_whole_label(scene, style, label, part.center(), part.w - 2 * u,
                         viz::text_on(theme, viz::blended(theme.surface, fill.value_or(others_color(c)))),
                         viz::FontStyle::regular, viz::Align::center);
    if (id >= 0 && part.w >= kLeastRegion) picture.regions.push_back({kPart, id, part});
  };
  for (int rank = 0; rank < std::min(shown, kept); ++rank)
    add(label_of(c, draw.ids[rank]), draw.probability(draw.ids[rank]), fill_of(c, draw, rank),
        draw.ids[rank]);
  if (shown < kept) add(grouped(kept - shown) + " others", mass - passed, std::nullopt, -1);
  if (!kept_alone && draw.removes()) {
    const float end = share_x(bar, mass, total);
    const viz::Rect removed{end, bar.y, bar.right() - end, bar.h};
    scene.add(viz::FillRect{removed, theme.raised});
    paint_hatching(scene, removed, theme.hatch);
  }
  scene.add(viz::StrokeRect{bar, theme.line, 1, 2});
  if (!kept_alone && draw.removes()) return;
  const float mark = share_x(bar, draw.number, 1);
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

constexpr float kWords = 2.3F, kBar = 2, kGap = 1;  // ems: words and pointer above a bar, and below it
constexpr float kOneBar = kWords + kBar + kGap;

void paint_bar(Picture& picture, const ViewContext& c, const Draw& draw, const viz::Rect& bar, bool kept) {
  const viz::Style style = style_of(c);
  const bool is_drawn_from = kept || !draw.removes();
  const float middle = bar.y - kWords * c.font_size + style.line(style.small()) / 2;
  const std::string left = kept ? kept_words(c, draw) : all_words(c, draw);
  const std::string right = is_drawn_from ? number_words(c, draw) : "";
  const float gap = right.empty() ? 0 : 6 * style.unit() + style.width(right, style.small());
  viz::add_whole_label(picture.scene, style, left, {bar.x, middle}, bar.w - gap, c.theme->text_muted);
  if (!right.empty())
    viz::add_label(picture.scene, style, right, {bar.right(), middle}, style.small(), c.theme->text,
                   viz::FontStyle::regular, viz::Align::right, bar.w);
  paint_shares(picture, c, draw, kept, bar);
}

/// All tokens in a bar, and below it those that are kept, if some are removed and there is room.
void paint_bars(Picture& picture, const ViewContext& c, const Draw& draw, const viz::Rect& area) {
  const float em = c.font_size;
  const auto bar = [&](int number) {
    return viz::Rect{area.x, area.y + (static_cast<float>(number) * kOneBar + kWords) * em, area.w,
                     kBar * em};
  };
  if (!draw.removes() || area.h < (2 * kOneBar - kGap) * em) {
    if (draw.removes() && !c.in_pane) picture.whole = false;
    paint_bar(picture, c, draw, bar(0), draw.removes());
    return;
  }
  // The kept part of the upper bar is the whole lower one.
  const viz::Rect all = bar(0), kept = bar(1);
  const float top = all.bottom() + 2, bottom = all.bottom() + kGap * em - 2;
  picture.scene.add(viz::FillPolygon{{{all.x, top},
                                      {share_x(all, draw.candidates.mass(), 1), top},
                                      {kept.right(), bottom},
                                      {kept.x, bottom}},
                                     c.theme->accent.with_alpha(28)});
  paint_bar(picture, c, draw, all, false);
  paint_bar(picture, c, draw, kept, true);
}

const ListRows kRows{.role = kGuess, .first = kFirstRank, .names = "guesses", .keys = ListKeys::pages};

std::vector<double> cumulative_of(const Draw& draw) {
  std::vector<double> sums;
  double sum = 0;
  for (const int id : draw.ids) sums.push_back(sum += draw.probability(id));
  return sums;
}

/// The tokens by descending probability.
std::unique_ptr<List> list_of(const ViewContext& c, const Draw& draw, const std::vector<double>& cumulative) {
  const auto id = [&draw](int rank) { return draw.ids[rank]; };
  const auto probability = [&draw, id](int rank) { return draw.probability(id(rank)); };
  const auto share = [&draw, probability](int rank) { return probability(rank) / draw.candidates.mass(); };
  const auto high = static_cast<double>(static_cast<float>(draw.removes() ? share(0) : probability(0)));
  const double limit = std::min(1.0, viz::round_limit(high));
  const viz::Color muted = c.theme->text_muted;
  auto made = std::make_unique<List>(c, kRows, draw.rows);
  List& list = *made;
  list.refers_to = [id](int rank) { return Ref{.token = id(rank)}; };
  list.number("rank", 6, [](int rank) { return rank + 1; },
              {.file = key_column("rank"), .color = muted, .digits = 0});
  list.file(note_column("id"), id);
  list.text("token", 9, [&c, id](int rank) { return label_of(c, id(rank)); }, {.file = note_column("token")});
  list.file(note_column("bytes"),
            [&c, id](int rank) { return bytes_as_hex(c.run->model->tokenizer->bytes(id(rank))); });
  list.number("logit", 4, [&draw, id](int rank) { return draw.next->logits[id(rank)]; },
              {.file = "logit", .digits = 2, .tip = false});
  list.bar(
      "probability", 8, probability,
      {.file = "probability", .digits = 4, .scientific = 0.001, .high = limit, .axis = true, .tip = false});
  list.number("cumulative", 5, cumulative, {.file = "cumulative", .digits = 4});
  list.text("removed by", 3, [&draw](int rank) { return std::string(removed_by(draw, rank)); },
            {.file = note_column("removed by"), .color = muted, .hidden = !draw.removes()});
  list.bar("drawn with", 7, share,
           {.file = "drawn with",
            .digits = 4,
            .scientific = 0.001,
            .high = limit,
            .axis = true,
            .hidden = !draw.removes(),
            .tip = false,
            .blank = [&draw](int rank) { return rank >= draw.candidates.kept(); }});
  list.file(note_column("is drawn"),
            [&draw](int rank) { return std::string(rank == draw.rank ? "yes" : ""); });
  list.table.marked = draw.rank < list.table.rows ? draw.rank : -1;
  return made;
}

/// All tokens.
Table table(const ViewContext& c, Draw draw) {
  for (int rank = static_cast<int>(draw.ids.size()); rank < draw.vocabulary(); ++rank)
    draw.ids.push_back(draw.candidates.best(rank));
  const std::vector<double> cumulative = cumulative_of(draw);
  Table result = list_of(c, draw, cumulative)->exported(draw.vocabulary());
  add_token_facts(result, c.run->tokens, "position", draw.next->position);
  result.about("seed", c.options[kSeed]);
  result.fact("random number", draw.number);
  return result;
}

void say_token(Facts& facts, const ViewContext& c, const Draw& draw, int id) {
  const auto rank = static_cast<int>(std::ranges::find(draw.ids, id) - draw.ids.begin());
  const double probability = draw.probability(id);
  facts.say("guess " + grouped(rank + 1), Fact::Location::status);
  add_guess(facts, c, *draw.next, id, probability);
  const std::string_view by = removed_by(draw, rank);
  facts.say(by.empty() ? "drawn with " + plain(probability / draw.candidates.mass())
                       : "removed by " + std::string(by));
}

/// Appends the drawn token.
ViewActions draw_one(const ViewContext& c, int) {
  const auto next = current_next(c);
  const auto draw = c.run && next ? draw_of(c, next) : std::nullopt;
  return draw ? continue_with(c, *next, draw->drawn) : ViewActions{};
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto next = it.need(NextAfter{c.chosen_query});
  if (!next) return;
  auto made = draw_of(c, next);
  if (!made) {
    it.message = "cannot sample a next token: " + next->not_finite;
    return;
  }
  const Draw& draw = it.keep(*std::move(made));
  it.title = "What may follow “" + c.run->tokens.labels[c.selection.query] + "”";
  it.subtitle = "position " + std::to_string(c.selection.query);
  it.table = [&] { return table(c, draw); };
  it.place_facts = [&](Facts& facts, const Ref& ref) { say_token(facts, c, draw, ref.token); };
  it.choose = [&](const ViewContext& now, const Ref& ref) {
    return continue_with(now, *draw.next, ref.token);
  };
  const float bars = draw.removes() ? 2 * kOneBar : kOneBar;
  auto shares = custom({12, 60}, {kOneBar, bars, bars},
                       [&](Picture& picture, const ViewContext& page, viz::Rect area) {
                         paint_bars(picture, page, draw, area);
                       },
                       {.role = kPart, .refers_to = [](const viz::Region& region, int, int) {
                          return Ref{.token = region.id};
                        }});
  it.body =
      rows(boxes(std::move(shares),
                 notes({"each part: a token; pale: all less probable ones; " +
                        std::string(draw.removes() ? "hatched: removed; " : "") + "highlighted: drawn"}),
                 may_be_left_out(list_of(c, draw, it.keep(cumulative_of(draw))), "the table")));
}

}  // namespace sampling

View sampling_view() {
  using namespace sampling;
  View view =
      make_view(Group::output, "sampling", "Sampling",
                "how the next token is sampled: temperature, top-k, top-p and the random number", declare);
  view.options = {&kTemperature, &kTopK, &kTopP, &kSeed, &kFirstRank};
  view.commands = {{"g", "Draw", "Continue with the sampled token, replacing what follows the query",
                    draw_one, "The probabilities are being computed."}};
  view.has_list = true;
  view.caption = {true, false, true};
  view.landmarks = {landmark("line", kPart), landmark("guesses", kGuess)};
  return view;
}

}  // namespace headscope::app
