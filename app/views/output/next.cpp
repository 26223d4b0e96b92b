#include <numeric>

#include "app/views/output/continuation.h"
#include "app/views/parts/parts.h"
#include "model/pass/statistics.h"

namespace headscope::app {
namespace next {

enum Role { kGuess };  // a bar: Region::id: token id

const auto kCount = make_option<int>("count", "Bars", "number of tokens shown",
                                     {.default_value = 10, .low = 1, .high = 1000, .keys = "nN"});

struct Guesses {
  std::shared_ptr<const NextToken> next;
  std::vector<double> probabilities;  ///< [vocabulary]
  std::vector<int> best;              ///< ids, the most probable first; ties by the smaller id
  std::vector<int> all;               ///< these, and below them those that have bars wherever they rank
  std::vector<double> before;         ///< the baseline's probabilities; empty: no comparison
  int actual = -1;                    ///< id of the token that follows; -1: none does
  int actual_rank = 0;                ///< 0: the first guess; -1 where guesses have no order
  int best_before = -1;  ///< the baseline's first guess, whatever became of it; -1: no comparison
  /// Whether bars are differences of probabilities, in percentage points; else they are probabilities.
  bool is_difference = false;
};

/// The probabilities of all tokens, at the chosen temperature.
std::vector<double> probabilities_of(const ViewContext& c, const NextToken& next) {
  std::vector<double> probabilities(next.logits.size());
  model::softmax(next.logits, c.options[kTemperature], probabilities);
  return probabilities;
}

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Smaller differences of probabilities mean nothing.
constexpr double kRoundingError = 1e-6;

/// The tokens with the largest differences of probability.
std::vector<int> largest_differences(const Guesses& g, std::size_t count) {
  std::vector<int> ids(g.probabilities.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto difference = [&](int id) {
    const double by = std::abs(g.probabilities[id] - g.before[id]);
    return std::pair(by < kRoundingError ? 0 : by, g.probabilities[id]);  // ties: the more probable first
  };
  std::ranges::partial_sort(ids, ids.begin() + static_cast<std::ptrdiff_t>(count), std::ranges::greater(),
                            difference);
  ids.resize(count);
  return ids;
}

Guesses guesses_of(const ViewContext& c, std::shared_ptr<const NextToken> answer) {
  Guesses g;
  const NextToken& next = *answer;
  if (const auto before = compared_next(c)) {
    g.before = probabilities_of(c, *before);
    g.is_difference = c.side == Side::difference;
    if (c.side == Side::run) g.best_before = model::largest_logits(before->logits, 1).front().id;
  }
  g.probabilities = probabilities_of(c, next);
  const auto wanted = std::min(static_cast<std::size_t>(std::max(1, c.options[kCount])), next.logits.size());
  for (const model::Guess& best : model::largest_logits(next.logits, static_cast<int>(wanted)))
    g.best.push_back(best.id);
  if (g.is_difference) g.best = largest_differences(g, wanted);
  const int following = next.position + 1;
  if (following < c.run->tokens.length()) {
    g.actual = c.run->tokens.tokens[following].id;
    g.actual_rank = model::rank_of(next.logits, g.actual);
  }
  g.all = g.best;
  for (const int id : {g.actual, g.best_before})
    if (id >= 0 && std::ranges::count(g.all, id) == 0) g.all.push_back(id);
  std::stable_sort(g.all.begin() + std::ssize(g.best), g.all.end(),
                   [&](int a, int b) { return g.probabilities[a] > g.probabilities[b]; });
  g.next = std::move(answer);
  return g;
}

/// The end of the axis: the next round number above everything that is drawn on it.
double axis_end(const Guesses& g) {
  double most = 0;
  for (const int id : g.all) {
    const double now = g.probabilities[id], before = g.before.empty() ? now : g.before[id];
    most = std::max(most, g.is_difference ? std::abs(now - before) : std::max(now, before));
  }
  if (g.is_difference && most < kRoundingError) most = 0;  // not blown up to full bars
  return std::min(100.0, viz::round_limit(100 * most));
}

/// "+12.3", "−0.04": in percentage points.
std::string signed_points(double difference) {
  const std::string number = viz::number(100 * std::abs(difference), 3);
  return difference == 0 ? "0" : (difference < 0 ? "−" : "+") + number;
}

/// A bar without a length. `logit`: said where nothing is compared.
viz::Bar bar_with(const Guesses& g, std::string label, double now, double before, std::string logit) {
  viz::Bar bar;
  bar.label = std::move(label);
  bar.number = percent(now);
  bar.detail = g.before.empty() ? std::move(logit) : signed_points(now - before);
  if (g.is_difference) std::swap(bar.number, bar.detail);
  return bar;
}

viz::Bar bar_of(const ViewContext& c, const Guesses& g, int id) {
  const double now = g.probabilities[id], before = g.before.empty() ? kNone : g.before[id];
  viz::Bar bar = bar_with(g, label_of(c, id), now, before,
                          viz::fixed_number(static_cast<double>(g.next->logits[id]), 2));
  bar.value = 100 * (g.is_difference ? now - before : now);
  bar.before = g.is_difference ? kNone : 100 * before;
  bar.color = g.is_difference ? viz::sign_color(*c.theme, bar.value) : c.theme->bar;
  bar.label_color = c.theme->text;
  bar.marked = id == g.actual;
  bar.id = id;
  return bar;
}

/// The tokens with a bar if there is room for so many.
std::vector<int> shown_tokens(const Guesses& g, std::size_t room) {
  std::vector<int> ids = g.all;
  for (std::ptrdiff_t i = std::ssize(g.best); --i > 0 && ids.size() > room;)
    if (ids[i] != g.actual && ids[i] != g.best_before) ids.erase(ids.begin() + i);
  return ids;
}

/// The probability of all other tokens.
double rest_of(const std::vector<double>& probabilities, const std::vector<int>& ids) {
  if (probabilities.empty()) return kNone;
  double sum = 0;
  for (const int id : ids) sum += probabilities[id];
  return sum > 1 ? 0 : 1 - sum;  // not std::max, which turns NaN into 0
}

void paint_bars(Picture& picture, const ViewContext& c, const Guesses& g, const viz::Rect& area) {
  const viz::Style style = style_of(c);
  viz::BarChart chart;
  chart.role = kGuess;
  chart.longest = axis_end(g);
  chart.number_title = "probability";
  chart.detail_title = g.before.empty() ? "logit" : "points";
  chart.unit = " %";
  if (g.is_difference) {
    chart.number_title = "difference, percentage points";
    chart.short_number_title = "percentage points";
    chart.detail_title = compares_different_inputs(*c.run) ? "first" : "now";
    chart.least = -chart.longest;
    chart.unit.clear();
  }
  chart.widest_number = "0.0e−000 %";
  chart.widest_detail = "−000.00";
  chart.marks = true;
  const float lines = (area.h + 1 - viz::bar_chart_height(0, true, style)) / viz::bar_height(style);
  const std::vector<int> shown = shown_tokens(g, static_cast<std::size_t>(std::max(2.F, lines)) - 1);
  if (shown.size() < g.all.size()) picture.whole = false;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    viz::Bar& bar = chart.bars.emplace_back(bar_of(c, g, shown[i]));
    // The baseline's guess need not come next: there is no bar for those between. A note says the rank of the
    // token that follows.
    const int rank = model::rank_of(g.next->logits, shown[i]) + 1;
    if (shown[i] == g.best_before && shown[i] != g.actual && rank > static_cast<int>(i) + 1)
      bar.label = std::to_string(rank) + ". " + bar.label;
  }
  if (const auto others = std::ssize(g.probabilities) - std::ssize(shown); others > 0) {
    chart.bars.push_back(bar_with(g, grouped(others) + " others", rest_of(g.probabilities, shown),
                                  rest_of(g.before, shown), ""));
    chart.bars.back().muted = true;
  }
  viz::paint_bar_chart(picture, chart, area, style);
}

/// What the marks on the bars mean, and the divergence of the two distributions.
std::vector<std::string> notes_of(const ViewContext& c, const Guesses& g) {
  std::vector<std::string> lines;
  if (g.actual >= 0)
    lines.push_back("▸ follows" + (g.actual_rank < 0 ? std::string()
                                                     : ": rank " + grouped(g.actual_rank + 1) + " of " +
                                                           grouped(std::ssize(g.probabilities))));
  if (g.before.empty()) return lines;
  const bool second = compares_different_inputs(*c.run);
  if (!g.is_difference) lines.push_back("mark: " + (second ? second_name(*c.run) : "unedited"));
  lines.push_back((second ? "KL(second ‖ first) " : "KL(unedited ‖ edited) ") +
                  viz::number(bits(divergence(g.before, g.probabilities)), 3) + " bits");
  return lines;
}

Table table(const ViewContext& c, const Guesses& g) {
  const NextToken& next = *g.next;
  List list(c, kGuess, static_cast<int>(g.best.size()));
  const auto id = [&g](int i) { return g.best[i]; };
  list.file(key_column("rank"), [](int i) { return i + 1; });
  list.file(note_column("id"), id);
  list.file(note_column("token"), [&c, id](int i) { return label_of(c, id(i)); });
  list.file(note_column("bytes"),
            [&c, id](int i) { return bytes_as_hex(c.run->model->tokenizer->bytes(id(i))); });
  list.file("logit", [&next, id](int i) { return next.logits[id(i)]; });
  list.file("probability", [&g, id](int i) { return g.probabilities[id(i)]; });
  if (!g.before.empty()) {
    list.file("probability compared with", [&g, id](int i) { return g.before[id(i)]; });
    list.file("difference", [&g, id](int i) { return g.probabilities[id(i)] - g.before[id(i)]; });
  }
  Table result = list.exported();
  add_token_facts(result, c.run->tokens, "position", next.position);
  result.fact("log_sum_exp", model::log_sum_exp(next.logits));
  if (g.actual >= 0) {
    add_token(result, c, "following token", g.actual);
    result.fact("following rank", rank_cell(g.actual_rank));
    result.fact("following logit", next.logits[g.actual]);
    result.fact("following probability", g.probabilities[g.actual]);
  }
  result.fact("probability of other tokens", rest_of(g.probabilities, g.best));
  if (!g.before.empty()) {
    result.fact("probability of other tokens compared with", rest_of(g.before, g.best));
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
  it.table = [&] { return table(c, g); };
  it.place_facts = [&](Facts& facts, const Ref& ref) { say_guess(facts, c, g, ref.token); };
  it.choose = [&](const ViewContext& now, const Ref& ref) { return continue_with(now, *g.next, ref.token); };
  constexpr float kTitles = 2.6F, kBar = 1.8F;  // ems
  const float all = kTitles + kBar * static_cast<float>(g.all.size() + 1);
  const auto paint = [&](Picture& picture, const ViewContext& page, viz::Rect area) {
    paint_bars(picture, page, g, area);
  };
  it.body = rows(boxes(custom({10, 40}, {kTitles + 2 * kBar, all, all}, paint, places_of_tokens(kGuess)),
                       notes(notes_of(c, g))));
}

/// Appends the guess of a digit key: the first one is the most probable.
ViewActions append(const ViewContext& c, int which) {
  const auto next = current_next(c);
  if (!next || !c.run) return {};
  const Guesses g = guesses_of(c, next);
  if (which >= static_cast<int>(g.best.size())) return {};
  return continue_with(c, *next, g.best[which]);
}

}  // namespace next

View next_view() {
  using namespace next;
  View view = make_view(Group::output, "next", "Next token",
                        "the most probable tokens after one position, over the whole vocabulary", declare);
  view.place = Place::right;
  view.options = {&kCount, &kTemperature};
  view.commands = {{"123456789", "", "Continue after this position with guess 1 to 9", append}};
  view.shows_difference = true;
  view.caption = {true, false, true};
  view.landmarks = {landmark("guesses", kGuess),
                    {"guess", [](const ViewContext&, const Picture& p) {
                       const auto first =
                           std::ranges::find(p.regions, static_cast<int>(kGuess), &viz::Region::role);
                       return first == p.regions.end() ? std::nullopt : std::optional(first->rect);
                     }}};
  return view;
}

}  // namespace headscope::app
