#include <numeric>

#include "app/views/output/continuation.h"
#include "app/views/parts/parts.h"
#include "model/pass/statistics.h"

namespace headscope::app::next {

enum Role { kGuess };  // a row of the list

const auto kCount = number_option("count", "Bars", "nN", "number of tokens shown", 10, 1, 1000);

struct Guesses {
  std::shared_ptr<const NextToken> next = {};
  std::vector<double> probabilities = {};  ///< [vocabulary]
  std::vector<int> shown = {};             ///< ids of the list's rows
  int best = 0;                            ///< how many of them are the first ones; ties by the smaller id
  std::vector<double> before = {};         ///< the baseline's probabilities; empty: no comparison
  int actual = -1;                         ///< id of the token that follows; -1: none does
  int baseline_top = -1;       ///< the baseline's most probable token, shown at any rank; -1: no comparison
  bool is_difference = false;  ///< bars are differences in percentage points, not probabilities

  int rank(int id) const { return model::rank_of(next->logits, id); }  ///< -1 where guesses have no order
  /// 0 if it may be rounding: it would be blown up to full bars.
  double difference(int id) const {
    const double by = probabilities[id] - before[id];
    return std::abs(by) < 1e-6 ? 0 : by;
  }
};

Guesses guesses_of(const ViewContext& c, std::shared_ptr<const NextToken> answer) {
  const double temperature = c.options[kTemperature];
  Guesses g{.next = answer, .probabilities = model::softmax(answer->logits, temperature)};
  if (const auto before = compared_next(c)) {
    g.before = model::softmax(before->logits, temperature);
    g.is_difference = c.differs();
    if (c.side == Side::run) g.baseline_top = model::largest_logits(before->logits, 1).front().id;
  }
  const int wanted = c.max_rows > 0 ? c.max_rows : c.options[kCount];
  g.best = std::min(wanted, static_cast<int>(answer->logits.size()));
  if (g.is_difference) {  // the largest, of equal ones the more probable first
    const auto size = [&g](int id) { return std::pair(std::abs(g.difference(id)), g.probabilities[id]); };
    g.shown.resize(answer->logits.size());
    std::iota(g.shown.begin(), g.shown.end(), 0);
    std::ranges::partial_sort(g.shown, g.shown.begin() + g.best, std::ranges::greater(), size);
    g.shown.resize(g.best);
  } else {
    for (const model::Guess& best : model::largest_logits(answer->logits, g.best)) g.shown.push_back(best.id);
  }
  if (const int following = answer->position + 1; following < c.run->tokens.length())
    g.actual = c.run->tokens.tokens[following].id;
  // Below the first ones the token that follows and the baseline's first guess, wherever they rank.
  for (const int id : {g.actual, g.baseline_top})
    if (id >= 0 && std::ranges::count(g.shown, id) == 0) g.shown.push_back(id);
  std::stable_sort(g.shown.begin() + g.best, g.shown.end(),
                   [&](int a, int b) { return g.probabilities[a] > g.probabilities[b]; });
  return g;
}

/// The probability of all tokens but those in these rows: a sum, as 1 less the rows' may be only rounding.
double rest_of(std::vector<double> probabilities, const Guesses& g, const auto& rows) {
  for (const int row : rows) probabilities[g.shown[row]] = 0;
  return std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
}

std::unique_ptr<List> list_of(const ViewContext& c, const Guesses& g) {
  const bool compares = !g.before.empty();
  auto list = std::make_unique<List>(c, kGuess, static_cast<int>(std::ssize(g.shown)));
  list->may_be_cut = true, list->least_width = 10;
  list->table.row_names = "bars", list->table.first_number = 1;
  list->table.marked = static_cast<int>(std::ranges::find(g.shown, g.actual) - g.shown.begin());
  if (g.baseline_top >= 0)  // it is seen, too, where there is room for few
    list->rank_by([&g](int row) { return g.shown[row] == g.baseline_top ? 1 : 1.0 / (row + 2); });
  const auto id = [&g](int row) { return g.shown[row]; };
  const auto logit = [&g](int row) { return g.next->logits[g.shown[row]]; };
  const auto now = [&g](int row) { return g.probabilities[g.shown[row]]; };
  const auto difference = [&g](int row) { return g.difference(g.shown[row]); };
  using Words = std::function<std::string(int row)>;
  const Words percents = [now](int row) { return percent(now(row)); };
  const Words points = [difference](int row) { return with_sign(100 * difference(row), 3); };
  list->refers_to = [id](int row) { return Ref{.token = id(row)}; };
  list->file(key_column("rank"), [](int row) { return row + 1; });
  // As wide for all texts, so that bars do not move while one types.
  add_token_columns(*list, c, id,
                    {.least = 3.5F * c.font_size, .most = 9 * c.font_size, .enough = 4.5F * c.font_size});
  const int label = list->last() - 1;  // before its bytes, which only files have
  list->file("logit", logit);
  list->file("probability", now);
  if (compares) {
    const auto before = [&g](int row) { return g.before[g.shown[row]]; };
    list->file("probability compared with", before);
    list->file("difference", [now, before](int row) { return now(row) - before(row); });
  }
  ListColumn& bar = list->bar(
      g.is_difference ? "points"
      : c.in_pane     ? "%"
                      : "probability, %",
      8, [&g, now, difference](int row) { return 100 * (g.is_difference ? difference(row) : now(row)); },
      {.rounds = true,
       .axis = true,
       .least = 5 * c.font_size,
       .most = 60 * c.font_size,
       .enough = 12 * c.font_size,  // a readable bar is more important than the logit
       .tip = false});
  bar.text = g.is_difference ? points : percents;
  if (compares && !g.is_difference)
    for (const int token : g.shown) bar.marks.push_back(static_cast<float>(100 * g.before[token]));
  const char* heading = !compares ? "logit" : g.is_difference ? "probability" : "points";
  ListColumn& number = list->number(
      heading, 0, logit, {.color = c.theme->text_muted, .digits = 2, .least = 5 * c.font_size, .tip = false});
  if (compares) number.text = g.is_difference ? percents : points;
  list->footer_of = [&g, &list = *list, label](std::span<const int> rows) -> viz::FixedRow {
    const double others = rest_of(g.probabilities, g, rows);
    std::string rest = percent(others), detail;
    if (!g.before.empty()) detail = with_sign(100 * (others - rest_of(g.before, g, rows)), 3);
    if (g.is_difference) std::swap(rest, detail);
    return {list.cell(label, grouped(std::ssize(g.probabilities) - std::ssize(rows)) + " others"),
            list.cell(list.last() - 1, rest), list.cell(list.last(), detail)};
  };
  list->table.footer = {list->footer_of({})};
  return list;
}

/// What the marks on the bars mean, and the divergence of the two distributions.
std::vector<std::string> notes_of(const ViewContext& c, const Guesses& g) {
  const auto rank_words = [&g](int id) { return g.rank(id) < 0 ? "" : ", rank " + grouped(g.rank(id) + 1); };
  std::vector<std::string> lines;
  if (g.actual >= 0)
    lines.push_back("highlighted: the token that follows in the prompt" + rank_words(g.actual));
  if (g.before.empty()) return lines;
  const bool second = compares_different_inputs(*c.run);
  const std::string there = second ? second_name(*c.run) : "unedited run";
  if (g.baseline_top >= 0)
    lines.push_back("marks: " + there + "; its best: “" + label_of(c, g.baseline_top) + "”" +
                    rank_words(g.baseline_top));
  lines.push_back((second ? "KL(second ‖ first) " : "KL(unedited ‖ edited) ") +
                  viz::number(bits(divergence(g.before, g.probabilities)), 3) + " bits");
  return lines;
}

Table table(const ViewContext& c, const Guesses& g, const List& list) {
  Table result = list.exported("", g.best);
  add_token_facts(result, c.run->tokens, "position", g.next->position);
  result.fact("log_sum_exp", model::log_sum_exp(g.next->logits));
  if (g.actual >= 0) {
    add_token(result, c, "following token", g.actual);
    result.fact("following rank", rank_cell(g.rank(g.actual)));
    result.fact("following logit", g.next->logits[g.actual]);
    result.fact("following probability", g.probabilities[g.actual]);
  }
  const auto best = std::views::iota(0, g.best);
  result.fact("probability of other tokens", rest_of(g.probabilities, g, best));
  if (!g.before.empty()) {
    result.fact("probability of other tokens compared with", rest_of(g.before, g, best));
    result.fact("KL", bits(divergence(g.before, g.probabilities)), "bits");
  }
  return result;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  auto next = it.need(NextAfter{c.chosen_query});
  if (it.lacks_counterpart() || !next) return;
  const Guesses& g = it.keep(guesses_of(c, std::move(next)));
  it.title = "After " + token_name(c.run->tokens, c.selection.query);
  if (c.options[kTemperature] != 1 && !c.in_pane)  // its slider is above
    it.subtitle = "temperature " + to_text(kTemperature, c.options[kTemperature]);
  auto list = list_of(c, g);
  it.table = [&, &rows = *list] { return table(c, g, rows); };
  it.place_facts = [&](Facts& facts, const Ref& ref) {
    add_guess(facts, c, *g.next, ref.token, g.probabilities[ref.token]);
    if (!g.before.empty())
      facts.tip("compared with " + percent(g.before[ref.token]) + ": " +
                with_sign(100 * g.difference(ref.token), 3) + " points");
  };
  it.choose = [&](const ViewContext& now, const Ref& ref) { return continue_with(now, *g.next, ref.token); };
  it.body = rows(boxes(std::move(list), notes(notes_of(c, g))));
}

/// Appends the guess of a digit key: the first one is the most probable.
ViewActions append(const ViewContext& c, int which) {
  const auto next = current_next(c);
  if (!next || !c.run) return {};
  const Guesses g = guesses_of(c, next);
  return which < g.best ? continue_with(c, *next, g.shown[which]) : ViewActions();
}

View view() {
  View view = make_view("next", "Next token", declare,
                        "the most probable tokens after one position, over the whole vocabulary");
  view.place = Place::right;
  view.options = {&kCount, &kTemperature};
  view.row_count = &kCount;
  view.commands = {{"123456789", "", "Continue after this position with guess 1 to 9", append}};
  view.landmarks = {{"guess", kGuess, always<0>}};
  return view;
}

}  // namespace headscope::app::next
