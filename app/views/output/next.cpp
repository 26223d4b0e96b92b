#include <numeric>

#include "app/views/output/continuation.h"
#include "app/views/parts/parts.h"
#include "model/pass/statistics.h"

namespace headscope::app {
namespace next {

enum Role { kGuess };  // a bar: Region::id: token id

const auto kCount = make_option<int>(
    "count", "Bars", "number of tokens shown",
    {.phrase = "{most probable token}", .default_value = 10, .low = 1, .high = 1000, .keys = "nN"});

struct Guesses {
  std::vector<double> probabilities;  ///< [vocabulary]
  std::vector<int> best;              ///< ids, the most probable first; ties by the smaller id
  std::vector<double> before;         ///< the baseline's probabilities; empty: no comparison
  int actual = -1;                    ///< id of the token that follows; -1: none does
  int actual_rank = 0;                ///< 0: the first guess; -1 where guesses have no order
  int best_before = -1;  ///< the baseline's first guess, whatever became of it; -1: no comparison
};

/// The probabilities of all tokens, at the chosen temperature.
std::vector<double> probabilities_of(const ViewContext& c, const NextToken& next) {
  std::vector<double> probabilities(next.logits.size());
  model::softmax(next.logits, c.options[kTemperature], probabilities);
  return probabilities;
}

/// Smaller differences of probabilities mean nothing.
constexpr double kRoundingError = 1e-6;

/// Whether bars are differences of probabilities, in percentage points; else they are probabilities.
bool shows_differences(const ViewContext& c, const Guesses& g) {
  return c.side == Side::difference && !g.before.empty();
}

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

Guesses guesses_of(const ViewContext& c, const NextToken& next) {
  Guesses g;
  if (const auto before = compared_next(c)) {
    g.before = probabilities_of(c, *before);
    if (c.side == Side::run) g.best_before = model::largest_logits(before->logits, 1).front().id;
  }
  g.probabilities = probabilities_of(c, next);
  const auto wanted = std::min(static_cast<std::size_t>(std::max(1, c.options[kCount])), next.logits.size());
  for (const model::Guess& best : model::largest_logits(next.logits, static_cast<int>(wanted)))
    g.best.push_back(best.id);
  if (shows_differences(c, g)) g.best = largest_differences(g, wanted);
  const int following = next.position + 1;
  if (following < c.run->tokens.length()) {
    g.actual = c.run->tokens.tokens[following].id;
    g.actual_rank = model::rank_of(next.logits, g.actual);
  }
  return g;
}

/// The end of the axis: the next round number above everything that is drawn on it.
double axis_end(const ViewContext& c, const Guesses& g) {
  double most = 0;
  const auto add = [&](int id) {
    const double now = g.probabilities[id], before = g.before.empty() ? now : g.before[id];
    most = std::max(most, shows_differences(c, g) ? std::abs(now - before) : std::max(now, before));
  };
  for (const int id : g.best) add(id);
  for (const int id : {g.actual, g.best_before})  // these have bars wherever they rank
    if (id >= 0) add(id);
  if (shows_differences(c, g) && most < kRoundingError) most = 0;  // not blown up to full bars
  return std::min(100.0, viz::round_limit(100 * most));
}

/// "+12.3", "−0.04": in percentage points.
std::string signed_points(double difference) {
  const std::string number = viz::number(100 * std::abs(difference), 3);
  return difference == 0 ? "0" : (difference < 0 ? "−" : "+") + number;
}

viz::Bar make_bar(const ViewContext& c, const NextToken& next, const Guesses& g, int id) {
  viz::Bar bar;
  bar.label = label_of(c, id);
  const double probability = g.probabilities[id];
  bar.value = 100 * probability;
  bar.number = percent(probability);
  bar.detail = viz::fixed_number(static_cast<double>(next.logits[id]), 2);
  if (!g.before.empty()) {
    const double before = g.before[id];
    bar.before = 100 * before;
    bar.detail = signed_points(probability - before);
    if (shows_differences(c, g)) std::swap(bar.number, bar.detail);
  }
  bar.marked = id == g.actual;
  bar.color = c.theme->bar;
  if (shows_differences(c, g)) {
    bar.value -= bar.before;
    bar.before = std::numeric_limits<double>::quiet_NaN();
    bar.color = viz::sign_color(*c.theme, bar.value);
  }
  bar.label_color = c.theme->text;
  bar.id = id;
  return bar;
}

/// "After “·it”", or where another token is compared, "After “·it” − “·because”".
std::string title_of(const ViewContext& c) {
  const std::string& label = c.run->tokens.labels[c.selection.query];
  const int there = c.side == Side::difference ? compared_query(c) : -1;
  const std::string& other = there < 0 ? label : c.run->baseline->tokens.labels[there];
  return "After “" + label + "”" + (other == label ? "" : " − “" + other + "”");
}

std::string subtitle_of(const ViewContext& c) {
  std::string text = "position " + std::to_string(c.selection.query);
  if (c.side == Side::difference) text += ", " + query_difference_words(c) + ", largest differences first";
  if (c.options[kTemperature] != 1) text += ", temperature " + viz::number(c.options[kTemperature], 3);
  return text;
}

/// The heading of the column of differences, with their unit where it has room.
std::string difference_title(const ViewContext& c, float room) {
  const viz::Style style = style_of(c);
  for (const char* words : {"difference, percentage points", "percentage points"})
    if (style.width(words, style.small()) < 0.2F * room) return words;
  return "difference";
}

/// Lines below the bars: what the mark means, and the sum of the tokens not shown; in comparisons also the
/// baseline's first guess, and words about the comparison, which may take two lines.
std::size_t max_extra_lines(const ViewContext& c) {
  return c.compared() ? 4 : 2;
}

/// Lines on the marks on the bars, where there are any, and the divergence of the two distributions. None
/// without a comparison.
std::vector<std::string> compared_words(const ViewContext& c, const Guesses& g, float room) {
  if (g.before.empty()) return {};
  const bool second = compares_different_inputs(*c.run);
  const viz::Style style = style_of(c);
  const std::string amount = viz::number(bits(divergence(g.before, g.probabilities)), 3) + " bits";
  std::string kl = (second ? "KL(second ‖ first) " : "KL(unedited ‖ edited) ") + amount;
  if (style.width(kl, style.small()) > room) kl = "KL " + amount;  // its unit must not be cut off
  if (shows_differences(c, g)) return {kl};
  return {"mark: " + (second ? second_name(*c.run) : "unedited"), kl};
}

Picture build(const ViewContext& c) {
  const auto next = current_next(c);
  if (auto words = waiting(c, NextAfter{c.chosen_query}, next != nullptr)) return *words;
  if (c.side == Side::difference && compared_query(c) < 0) return no_counterpart(c);
  const viz::Style style = style_of(c);
  const Guesses g = guesses_of(c, *next);
  Picture picture = blank(c);
  const viz::Rect area = paint_title(picture, c, title_of(c), subtitle_of(c));

  viz::BarChart chart;
  chart.role = kGuess;
  chart.number_title = "probability";
  chart.detail_title = "logit";
  if (!g.before.empty()) chart.detail_title = difference_title(c, area.w);
  chart.longest = axis_end(c, g);
  if (shows_differences(c, g)) {
    chart.number_title = "difference, percentage points";
    chart.short_number_title = "percentage points";
    chart.detail_title = compares_different_inputs(*c.run) ? "first" : "now";
    chart.least = -chart.longest;
  } else {
    chart.unit = " %";
  }
  chart.widest_number = "0.0e−000 %";
  chart.widest_detail = "−000.00";
  chart.marks = true;
  const float lines = std::floor((area.h - viz::bar_chart_height(0, true, style)) / viz::bar_height(style));
  const auto room = static_cast<std::size_t>(std::max(1.F, lines));
  std::vector<int> pinned;
  if (g.actual >= 0) pinned.push_back(g.actual);
  if (g.best_before >= 0 && g.best_before != g.actual) pinned.push_back(g.best_before);
  if (lines < 2 || area.w < 10 * style.font_size) picture.readable = false;
  const float line = style.line(style.small()), u = style.unit();
  const std::vector<std::string> compared = compared_words(c, g, area.w);
  const std::size_t notes = (g.actual >= 0 ? 1 : 0) + compared.size();  // lines under the bars
  // The best tokens, those that are shown wherever they rank, and the rest.
  const auto height_of = [&](std::size_t bars, std::size_t lines_below) {
    std::size_t rows = bars + 1;
    for (const int id : pinned) rows += std::ranges::count(std::span(g.best).first(bars), id) == 0 ? 1 : 0;
    return viz::bar_chart_height(rows, true, style) + (lines_below > 0 ? u : 0) +
           static_cast<float>(lines_below) * line;
  };
  std::size_t shown = g.best.size();
  const bool cut = height_of(shown, notes) > area.h;  // a line says so
  while (cut && shown > 1 && height_of(shown, notes + 1) > area.h) --shown;
  if (cut) picture.whole = false;
  double mass = 0, mass_before = 0;
  const auto add_bar = [&](int id) {
    chart.bars.push_back(make_bar(c, *next, g, id));
    mass += g.probabilities[id];
    if (!g.before.empty()) mass_before += g.before[id];
  };
  for (std::size_t i = 0; i < shown; ++i) add_bar(g.best[i]);
  int others = static_cast<int>(g.probabilities.size() - shown);
  for (const int id : pinned) {
    const bool is_shown = std::ranges::count(std::span(g.best).first(shown), id) > 0;
    if (is_shown || chart.bars.size() + 1 > room) continue;
    add_bar(id);
    // The baseline's guess need not come next: there is no bar for those between. A note says the rank of the
    // token that follows.
    const int rank = model::rank_of(next->logits, id) + 1;
    if (id != g.actual && rank > static_cast<int>(shown) + 1)
      chart.bars.back().label = std::to_string(rank) + ". " + chart.bars.back().label;
    --others;
  }
  const std::size_t drawn = chart.bars.size();
  // Both are less probable than the best shown; they have an order of their own.
  if (drawn == shown + 2 && chart.bars[shown].value < chart.bars[shown + 1].value)
    std::swap(chart.bars[shown], chart.bars[shown + 1]);
  if (others > 0) {
    viz::Bar& rest = chart.bars.emplace_back();
    rest.muted = true;
    rest.label = "all other " + grouped(others) + " tokens";
    // A truncated number would be a different number.
    if (style.width(rest.label, style.font_size) > 0.55F * area.w) rest.label = grouped(others) + " others";
    rest.number = percent(mass > 1 ? 0 : 1 - mass);  // not std::max, which turns NaN into 0
    if (!g.before.empty()) {
      rest.detail = signed_points(mass_before - mass);
      if (shows_differences(c, g)) std::swap(rest.number, rest.detail);
    }
  }
  viz::paint_bar_chart(picture, chart, area, style);
  const float used = viz::bar_chart_height(chart.bars.size(), true, style);
  const auto word = [&](const std::string& words, float x, float y) {
    viz::add_label(picture.scene, style, words, {x, y}, style.small(), c.theme->text_muted,
                   viz::FontStyle::regular, viz::Align::left, area.right() - x);
  };
  float note = area.y + used + u + (g.actual >= 0 ? 1.5F : 0.5F) * line;
  for (const std::string& words : compared) {
    if (note + line / 2 > area.bottom() + u) {
      picture.whole = false;
      break;
    }
    word(words, area.x, note);
    note += line;
  }
  if (g.actual >= 0 && used + line + u > area.h) {
    picture.whole = false;
  } else if (g.actual >= 0) {
    const float middle = area.y + used + u + line / 2;
    picture.scene.add(viz::FillPolygon{
        {{area.x, middle - u}, {area.x + 1.5F * u, middle}, {area.x, middle + u}}, c.theme->text});
    // A truncated rank would be a different rank.
    std::string words = "follows in the prompt, rank " + std::to_string(g.actual_rank + 1) + " of " +
                        grouped(static_cast<std::int64_t>(g.probabilities.size()));
    if (std::isnan(mass) || style.width(words, style.small()) > area.w - 3 * u)
      words = "follows in the prompt";
    word(words, area.x + 3 * u, middle);
  }
  const float below = area.y + used + u + (static_cast<float>(notes) + 0.5F) * line;
  if (cut && shown < g.best.size() && below + line / 2 <= area.bottom() + u)
    word("room for " + std::to_string(shown) + " of " + std::to_string(g.best.size()) + " bars", area.x,
         below);
  return picture;
}

Table table(const ViewContext& c) {
  const auto next = current_next(c);
  if (!next || (c.side == Side::difference && compared_query(c) < 0)) return {};
  const Guesses g = guesses_of(c, *next);
  const bool compared = !g.before.empty();
  Table result{key_column("rank"),   note_column("id"), note_column("token"),
               note_column("bytes"), "logit",           "probability"};
  if (compared) result.add_columns({"probability compared with", "difference"});
  double shown = 0, shown_before = 0;
  for (std::size_t i = 0; i < g.best.size(); ++i) {
    const int id = g.best[i];
    const double probability = g.probabilities[id];
    TableRow row;
    add_cells(row, i + 1, id, label_of(c, id), bytes_as_hex(c.run->model->tokenizer->bytes(id)),
              next->logits[id], probability);
    if (compared) add_cells(row, g.before[id], probability - g.before[id]);
    result.add(std::move(row));
    shown += probability;
    if (compared) shown_before += g.before[id];
  }
  add_token_facts(result, c.run->tokens, "position", next->position);
  result.fact("log_sum_exp", model::log_sum_exp(next->logits));
  if (g.actual >= 0) {
    add_token(result, c, "following token", g.actual);
    result.fact("following rank", rank_cell(g.actual_rank));
    result.fact("following logit", next->logits[g.actual]);
    result.fact("following probability", g.probabilities[g.actual]);
  }
  const auto others = [](double of_shown) { return of_shown > 1 ? 0 : 1 - of_shown; };  // NaN stays
  result.fact("probability of other tokens", others(shown));
  if (compared) {
    result.fact("probability of other tokens compared with", others(shown_before));
    result.fact("KL", bits(divergence(g.before, g.probabilities)), "bits");
  }
  return result;
}

float whole_height(const ViewContext& c) {
  const viz::Style style = style_of(c);
  const auto lines = static_cast<std::size_t>(std::max(1, c.options[kCount])) + max_extra_lines(c);
  return 2 * margin(c) + style.line(style.title()) + 3 * style.unit() +
         viz::bar_chart_height(lines, true, style) + (c.compared() ? 2 : 1) * style.line(style.small());
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto next = current_next(c);
  return next ? continue_with(c, *next, region_of(picture, hit).id) : ViewActions{};
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  const auto next = current_next(c);
  Facts facts;
  if (!next) return facts;
  const double probability = probabilities_of(c, *next)[region.id];
  facts.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->accent, 1, 3});
  facts.say("after " + token_name(c.run->tokens, next->position) + ":", Fact::Location::status);
  add_guess(facts, c, *next, region.id, probability);
  if (const auto before = compared_next(c)) {
    const double other = probabilities_of(c, *before)[region.id];
    facts.say("compared with " + percent(other) + ": " + signed_points(probability - other) + " points",
              Fact::Location::tooltip);
  }
  return facts;
}

/// Appends the guess of a digit key: the first one is the most probable.
ViewActions append(const ViewContext& c, int which) {
  const auto next = current_next(c);
  if (!next || !c.run) return {};
  const Guesses g = guesses_of(c, *next);
  if (which >= static_cast<int>(g.best.size())) return {};
  return continue_with(c, *next, g.best[which]);
}

}  // namespace next

View next_view() {
  using namespace next;
  View view = make_view(Group::output, "next", "Next token",
                        "the most probable tokens after one position, over the whole vocabulary", build,
                        facts, table);
  view.place = Place::right;
  view.options = {&kCount, &kTemperature};
  view.commands = {{"123456789", "", "Continue after this position with guess 1 to 9", append}};
  add_gestures(view, click);
  view.shows_difference = true;
  view.whole_height = whole_height;
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
