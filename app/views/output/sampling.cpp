#include "model/tokens/sampling.h"
#include "app/views/output/continuation.h"
#include "app/views/parts/parts.h"
#include "model/files/error.h"
#include "viz/scene/contrast.h"

namespace headscope::app::sampling {

enum Role { kGuess, kPart };  // rows of the table, parts of the bars; Region::id: rank, token id

const auto kFirstRank = first_row_option("first-rank", true);
constexpr int kMaxParts = 300;                    // maximum in a bar
constexpr int kDefaultRows = 30, kMaxRows = 500;  // of the picture's table; a file has all tokens

/// The candidates after a position, and the drawn one.
struct Draw {
  std::shared_ptr<const NextToken> next;
  model::Candidates candidates;
  double number = 0;                    ///< in [0, 1)
  int rank = 0;                         ///< rank of the drawn token
  int rows = 0;                         ///< of the picture's table: all kept tokens and a few others
  std::vector<int> ids = {};            ///< the most probable tokens, at least as many, and the drawn one
  std::vector<double> cumulative = {};  ///< their probabilities, summed up

  int vocabulary() const { return static_cast<int>(next->logits.size()); }
  bool removes() const { return candidates.kept() < vocabulary(); }
  double probability(int id) const { return candidates.probabilities()[id]; }
  double share(int id) const { return probability(id) / candidates.mass(); }
  void extend(int count) {
    for (int rank_of = static_cast<int>(ids.size()); rank_of < std::min(count, vocabulary()); ++rank_of) {
      ids.push_back(candidates.best(rank_of));
      cumulative.push_back(probability(ids.back()) + (cumulative.empty() ? 0 : cumulative.back()));
    }
  }
};

/// Nullopt if the logits are not finite.
std::optional<Draw> draw_of(const ViewContext& c, const std::shared_ptr<const NextToken>& next) {
  try {
    Draw draw{next, model::Candidates(next->logits, sampling_of(c.options))};
    draw.number = model::RandomNumbers(seed_of(c.options), next->position + 1).next();
    draw.rank = draw.candidates.draw(draw.number);
    const int kept = draw.removes() ? std::min(draw.candidates.kept() + 10, kMaxRows) : 0;
    draw.rows = std::min(draw.vocabulary(), std::max(kept, kDefaultRows));
    draw.extend(std::max({draw.rows, kMaxParts, draw.rank + 1}));
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

/// Kept tokens alternate between lighter and darker, so that neighbours are distinguishable.
viz::Color fill_of(const ViewContext& c, const Draw& draw, int rank) {
  if (rank == draw.rank) return c.theme->accent;
  return c.theme->bar.with_alpha(rank % 2 == 0 ? 255 : 200);
}

/// The x of a size measured from the bar's left.
float share_x(viz::Rect bar, double size, double total) {
  return bar.x + static_cast<float>(total > 0 ? std::clamp(size / total, 0.0, 1.0) : 0) * bar.w;
}

/// Draws the most probable tokens one by one, then the others that are kept, the removed ones' part is blank,
/// and the bar of those that are drawn from has a line where the number falls.
void paint_shares(Picture& picture, const ViewContext& c, const Draw& draw, bool kept_alone, viz::Rect bar) {
  viz::Scene& scene = picture.scene;
  const viz::Style style = style_of(c);
  const viz::Theme& theme = *c.theme;
  const float u = style.unit();
  const int kept = draw.candidates.kept();
  const double mass = draw.candidates.mass(), total = kept_alone ? mass : 1;
  const bool is_marked = kept_alone || !draw.removes();
  const float mark = is_marked ? share_x(bar, draw.number, 1) : bar.x - bar.w;
  double passed = 0;
  const auto add = [&](const std::string& label, double size, viz::Color fill, int id) {
    const float left = share_x(bar, passed, total);
    passed += size;
    const viz::Rect part{left, bar.y, share_x(bar, passed, total) - left, bar.h};
    if (part.w < kLeastShare) return;
    scene.add(viz::FillRect{part, fill});
    if (left > bar.x) scene.add(viz::FillRect{{part.x, part.y, 1, part.h}, theme.surface});
    viz::Rect room = part;  // for the label: the larger side of a mark that would strike it through
    if (std::abs(mark - part.center().x) <= style.width(label, style.small()) / 2 + u) {
      const float before = mark - part.x, after = part.right() - mark;
      room =
          before > after ? viz::Rect{part.x, part.y, before, part.h} : viz::Rect{mark, part.y, after, part.h};
    }
    viz::add_whole_label(scene, style, label, room.center(), room.w - 2 * u,
                         viz::text_on(theme, viz::blended(theme.surface, fill)), viz::FontStyle::regular,
                         viz::Align::center);
    if (id >= 0 && part.w >= kLeastRegion) picture.regions.push_back({kPart, id, part});
  };
  int told = 0;  // tokens that are told apart
  for (const int id : std::span(draw.ids).first(std::min(draw.ids.size(), static_cast<std::size_t>(kept)))) {
    if (draw.probability(id) / total * static_cast<double>(bar.w) < kLeastShare) break;
    add(label_of(c, id), draw.probability(id), fill_of(c, draw, told++), id);
  }
  if (told < kept) add(grouped(kept - told) + " others", mass - passed, theme.bar.with_alpha(kOthers), -1);
  scene.add(viz::StrokeRect{bar, theme.line, 1, 2});
  if (!is_marked) return;
  scene.add(viz::FillRect{{mark - 0.75F, bar.y, 1.5F, bar.h + u}, theme.text});
  scene.add(viz::FillPolygon{
      {{mark - 1.5F * u, bar.y - 2.5F * u}, {mark + 1.5F * u, bar.y - 2.5F * u}, {mark, bar.y}}, theme.text});
}

/// "seed 0 gives 0.6315: “·th” (rank 13, 1.38 %)"
std::string number_words(const ViewContext& c, const Draw& draw) {
  return "seed " + std::to_string(c.options[kSeed]) + " gives " + viz::fixed_number(draw.number, 4) + ": “" +
         label_of(c, draw.ids[draw.rank]) + "” (rank " + grouped(draw.rank + 1) + ", " +
         percent(draw.probability(draw.ids[draw.rank])) + ")";
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

/// A bar of all tokens or, if some are removed, of those that are kept, with its words above. The kept part
/// of the former is the whole latter, which stands below it.
BoxPtr bar_of(const Draw& draw, bool kept) {
  constexpr float kWords = 2.3F, kBar = 2;  // ems: words and pointer above a bar
  const bool is_linked = draw.removes() && !kept;
  const float all = kWords + kBar + (is_linked ? 1 : 0.3F);
  const auto paint = [&draw, kept, is_linked](Picture& picture, const ViewContext& c, viz::Rect area) {
    const viz::Style style = style_of(c);
    const viz::Rect bar{area.x, area.y + kWords * c.font_size, area.w, kBar * c.font_size};
    const float middle = area.y + style.line(style.small()) / 2;
    const std::string left = kept ? kept_words(c, draw) : all_words(c, draw);
    const std::string right = is_linked ? "" : number_words(c, draw);
    const float gap = right.empty() ? 0 : 6 * style.unit() + style.width(right, style.small());
    viz::add_whole_label(picture.scene, style, left, {bar.x, middle}, bar.w - gap, c.theme->text_muted);
    viz::add_label(picture.scene, style, right, {bar.right(), middle}, style.small(), c.theme->text,
                   viz::FontStyle::regular, viz::Align::right, bar.w);
    paint_shares(picture, c, draw, kept, bar);
    if (!is_linked) return;
    const float top = bar.bottom() + 2;
    picture.scene.add(viz::FillPolygon{{{bar.x, top},
                                        {share_x(bar, draw.candidates.mass(), 1), top},
                                        {bar.right(), area.bottom()},
                                        {bar.x, area.bottom()}},
                                       c.theme->accent.with_alpha(28)});
  };
  const auto token_of = [](const viz::Region& part, int, int) { return Ref{.token = part.id}; };
  return custom({12, 60}, {all, all, all}, paint, {.role = kPart, .refers_to = token_of});
}

const ListRows kRows{.role = kGuess, .first = kFirstRank, .names = "guesses", .keys = ListKeys::pages};

/// The tokens by descending probability.
std::unique_ptr<List> list_of(const ViewContext& c, const Draw& draw) {
  enum { kRank, kToken, kLogit, kProbability, kCumulative };
  const auto id = [&draw](int rank) { return draw.ids[rank]; };
  const auto logit = [&draw, id](int rank) { return draw.next->logits[id(rank)]; };
  const auto probability = [&draw, id](int rank) { return draw.probability(id(rank)); };
  const auto share = [&draw, id](int rank) { return draw.share(id(rank)); };
  const auto high = static_cast<double>(static_cast<float>(share(0)));
  const double limit = std::min(1.0, viz::round_limit(high));
  const float widest = 3 * c.font_size;  // also of the drawn token's rank and logit
  const viz::Color muted = c.theme->text_muted;
  auto made = std::make_unique<List>(c, kRows, draw.rows);
  List& list = *made;
  list.refers_to = [id](int rank) { return Ref{.token = id(rank)}; };
  list.number("rank", 6, [](int rank) { return rank + 1; },
              {.file = key_column("rank"), .color = muted, .digits = 0, .least = widest});
  list.file(note_column("id"), id);
  list.text("token", 9, [&c, id](int rank) { return label_of(c, id(rank)); }, {.file = note_column("token")});
  list.file(note_column("bytes"),
            [&c, id](int rank) { return bytes_as_hex(c.run->model->tokenizer->bytes(id(rank))); });
  list.number("logit", 4, logit, {.file = "logit", .digits = 2, .least = widest, .tip = false});
  list.bar("probability", 8, probability,
           {.file = "probability",
            .digits = 4,
            .scientific = 0.001,
            .high = limit,
            .axis = true,
            .most = 40 * c.font_size,
            .tip = false});
  const auto as_shown = [](double p) { return viz::fixed_number(p, 4); };
  if (draw.rows < draw.vocabulary())
    list.add_footer(grouped(draw.vocabulary() - draw.rows) + " others",
                    as_shown(1 - draw.cumulative[draw.rows - 1]), muted);
  list.number("cumulative", 5, draw.cumulative, {.file = "cumulative", .digits = 4});
  list.text("removed by", 3, [&draw](int rank) { return std::string(removed_by(draw, rank)); },
            {.file = note_column("removed by"), .color = muted, .hidden = !draw.removes()});
  list.bar("drawn with", 7, share,
           {.file = "drawn with",
            .digits = 4,
            .scientific = 0.001,
            .high = limit,
            .axis = true,
            .most = 40 * c.font_size,
            .hidden = !draw.removes(),
            .tip = false,
            .blank = [&draw](int rank) { return rank >= draw.candidates.kept(); }});
  list.file(note_column("is drawn"),
            [&draw](int rank) { return std::string(rank == draw.rank ? "yes" : ""); });
  list.table.marked = draw.rank < draw.rows ? draw.rank : -1;
  if (draw.rank >= draw.rows) {
    viz::FixedRow& drawn = list.table.footer.emplace_back();
    drawn = {list.cell(kRank, grouped(draw.rank + 1)), list.cell(kToken, label_of(c, id(draw.rank))),
             list.cell(kLogit, viz::fixed_number(static_cast<double>(logit(draw.rank)), 2)),
             list.cell(kProbability, as_shown(probability(draw.rank))), list.cell(kCumulative, "drawn")};
    for (viz::FixedCell& cell : drawn) cell.color = c.theme->accent;
  }
  return made;
}

/// All tokens.
Table table(const ViewContext& c, Draw draw) {
  draw.extend(draw.vocabulary());
  Table result = list_of(c, draw)->exported(draw.vocabulary());
  add_token_facts(result, c.run->tokens, "position", draw.next->position);
  result.about("seed", c.options[kSeed]);
  result.fact("random number", draw.number);
  return result;
}

void say_token(Facts& facts, const ViewContext& c, const Draw& draw, int id) {
  const auto rank = static_cast<int>(std::ranges::find(draw.ids, id) - draw.ids.begin());
  facts.value("rank", grouped(rank + 1), Fact::Location::status);
  add_guess(facts, c, *draw.next, id, draw.probability(id));
  if (const std::string_view by = removed_by(draw, rank); !by.empty())
    facts.say("removed by " + std::string(by));
  else if (draw.removes())
    facts.say(percent(draw.share(id)) + " of what is kept");
}

/// Appends the drawn token.
ViewActions draw_one(const ViewContext& c, int) {
  const auto next = current_next(c);
  const auto draw = c.run && next ? draw_of(c, next) : std::nullopt;
  return draw ? continue_with(c, *next, draw->ids[draw->rank]) : ViewActions{};
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
  BoxPtr all;  // of all tokens
  if (draw.removes()) all = may_be_left_out(bar_of(draw, false), "the bar of all tokens");
  it.body = rows(boxes(std::move(all), bar_of(draw, draw.removes()),
                       notes({"each part: a token; pale: all less probable ones; " +
                              std::string(draw.removes() ? "blank: removed; " : "") + "highlighted: drawn"}),
                       may_be_left_out(list_of(c, draw), "the table", 2)));
}

View view() {
  View view = make_view("sampling", "Sampling", declare,
                        "how the next token is sampled: temperature, top-k, top-p and the random number");
  view.options = {&kTemperature, &kTopK, &kTopP, &kSeed, &kFirstRank};
  view.commands = {
      {"g", "Draw", "Continue with the sampled token, replacing what follows the query", draw_one}};
  view.landmarks = {landmark("line", kPart)};
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::sampling
