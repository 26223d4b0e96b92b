#include <numeric>

#include "app/views/output/continuation.h"
#include "app/views/parts/parts.h"
#include "model/pass/statistics.h"

namespace headscope::app::next {

enum Role { kGuess };  // a row of the list

const auto kCount = number_option("count", "Bars", "nN", "number of tokens shown", 10, 1, 1000);

struct Guesses {
  std::shared_ptr<const NextToken> next;
  std::vector<double> probabilities;  ///< [vocabulary]
  std::vector<int> shown;             ///< ids of the list's rows
  int best = 0;                       ///< how many of them are the first ones; ties by the smaller id
  std::vector<double> before;         ///< the baseline's probabilities; empty: no comparison
  int actual = -1;                    ///< id of the token that follows; -1: none does
  int actual_rank = 0;                ///< 0: the first guess; -1 where guesses have no order
  int baseline_top = -1;  ///< the baseline's most probable token, shown at any rank; -1: no comparison
  /// Whether bars are differences of probabilities, in percentage points; else they are probabilities.
  bool is_difference = false;
};

/// The probabilities of all tokens, at the chosen temperature.
std::vector<double> probabilities_of(const ViewContext& c, const NextToken& next) {
  std::vector<double> probabilities(next.logits.size());
  model::softmax(next.logits, c.options[kTemperature], probabilities);
  return probabilities;
}

/// Smaller differences of probabilities mean nothing.
constexpr double kRoundingError = 1e-6;

/// The tokens with the largest differences of probability.
std::vector<int> largest_differences(const Guesses& g, int count) {
  std::vector<int> ids(g.probabilities.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto difference = [&](int id) {
    const double by = std::abs(g.probabilities[id] - g.before[id]);
    return std::pair(by < kRoundingError ? 0 : by, g.probabilities[id]);  // ties: the more probable first
  };
  std::ranges::partial_sort(ids, ids.begin() + count, std::ranges::greater(), difference);
  ids.resize(count);
  return ids;
}

Guesses guesses_of(const ViewContext& c, std::shared_ptr<const NextToken> answer) {
  Guesses g;
  const NextToken& next = *answer;
  if (const auto before = compared_next(c)) {
    g.before = probabilities_of(c, *before);
    g.is_difference = c.side == Side::difference;
    if (c.side == Side::run) g.baseline_top = model::largest_logits(before->logits, 1).front().id;
  }
  g.probabilities = probabilities_of(c, next);
  g.best = std::min(c.options[kCount], static_cast<int>(next.logits.size()));
  if (g.is_difference)
    g.shown = largest_differences(g, g.best);
  else
    for (const model::Guess& best : model::largest_logits(next.logits, g.best)) g.shown.push_back(best.id);
  if (const int following = next.position + 1; following < c.run->tokens.length()) {
    g.actual = c.run->tokens.tokens[following].id;
    g.actual_rank = model::rank_of(next.logits, g.actual);
  }
  // Below the first ones the token that follows and the baseline's first guess, wherever they rank.
  for (const int id : {g.actual, g.baseline_top})
    if (id >= 0 && std::ranges::count(g.shown, id) == 0) g.shown.push_back(id);
  std::stable_sort(g.shown.begin() + g.best, g.shown.end(),
                   [&](int a, int b) { return g.probabilities[a] > g.probabilities[b]; });
  g.next = std::move(answer);
  return g;
}

/// The end of the axis: the next round number above everything that is drawn on it.
double axis_end(const Guesses& g) {
  double most = 0;
  for (const int id : g.shown) {
    const double now = g.probabilities[id], before = g.before.empty() ? now : g.before[id];
    most = std::max(most, g.is_difference ? std::abs(now - before) : std::max(now, before));
  }
  if (g.is_difference && most < kRoundingError) most = 0;  // not blown up to full bars
  return std::min(100.0, viz::round_limit(100 * most));
}

/// "+12.3", "−0.04": in percentage points.
std::string signed_points(double difference) {
  return (difference > 0 ? "+" : "") + viz::number(100 * difference, 3);
}

/// The probability of all other tokens than the first `count` that are shown.
double rest_of(const std::vector<double>& probabilities, const Guesses& g, std::size_t count) {
  double sum = 0;
  for (std::size_t row = 0; row < count; ++row) sum += probabilities[g.shown[row]];
  return sum > 1 ? 0 : 1 - sum;  // not std::max, which turns NaN into 0
}

std::unique_ptr<List> list_of(const ViewContext& c, const Guesses& g) {
  auto made = std::make_unique<List>(c, kGuess, static_cast<int>(std::ssize(g.shown)));
  List& list = *made;
  list.refers_to = [&g](int row) { return Ref{.token = g.shown[row]}; };
  list.may_be_cut = true, list.least_width = 10;
  list.table.row_names = "tokens", list.table.first_number = 1;
  const auto marked = std::ranges::find(g.shown, g.actual);
  if (marked != g.shown.end()) list.table.marked = static_cast<int>(marked - g.shown.begin());
  if (g.baseline_top >= 0)  // it is seen, too, where there is room for few
    list.rank_by(
        [&g](int row) { return g.shown[row] == g.baseline_top ? g.shown.size() : g.shown.size() - row - 1; });
  const auto id = [&g](int row) { return g.shown[row]; };
  const auto logit = [&g](int row) { return g.next->logits[g.shown[row]]; };
  const auto now = [&g](int row) { return g.probabilities[g.shown[row]]; };
  const auto before = [&g](int row) { return g.before[g.shown[row]]; };
  const auto difference = [now, before](int row) { return now(row) - before(row); };
  const auto points = [difference](int row) { return signed_points(difference(row)); };
  const auto percents = [now](int row) { return percent(now(row)); };
  list.file(key_column("rank"), [](int row) { return row + 1; });
  list.file(note_column("id"), id);
  // As wide for all texts, so that bars do not move while one types. The baseline's guess need not come next:
  // its rank says how many do not have a row; a note says that of the token that follows.
  list.text("token", 9,
            [&c, &g, id](int row) {
              const int rank = model::rank_of(g.next->logits, id(row)) + 1;
              const bool apart = id(row) == g.baseline_top && id(row) != g.actual && rank > row + 1;
              return (apart ? std::to_string(rank) + ". " : "") + label_of(c, id(row));
            },
            {.file = note_column("token"),
             .least = 3.5F * c.font_size,
             .most = 9 * c.font_size,
             .enough = 6 * c.font_size});
  list.file(note_column("bytes"),
            [&c, id](int row) { return bytes_as_hex(c.run->model->tokenizer->bytes(id(row))); });
  list.file("logit", logit);
  list.file("probability", now);
  if (!g.before.empty()) {
    list.file("probability compared with", before);
    list.file("difference", difference);
  }
  const double end = axis_end(g), low = g.is_difference ? -end : 0;
  const ListLook look{.low = low,
                      .high = end,
                      .axis = true,
                      .least = 5 * c.font_size,
                      .most = 60 * c.font_size,
                      .enough = 12 * c.font_size,  // a readable bar is more important than the logit
                      .tip = false};
  const ListLook muted{.color = c.theme->text_muted, .digits = 2, .least = 5 * c.font_size, .tip = false};
  const double others = rest_of(g.probabilities, g, g.shown.size());
  std::string rest = percent(others), detail;
  if (!g.before.empty()) detail = signed_points(others - rest_of(g.before, g, g.shown.size()));
  const auto in_percent = [](const auto& part) { return [part](int row) { return 100 * part(row); }; };
  if (g.is_difference) {
    list.bar("percentage points", 8, in_percent(difference), look).text = points;
    list.number(compares_different_inputs(*c.run) ? "first" : "now", 6, now, muted).text = percents;
    std::swap(rest, detail);
  } else {
    ListColumn& bar = list.bar("probability", 8, in_percent(now), look);
    bar.text = percents;
    if (g.before.empty()) {
      list.number("logit", 0, logit, muted);
    } else {
      for (const int token : g.shown) bar.marks.push_back(static_cast<float>(100 * g.before[token]));
      list.number("points", 0, now, muted).text = points;
    }
  }
  if (g.shown.size() < g.probabilities.size())
    list.table.footer = {
        {list.cell(0, grouped(std::ssize(g.probabilities) - std::ssize(g.shown)) + " others"),
         list.cell(1, rest), list.cell(2, detail)}};
  return made;
}

/// What the marks on the bars mean, and the divergence of the two distributions.
std::vector<std::string> notes_of(const ViewContext& c, const Guesses& g) {
  std::vector<std::string> lines;
  if (g.actual >= 0)
    lines.push_back("highlighted: follows in the prompt" +
                    (g.actual_rank < 0 ? "" : ", rank " + grouped(g.actual_rank + 1)));
  if (g.before.empty()) return lines;
  const bool second = compares_different_inputs(*c.run);
  if (!g.is_difference) lines.push_back("mark: " + (second ? second_name(*c.run) : "unedited"));
  lines.push_back((second ? "KL(second ‖ first) " : "KL(unedited ‖ edited) ") +
                  viz::number(bits(divergence(g.before, g.probabilities)), 3) + " bits");
  return lines;
}

Table table(const ViewContext& c, const Guesses& g, const List& list) {
  const NextToken& next = *g.next;
  const auto best = static_cast<std::size_t>(g.best);
  Table result = list.exported(g.best);
  add_token_facts(result, c.run->tokens, "position", next.position);
  result.fact("log_sum_exp", model::log_sum_exp(next.logits));
  if (g.actual >= 0) {
    add_token(result, c, "following token", g.actual);
    result.fact("following rank", rank_cell(g.actual_rank));
    result.fact("following logit", next.logits[g.actual]);
    result.fact("following probability", g.probabilities[g.actual]);
  }
  result.fact("probability of other tokens", rest_of(g.probabilities, g, best));
  if (!g.before.empty()) {
    result.fact("probability of other tokens compared with", rest_of(g.before, g, best));
    result.fact("KL", bits(divergence(g.before, g.probabilities)), "bits");
  }
  return result;
}

void say_guess(Facts& facts, const ViewContext& c, const Guesses& g, int id) {
  facts.say("after " + token_name(c.run->tokens, g.next->position), Fact::Location::status);
  add_guess(facts, c, *g.next, id, g.probabilities[id]);
  if (!g.before.empty())
    facts.say("compared with " + percent(g.before[id]) + ": " +
                  signed_points(g.probabilities[id] - g.before[id]) + " points",
              Fact::Location::tooltip);
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  auto next = it.need(NextAfter{c.chosen_query});
  if (it.lacks_counterpart() || !next) return;
  const Guesses& g = it.keep(guesses_of(c, std::move(next)));
  it.title = "After “" + c.run->tokens.labels[c.selection.query] + "”";
  it.subtitle = "position " + std::to_string(c.selection.query);
  if (c.options[kTemperature] != 1) it.subtitle += "; temperature " + viz::number(c.options[kTemperature], 3);
  auto list = list_of(c, g);
  it.table = [&, &rows = *list] { return table(c, g, rows); };
  it.place_facts = [&](Facts& facts, const Ref& ref) { say_guess(facts, c, g, ref.token); };
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
  view.landmarks = {landmark("guess", kGuess, 0)};
  return view;
}

}  // namespace headscope::app::next
