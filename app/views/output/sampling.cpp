#include "model/tokens/sampling.h"
#include "app/views/output/continuation.h"
#include "app/views/parts/parts.h"

namespace headscope::app::sampling {

enum Role { kGuess, kPart };  // rows of the table, parts of the bar; Region::id: rank, token id

constexpr int kDefaultRows = 30, kMaxRows = 500;  // of the picture's table, and its bar; a file has all

/// The candidates after a position, and the drawn one.
struct Draw {
  std::shared_ptr<const NextToken> next;
  model::Candidates candidates;
  double number = 0;                    ///< in [0, 1)
  int rank = 0;                         ///< rank of the drawn token
  int rows = 0;                         ///< of the table: all kept tokens and a few others
  std::vector<int> ids = {};            ///< the most probable tokens, at least as many, and the drawn one
  std::vector<double> cumulative = {};  ///< their probabilities, summed up

  int vocabulary() const { return static_cast<int>(next->logits.size()); }
  bool removes() const { return candidates.kept() < vocabulary(); }
  double probability(int id) const { return candidates.probabilities()[id]; }
  double share(int id) const { return probability(id) / candidates.mass(); }
  /// The probability of all tokens before a rank.
  double before(int rank_of) const { return rank_of == 0 ? 0 : cumulative[rank_of - 1]; }
};

/// The logits must be finite. With at least so many rows.
Draw draw_of(const ViewContext& c, const std::shared_ptr<const NextToken>& next, int rows = kDefaultRows) {
  Draw draw{next, model::Candidates(next->logits, sampling_of(c.options))};
  draw.number = model::RandomNumbers(seed_of(c.options), next->position + 1).next();
  draw.rank = draw.candidates.draw(draw.number);
  const int kept = draw.removes() ? std::min(draw.candidates.kept() + 10, kMaxRows) : 0;
  draw.rows = std::min(draw.vocabulary(), std::max(kept, rows));
  const int known = std::min(draw.vocabulary(), std::max({draw.rows, draw.rank + 1, kMaxRows}));
  for (int rank = 0; rank < known; ++rank) {
    draw.ids.push_back(draw.candidates.best(rank));
    draw.cumulative.push_back(draw.before(rank) + draw.probability(draw.ids.back()));
  }
  return draw;
}

/// The step that removes the token with this rank; empty: it is kept.
std::string_view removed_by(const Draw& draw, int rank) {
  if (rank < draw.candidates.kept()) return "";
  return rank < draw.candidates.after_top_k() ? "top-p" : "top-k";
}

/// All tokens, the most probable first: the kept ones one by one, as far as they can be told apart, then
/// together; what is removed is blank. An arrow points at where the number falls among the kept ones.
void paint_bar(Picture& picture, const ViewContext& c, const Draw& draw, viz::Rect bar) {
  constexpr float kArrow = 0.8F, kLeastPart = 2;  // ems, logical pixels
  viz::Scene& scene = picture.scene;
  const viz::Theme& theme = *c.theme;
  const float arrow = kArrow * c.font_size, unit = style_of(c).unit();
  bar.y += arrow, bar.h -= arrow;
  const auto x_of = [&bar](double part) { return bar.x + static_cast<float>(part) * bar.w; };
  const auto add = [&](const std::string& label, double from, double to, viz::Color color) {
    const viz::Color fill = viz::blended(theme.surface, color);
    const viz::Rect part{x_of(from), bar.y, x_of(to) - x_of(from), bar.h};
    scene.add(viz::FillRect{part, fill});
    viz::add_whole_label(scene, style_of(c), label, part.center(), part.w - 2 * unit, text_on(c, fill),
                         viz::FontStyle::regular, viz::Align::center);
    return part;
  };
  const int kept = draw.candidates.kept(), listed = std::min(kept, static_cast<int>(draw.ids.size()));
  int rank = 0;
  for (; rank < listed; ++rank) {
    const double from = draw.before(rank), to = draw.cumulative[rank];
    if (static_cast<float>(to - from) * bar.w < kLeastPart) break;
    // Neighbours alternate, so that they are distinguishable.
    const viz::Color color = rank == draw.rank ? theme.accent : theme.bar.with_alpha(rank % 2 ? 200 : 255);
    const int id = draw.ids[rank];
    picture.regions.push_back({kPart, id, add(label_of(c, id), from, to, color)});
  }
  const double mass = draw.candidates.mass();
  if (rank < kept) add(grouped(kept - rank) + " others", draw.before(rank), mass, theme.bar.with_alpha(70));
  scene.add(viz::StrokeRect{bar, theme.line, 1, 2});
  const float mark = x_of(draw.number * mass);
  scene.add(viz::FillPolygon{
      {{mark - arrow / 2, bar.y - arrow}, {mark + arrow / 2, bar.y - arrow}, {mark, bar.y}}, theme.text});
}

/// What is drawn, "seed 0 gives 0.6315: “·th” (rank 13, 1.38 %)", and of which distribution.
std::vector<std::string> notes_of(const ViewContext& c, const Draw& draw) {
  const model::Candidates& of = draw.candidates;
  const int drawn = draw.ids[draw.rank];
  std::string all = "softmax of logits";
  if (c.options[kTemperature] != 1) all += " / " + to_text(kTemperature, c.options[kTemperature]);
  all += ", " + grouped(draw.vocabulary()) + " tokens";
  if (draw.removes())
    all += "; " + grouped(of.kept()) + " kept, with " + percent(of.mass()) + " of the probability";
  return {"seed " + std::to_string(c.options[kSeed]) + " gives " + viz::fixed_number(draw.number, 4) +
              (draw.removes() ? " of what is kept: “" : ": “") + label_of(c, drawn) + "” (rank " +
              grouped(draw.rank + 1) + ", " + percent(draw.probability(drawn)) + ")",
          all};
}

const ListRows kRows{kGuess, first_row_option("first-rank", true), "guesses", ListKeys::pages};

/// The tokens by descending probability, and the drawn one if it is not among them.
std::unique_ptr<List> list_of(const ViewContext& c, const Draw& draw) {
  const auto rank = [&draw](int row) { return row < draw.rows ? row : draw.rank; };
  const auto id = [&draw, rank](int row) { return draw.ids[rank(row)]; };
  const viz::Color muted = c.theme->text_muted;
  const double high = std::min(1.0, viz::round_limit(draw.share(draw.ids[0])));
  ListLook bar{
      .digits = 4, .scientific = 0.001, .high = high, .axis = true, .most = 40 * c.font_size, .tip = false};
  bar.file = "probability";
  auto list = std::make_unique<List>(c, kRows, draw.rows + (draw.rank < draw.rows ? 0 : 1));
  list->refers_to = [id](int row) { return Ref{.token = id(row)}; };
  list->number("rank", 6, [rank](int row) { return rank(row) + 1; },
               {.file = key_column("rank"), .color = muted, .digits = 0});
  add_token_columns(*list, c, id);
  list->number("logit", 0, [&draw, id](int row) { return draw.next->logits[id(row)]; },
               {.file = "logit", .digits = 2, .tip = false});
  list->bar(
      "probability", 8, [&draw, id](int row) { return draw.probability(id(row)); }, bar);
  list->add_footer("the rest", "", muted);
  list->footer_of = [&draw, &list = *list, id](std::span<const int> rows) {
    double rest = 1;
    for (const int row : rows) rest -= draw.probability(id(row));
    viz::FixedRow footer = list.table.footer.front();
    footer.back().text = viz::fixed_number(std::max(0.0, rest), 4);
    return footer;
  };
  list->number("cumulative", 5, [&draw, rank](int row) { return draw.cumulative[rank(row)]; },
               {.file = "cumulative", .digits = 4});
  list->text("removed by", 0, [&draw, rank](int row) { return std::string(removed_by(draw, rank(row))); },
             {.file = note_column("removed by"), .color = muted, .hidden = !draw.removes()});
  bar.file = "drawn with", bar.hidden = !draw.removes();
  bar.blank = [&draw, rank](int row) { return rank(row) >= draw.candidates.kept(); };
  list->bar(
      "drawn with", 7, [&draw, id](int row) { return draw.share(id(row)); }, bar);
  list->file(note_column("is drawn"),
             [&draw, rank](int row) { return std::string(rank(row) == draw.rank ? "yes" : ""); });
  list->table.marked = std::min(draw.rank, draw.rows);
  return list;
}

Table table(const ViewContext& c, const Draw& draw) {
  Table result = list_of(c, draw)->exported();
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
  if (!c.run || !next || !next->not_finite.empty()) return {};
  const Draw draw = draw_of(c, next);
  return continue_with(c, *next, draw.ids[draw.rank]);
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto next = it.need(NextAfter{c.chosen_query});
  if (next && !next->not_finite.empty()) it.message = "cannot sample a next token: " + next->not_finite;
  if (!it.message.empty()) return;
  const Draw& draw = it.keep(draw_of(c, next));
  it.title = "What may follow “" + c.run->tokens.labels[c.selection.query] + "”";
  it.subtitle = "position " + std::to_string(c.selection.query);
  it.table = [&] { return table(c, draw_of(c, draw.next, draw.vocabulary())); };
  it.place_facts = [&](Facts& facts, const Ref& ref) { say_token(facts, c, draw, ref.token); };
  it.choose = [=](const ViewContext& now, const Ref& to) { return continue_with(now, *next, to.token); };
  constexpr float kBar = 2.8F;  // ems, with its arrow
  const auto paint = [&](Picture& p, const ViewContext& now, viz::Rect at) { paint_bar(p, now, draw, at); };
  const auto token_of = [](const viz::Region& part, int, int) { return Ref{.token = part.id}; };
  const std::vector<Swatch> looks{
      {"a token each", c.theme->bar}, {"others", c.theme->bar.with_alpha(70)}, {"drawn", c.theme->accent}};
  it.body = rows(boxes(custom({12, 60}, {kBar, kBar, kBar}, paint, {.role = kPart, .refers_to = token_of}),
                       c.in_pane ? nullptr : swatches(looks), notes(notes_of(c, draw)),
                       may_be_left_out(list_of(c, draw), "the table", 2)));
}

View view() {
  View view = make_view("sampling", "Sampling", declare,
                        "how the next token is sampled: temperature, top-k, top-p and the random number");
  view.options = {&kTemperature, &kTopK, &kTopP, &kSeed, &kRows.first};
  view.commands = {
      {"g", "Draw", "Continue with the sampled token, replacing what follows the query", draw_one}};
  view.landmarks = {{"line", kPart}};
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::sampling
