#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

#include "app/run/analyses/attention_questions.h"
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/token_statistics.h"
#include "app/views/parts/comparison_words.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/menu_lines.h"
#include "app/views/parts/names.h"
#include "app/views/parts/navigation.h"
#include "app/views/parts/table_rows.h"
#include "app/views/view.h"
#include "viz/charts/bars.h"
#include "viz/charts/chips.h"
#include "viz/charts/table.h"
#include "viz/scene/scale.h"

namespace headscope::app {
namespace {

enum Role { kRow, kChip };  // Region::id: position

const Option<bool> kSurprisingFirst{{.name = "surprising-first",
                                     .label = "Most surprising first",
                                     .help = "positions by falling loss instead of in their order",
                                     .default_value = false,
                                     .keys = "oO"}};
/// -1: see first_row.
const Option<int> kFirstPosition = first_row_option(
    "first-position", "First row",
    "first row of the table that is shown (auto: so that the query's is, or the most surprising)", true, -1);

constexpr std::size_t kGuesses = 5;
constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

/// −log2 of the probability that the token had which does follow; NaN where none does.
double loss_of(const model::PositionStatistics& s) {
  return (s.log_sum_exp - static_cast<double>(s.next_logit)) / std::numbers::ln2;
}

/// What the table and the chips show, of the positions that are known so far.
struct Numbers {
  std::shared_ptr<const Statistics> statistics, compared;  ///< `compared`: on the side of changes
  std::vector<const model::PositionStatistics*> of;        ///< by position
  std::vector<float> loss, probability, rank;              ///< rank from 1; NaN where no token follows
  std::vector<bool> last;                                  ///< no token follows
  std::vector<std::string> follows;
  std::array<std::vector<std::string>, kGuesses> guesses, percents;
  int length = 0;   ///< of the run
  int tokens = 0;   ///< that have a loss
  double mean = 0;  ///< bits
  double high = 1;  ///< the losses' axis ends there

  // Of a comparison; of all positions, or of none.
  std::vector<const model::PositionStatistics*> before;  ///< null: nothing stands for the position
  std::vector<float> loss_before, change;                ///< NaN where not the same token follows in both
  std::vector<bool> incomparable;                        ///< where these are NaN
  std::vector<std::string> guess_before, percent_before;
  int comparable = 0;                       ///< tokens
  double mean_change = 0, mean_before = 0;  ///< of them, bits
  float most_change = 0;                    ///< magnitude
  bool whole() const { return std::ssize(of) == length; }
  int count() const { return static_cast<int>(of.size()); }
};

/// The same position of what is compared, where the same token follows there; null: there is none, or not
/// yet.
const model::PositionStatistics* before_of(const ViewContext& c, const Statistics& compared, int position) {
  const int there = c.run->aligned[static_cast<std::size_t>(position)];
  return there >= 0 && there < std::ssize(compared.positions)
             ? &compared.positions[static_cast<std::size_t>(there)]
             : nullptr;
}
bool same_token_follows(const ViewContext& c, int position) {
  const std::vector<int>&tokens = c.run->run->tokens, &others = c.run->baseline->run->tokens;
  const auto next = static_cast<std::size_t>(position) + 1,
             there = static_cast<std::size_t>(c.run->aligned[next - 1]) + 1;
  return next < tokens.size() && there < others.size() && tokens[next] == others[there];
}

void compare(const ViewContext& c, Numbers& n) {
  double before = 0;
  for (int i = 0; i < n.count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const model::PositionStatistics* s = before_of(c, *n.compared, i);
    const bool comparable = s != nullptr && same_token_follows(c, i);
    n.before.push_back(s);
    n.loss_before.push_back(comparable ? static_cast<float>(loss_of(*s)) : kNone);
    n.change.push_back(comparable ? static_cast<float>(loss_of(*n.of[at]) - loss_of(*s)) : kNone);
    n.incomparable.push_back(!comparable);
    const bool guesses = s != nullptr && !s->top.empty();
    n.guess_before.push_back(guesses ? label_of(c, s->top.front().id) : "");
    n.percent_before.push_back(guesses ? percent(s->top.front().probability) : "");
    if (!comparable) continue;
    ++n.comparable;
    before += loss_of(*s);
    n.mean_change += loss_of(*n.of[at]) - loss_of(*s);
    if (std::isfinite(n.change.back())) n.most_change = std::max(n.most_change, std::abs(n.change.back()));
  }
  if (n.comparable == 0) return;
  n.mean_change /= n.comparable;
  n.mean_before = before / n.comparable;
}

/// Nothing while there is no answer.
std::optional<Numbers> numbers_of(const ViewContext& c) {
  const auto known_now = c.ask(StatisticsOfTokens{});
  const bool comparing = c.side == Side::difference;
  const auto compared = comparing ? c.ask_on(Side::baseline, StatisticsOfTokens{}) : nullptr;
  if (!c.run || !known_now || (comparing && !compared)) return std::nullopt;
  Numbers n;
  n.statistics = known_now;
  n.compared = compared;
  const Statistics& statistics = *known_now;
  n.length = c.run->run->length();
  double sum = 0, highest = 0;
  const auto known = std::min<std::size_t>(statistics.positions.size(), static_cast<std::size_t>(n.length));
  for (std::size_t i = 0; i < known; ++i) {
    const model::PositionStatistics& s = statistics.positions[i];
    const bool last = i + 1 == static_cast<std::size_t>(n.length);
    n.of.push_back(&s);
    n.last.push_back(last);
    n.follows.push_back(last ? "" : c.run->tokens.labels[i + 1]);
    n.loss.push_back(last ? kNone : static_cast<float>(loss_of(s)));
    n.probability.push_back(last ? kNone : static_cast<float>(s.next_probability));
    n.rank.push_back(last || s.next_rank < 0 ? kNone : static_cast<float>(s.next_rank + 1));
    if (!last) sum += loss_of(s), ++n.tokens;
    if (std::isfinite(n.loss.back())) highest = std::max(highest, loss_of(s));
    for (std::size_t g = 0; g < kGuesses; ++g) {
      const bool there = g < s.top.size();
      n.guesses[g].push_back(there ? label_of(c, s.top[g].id) : "");
      n.percents[g].push_back(there ? percent(s.top[g].probability) : "");
    }
  }
  n.mean = n.tokens > 0 ? sum / n.tokens : 0;
  n.high = viz::round_limit(highest);
  if (comparing) compare(c, n);
  return n;
}

// ---- the table ----

/// From left to right; the guesses behind them.
enum Column { kPosition, kToken, kFollows, kRank, kProbability, kLoss, kFirstGuess };

viz::TableColumn number_column(const ViewContext& c, std::string heading, std::vector<float> numbers,
                               int decimals, int importance) {
  viz::TableColumn column;
  column.kind = viz::TableColumn::Kind::number;
  column.heading = std::move(heading);
  column.heading_color = c.theme->text_muted;
  column.color = c.theme->text;
  column.numbers = std::move(numbers);
  column.decimals = decimals;
  column.importance = importance;
  return column;
}

viz::TableColumn text_column(const ViewContext& c, std::string heading, std::span<const std::string> texts,
                             int importance) {
  viz::TableColumn column;
  column.heading = std::move(heading);
  column.heading_color = c.theme->text_muted;
  column.color = c.theme->text;
  column.texts = texts;
  column.importance = importance;
  return column;
}

/// Shaded by its probability, framed where it is the token that follows.
viz::TableColumn guess_column(const ViewContext& c, const Numbers& n, std::size_t g) {
  constexpr std::array<const char*, kGuesses> kNames{"1st guess", "2nd", "3rd", "4th", "5th"};
  constexpr double kStrongest = 0.8;
  viz::TableColumn column = text_column(c, kNames[g], n.guesses[g], static_cast<int>(kGuesses - g) - 1);
  column.details = n.percents[g];
  column.frame = c.theme->text;
  for (std::size_t i = 0; i < n.of.size(); ++i) {
    const std::vector<model::Guess>& top = n.of[i]->top;
    const double p = g < top.size() ? std::clamp(top[g].probability, 0.0, 1.0) : 0;
    const double shade = std::isnan(p) ? 0 : 255 * kStrongest * p;
    column.grounds.push_back(c.theme->accent.with_alpha(static_cast<std::uint8_t>(std::lround(shade))));
    column.framed.push_back(n.of[i]->next_rank == static_cast<int>(g));
  }
  return column;
}

/// The table without what its numbers say: enough to know its height.
viz::Table empty_table(const ViewContext& c) {
  viz::Table table;
  table.rows = c.run ? c.run->run->length() : 0;
  table.footer.resize(1);
  return table;
}

void add_columns(viz::Table& table, const ViewContext& c, const Numbers& n) {
  table.columns[kRank] = number_column(c, "rank", n.rank, 0, 6);
  table.columns[kProbability] = number_column(c, "probability", n.probability, 4, 5);
  table.columns[kProbability].scientific_below = 0.001;
  viz::TableColumn& loss = table.columns[kLoss] = number_column(c, "loss, bits", n.loss, 3, 9);
  loss.kind = viz::TableColumn::Kind::bar;
  loss.bar_color = c.theme->accent.with_alpha(170);
  loss.high = n.high;
  loss.axis = true;
  for (const int column : {kRank, kProbability, kLoss})
    table.columns[static_cast<std::size_t>(column)].blank = n.last;
  for (std::size_t g = 0; g < kGuesses; ++g) table.columns.push_back(guess_column(c, n, g));
}

/// From left to right on the side of changes.
enum ChangeColumn { kGuess = kFollows + 1, kGuessBefore, kLossAfter, kLossBefore, kChange, kChangeColumns };

/// What stands in the place of ranks, probabilities, losses and more guesses.
void add_change_columns(viz::Table& table, const ViewContext& c, const Numbers& n) {
  const bool two = compares_different_inputs(*c.run);
  table.columns.resize(kChangeColumns);
  table.columns[kGuess] = guess_column(c, n, 0);
  table.columns[kGuess].heading = two ? "guess" : "guess now";
  table.columns[kGuess].importance = 6;
  viz::TableColumn& guess = table.columns[kGuessBefore] =
      text_column(c, two ? "guess there" : "before", n.guess_before, 7);
  guess.details = n.percent_before;
  table.columns[kLossAfter] = number_column(c, two ? "loss, bits" : "loss now, bits", n.loss, 3, 5);
  table.columns[kLossAfter].blank = n.last;
  table.columns[kLossBefore] = number_column(c, two ? "loss there" : "before", n.loss_before, 3, 4);
  viz::TableColumn& change = table.columns[kChange] =
      number_column(c, difference_name(c) + std::string(", bits"), n.change, 3, 9);
  change.kind = viz::TableColumn::Kind::bar;
  change.bar_color = c.theme->accent.with_alpha(170);
  table.columns[kLossBefore].blank = change.blank = n.incomparable;
}

viz::Table table_of(const ViewContext& c, const Numbers& n) {
  viz::Table table = empty_table(c);
  table.rows = n.count();
  std::vector<float> positions(n.of.size());
  std::iota(positions.begin(), positions.end(), 0.F);
  table.columns.resize(kFirstGuess);
  table.columns[kPosition] = number_column(c, "", std::move(positions), 0, 7);
  table.columns[kPosition].color = c.theme->text_muted;
  table.columns[kToken] = text_column(c, "after", std::span(c.run->tokens.labels).first(n.of.size()), 8);
  table.columns[kFollows] = text_column(c, "follows", n.follows, 10);
  const bool comparing = n.compared != nullptr;
  const int measured = comparing ? int{kChange} : int{kLoss};
  if (comparing) {
    add_change_columns(table, c, n);
  } else {
    add_columns(table, c, n);
  }
  const int tokens = comparing ? n.comparable : n.tokens;
  viz::FixedCell name, mean;
  name.column = kFollows;
  name.text = tokens > 0 ? "mean" : "";
  name.color = mean.color = c.theme->text;
  mean.column = measured;
  mean.text = tokens > 0 ? viz::fixed_number(comparing ? n.mean_change : n.mean, 3) : "";
  table.footer = {{name, mean}};
  if (c.options[kSurprisingFirst]) table.order = {measured};
  table.row_names = c.options[kSurprisingFirst] ? "rows" : "positions";
  table.first_number = c.options[kSurprisingFirst] ? 1 : 0;
  table.marked = c.selection.query;
  table.mark = c.theme->query;
  table.row_role = kRow;
  return table;
}

// ---- the prompt, shaded ----

viz::ColorScale chip_scale(const Numbers& n) {
  if (n.compared) return viz::diverging_scale(n.most_change > 0 ? static_cast<double>(n.most_change) : 1);
  return viz::linear_scale(n.high);
}

viz::ChipFlow chips_of(const ViewContext& c, const Numbers& n) {
  viz::ChipFlow flow;
  flow.role = kChip;
  const viz::ColorTable colors(chip_scale(n), *c.theme);
  const std::vector<float>& shown = n.compared ? n.change : n.loss;
  const viz::Color opposite = c.theme->surface;
  for (int i = 0; i < n.length; ++i) {
    viz::Chip chip;
    chip.label = c.run->tokens.labels[static_cast<std::size_t>(i)];
    chip.break_after = chip.label.ends_with("↵");
    chip.fill = c.theme->surface;
    chip.text = c.theme->text;
    const float value = i > 0 && i <= n.count() ? shown[static_cast<std::size_t>(i) - 1] : kNone;
    if (i > 0 && i <= n.count() && !(n.compared && std::isnan(value))) {
      chip.fill = colors(value);
      chip.text = viz::readable_on(chip.fill, c.theme->text, opposite);
    } else {
      chip.outline = c.theme->line;
    }
    if (i == c.selection.query) chip.outline = c.theme->query;
    flow.chips.push_back(std::move(chip));
  }
  return flow;
}

// ---- both ----

/// The part of the height that the chips may take.
constexpr float kMostChips = 0.3F;

struct Layout {
  viz::Rect area;  ///< of all
  viz::ChipFlow flow;
  std::vector<viz::ChipPlace> places;
  int first_line = 0, shown_lines = 0;  ///< 0: no room
  viz::Rect chips;
  float legend = 0;  ///< middle of its line
  viz::Table table;
  viz::TableLayout rows;
};

float legend_height(const viz::Style& style) {
  return style.line(style.small()) + 3 * style.unit();
}

int lines_of(const std::vector<viz::ChipPlace>& places) {
  return places.empty() ? 0 : places.back().line + 1;
}

/// The first row, so that a position's is in sight.
int first_row_with(const viz::Table& table, int position, int shown) {
  const std::vector<int> order = viz::table_rows(table);
  const auto at = static_cast<int>(std::ranges::find(order, position) - order.begin());
  return first_row_showing(at, shown);
}

/// As the user scrolled, or else so that the query's row is in sight. Who sorts wants to see what comes
/// first.
int first_row(const ViewContext& c, const viz::Table& table, int shown) {
  if (c.options[kFirstPosition] >= 0) return c.options[kFirstPosition];
  if (c.options[kSurprisingFirst]) return 0;
  return first_row_with(table, c.selection.query, shown);
}

Layout lay_out(const ViewContext& c, const Numbers& n) {
  const viz::Style style = style_of(c);
  Layout l;
  l.area = below_title(c);
  l.table = table_of(c, n);
  l.flow = chips_of(c, n);
  l.places = viz::place_chips(l.flow, l.area.w, style);
  const float pitch = viz::chip_line_height(style);
  const bool roomy = l.area.h >= 14 * style.font_size && l.area.w >= 14 * style.font_size;
  if (roomy)
    l.shown_lines =
        std::min(lines_of(l.places), static_cast<int>(std::floor((l.area.h * kMostChips + 0.5F) / pitch)));
  viz::Rect below = l.area;
  if (l.shown_lines > 0) {
    const float h = static_cast<float>(l.shown_lines) * pitch;
    l.chips = {l.area.x, l.area.y, l.area.w, h};
    l.legend = l.chips.bottom() + style.line(style.small()) / 2;
    below.y = l.chips.bottom() + legend_height(style);
    below.h = std::max(0.F, l.area.bottom() - below.y);
  }
  // How many rows there is room for does not depend on which is the first.
  l.rows = viz::lay_out_table(l.table, below, style);
  l.table.first = first_row(c, l.table, static_cast<int>(l.rows.rows.size()));
  l.rows = viz::lay_out_table(l.table, below, style);
  // The chips go with the rows, or where these are not in their order, with the query.
  if (!l.places.empty() && l.shown_lines > 0) {
    const bool in_order = !c.options[kSurprisingFirst] && !l.rows.rows.empty();
    const int anchor = in_order ? l.rows.rows.front() : c.selection.query;
    const int line = l.places[static_cast<std::size_t>(anchor)].line - (in_order ? 0 : l.shown_lines / 2);
    l.first_line = std::clamp(line, 0, lines_of(l.places) - l.shown_lines);
  }
  return l;
}

std::string title_of(const Numbers& n) {
  if (n.compared && n.comparable > 0)
    return "Change of loss " + std::string(n.mean_change < 0 ? "" : "+") +
           viz::fixed_number(n.mean_change, 3) + " bits a token";
  if (n.tokens == 0) return "Predictions";
  return "Perplexity " + viz::number(std::exp2(n.mean), 4);
}

std::string subtitle_of(const ViewContext& c, const Numbers& n, const std::string& note) {
  std::string words = "nothing follows the only token";
  if (n.compared && n.tokens > 0) {
    words = n.comparable == 0 ? "no token follows in both prompts"
                              : difference_words(c) + ", mean of " + grouped(n.comparable) +
                                    (n.comparable == 1 ? " token: " : " tokens: ") +
                                    viz::fixed_number(n.mean_before + n.mean_change, 3) + " − " +
                                    viz::fixed_number(n.mean_before, 3);
  } else if (n.tokens > 0) {
    words = "2^" + viz::fixed_number(n.mean, 3) + ", the mean loss of " + grouped(n.tokens) +
            (n.tokens == 1 ? " token" : " tokens");
  }
  if (!n.whole()) words = "computing… " + grouped(n.count()) + " of " + grouped(n.length) + " positions";
  return words + (note.empty() ? "" : "; ") + note;
}

void paint_legend(Picture& picture, const ViewContext& c, const Numbers& n, const Layout& l, int first,
                  int last) {
  const viz::Style style = style_of(c);
  const float used =
      viz::paint_color_scale_line(picture.scene, chip_scale(n),
                                  (n.compared ? difference_prefix(c) : std::string()) +
                                      (n.compared ? "each token's loss, bits" : "loss of each token, bits"),
                                  {l.area.x, l.legend}, style);
  if (lines_of(l.places) == l.shown_lines) return;
  const std::string note = "tokens " + grouped(first) + "–" + grouped(last) + " of " + grouped(n.length);
  if (used + 4 * style.unit() + style.width(note, style.small()) > l.area.w) return;
  viz::add_label(picture.scene, style, note, {l.area.right(), l.legend}, style.small(), c.theme->text_muted,
                 viz::FontStyle::regular, viz::Align::right);
}

Picture build(const ViewContext& c) {
  const std::optional<Numbers> numbers = numbers_of(c);
  if (auto words = waiting(c, StatisticsOfTokens{}, numbers.has_value())) return *words;
  const Numbers& n = *numbers;
  const Layout l = lay_out(c, n);
  if (l.rows.places.size() < 2 || l.rows.rows.empty()) return too_small(c, "for the table");
  const viz::Style style = style_of(c);
  Picture picture = blank(c);
  paint_title(picture, c, title_of(n), subtitle_of(c, n, l.rows.note));
  // What scrolls and columns that give way make no lesser figure of it: the title says what shows.
  const bool whole = picture.whole;
  if (l.shown_lines > 0) {
    viz::paint_chips(picture, l.flow, l.places, l.first_line, l.chips, style);
    paint_legend(picture, c, n, l, picture.regions.front().id, picture.regions.back().id);
  }
  viz::paint_table(picture, l.table, l.rows, style);
  picture.whole = whole;
  return picture;
}

// ---- words ----

/// "“·the” 38.1 %"
std::string guess_words(const ViewContext& c, const model::Guess& guess) {
  return "“" + label_of(c, guess.id) + "” " + percent(guess.probability);
}

/// What was thought of the token that follows a position.
void add_loss_lines(std::vector<std::string>& lines, const ViewContext& c,
                    const model::PositionStatistics& s) {
  if (s.next_rank >= 0)
    lines.push_back("guess " + grouped(s.next_rank + 1) + " of " + grouped(c.run->run->config.vocab_size));
  lines.push_back("probability " + plain(s.next_probability));
  lines.push_back("loss −log₂ p = " + viz::number(loss_of(s), 5) + " bits");
}

std::string guesses_words(const ViewContext& c, const model::PositionStatistics& s) {
  std::string words;
  for (const model::Guess& guess : s.top) words += (words.empty() ? "" : ", ") + guess_words(c, guess);
  return words;
}

void add_change_lines(std::vector<std::string>& lines, const ViewContext& c, const Numbers& n,
                      std::size_t at) {
  if (std::isnan(n.change[at])) {
    if (!compares_different_inputs(*c.run)) return;
    const std::string where = " in the " + second_name(*c.run);
    lines.push_back((n.before[at] == nullptr ? "nothing stands for this token" : "another token follows") +
                    where);
    return;
  }
  lines.push_back("loss before " + viz::number(static_cast<double>(n.loss_before[at]), 5) + " bits, " +
                  difference_name(c) + " " + viz::number(static_cast<double>(n.change[at]), 5));
}

Hover hover(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  const std::optional<Numbers> numbers = numbers_of(c);
  Hover result;
  if (!numbers || region.id >= c.run->run->length()) return result;
  const PromptTokens& tokens = c.run->tokens;
  const bool chip = region.role == kChip;
  result.overlay.add(viz::StrokeRect{region.rect.inset(0.5F), c.theme->text, 1, style_of(c).unit()});
  result.lines = {(chip ? "" : "after ") + token_name(tokens, region.id)};
  const int before = chip ? region.id - 1 : region.id;  // who guessed
  if (before < 0) {
    result.lines.emplace_back("the first token: nothing guesses it");
  } else if (before >= numbers->count()) {
    result.lines.emplace_back(kComputing);
  } else {
    const model::PositionStatistics& s = *numbers->of[static_cast<std::size_t>(before)];
    const bool last = before + 1 == c.run->run->length();
    if (!chip && !last) result.lines.push_back("follows: " + token_name(tokens, before + 1));
    if (!last) add_loss_lines(result.lines, c, s);
    if (numbers->compared) add_change_lines(result.lines, c, *numbers, static_cast<std::size_t>(before));
    result.lines.push_back("guesses: " + guesses_words(c, s));
    if (numbers->compared && numbers->before[static_cast<std::size_t>(before)])
      result.lines.push_back(
          (compares_different_inputs(*c.run) ? "in the " + second_name(*c.run) + ": " : "before: ") +
          guesses_words(c, *numbers->before[static_cast<std::size_t>(before)]));
  }
  result.status = result.lines[0];
  for (std::size_t i = 1; i < std::min<std::size_t>(result.lines.size(), 5); ++i)
    result.status += "   " + result.lines[i];
  return result;
}

/// Full precision; the loss in bits.
Table table(const ViewContext& c) {
  Table result;
  const std::optional<Numbers> numbers = numbers_of(c);
  if (!numbers) return result;
  const Statistics* statistics = numbers->statistics.get();
  result.header = {"position", "id", "token", "next id", "next token", "rank", "probability", "loss"};
  for (std::size_t g = 1; g <= kGuesses; ++g)
    for (const char* what : {"id", "token", "probability"})
      result.header.push_back("guess " + std::to_string(g) + " " + what);
  if (numbers->compared)
    result.header.insert(result.header.end(), {"compared loss", difference_prefix(c) + std::string("loss")});
  const PromptTokens& tokens = c.run->tokens;
  for (std::size_t i = 0; i < statistics->positions.size(); ++i) {
    const model::PositionStatistics& s = statistics->positions[i];
    std::vector<std::string> row{std::to_string(i), std::to_string(tokens.tokens[i].id), tokens.labels[i]};
    if (static_cast<int>(i) + 1 < c.run->run->length()) {
      row.insert(row.end(), {std::to_string(tokens.tokens[i + 1].id), tokens.labels[i + 1],
                             s.next_rank >= 0 ? std::to_string(s.next_rank + 1) : "nan",
                             plain(s.next_probability), plain(loss_of(s))});
    }
    row.resize(8);
    for (const model::Guess& guess : s.top) {
      row.push_back(std::to_string(guess.id));
      row.push_back(label_of(c, guess.id));
      row.push_back(plain(guess.probability));
    }
    if (numbers->compared && !numbers->incomparable[i]) {
      row.resize(result.header.size() - 2);
      row.insert(row.end(),
                 {plain(loss_of(*numbers->before[i])), plain(loss_of(s) - loss_of(*numbers->before[i]))});
    }
    row.resize(result.header.size());
    result.rows.push_back(std::move(row));
  }
  return result;
}

// ---- gestures ----

TableRows rows_of(const ViewContext& c, const Picture& picture) {
  const std::optional<Numbers> n = numbers_of(c);
  if (!n) return {};
  return table_rows_of(picture, kRow, n->count(), lay_out(c, *n).table.first, kFirstPosition);
}

SetOption bring(const ViewContext& c, const TableRows& rows, int position) {
  const std::optional<Numbers> n = numbers_of(c);
  return rows.from(n ? first_row_with(table_of(c, *n), position, rows.shown) : 0);
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (!c.run) return {};
  const TableRows rows = rows_of(c, picture);
  if (gesture.kind == Gesture::Kind::key)
    return rows.by_key(gesture.key).value_or(keys_along_prompt(c, gesture));
  if (gesture.kind == Gesture::Kind::wheel) return rows.by_wheel(gesture);
  if (gesture.kind != Gesture::Kind::click || !hit) return {};
  const viz::Region& region = region_of(picture, *hit);
  if (region.id >= c.run->run->length()) return {};
  if (rows.shown == 0) return {SelectQuery{region.id}};
  // Nothing moves under the mouse; a chip's row comes into sight.
  return {SelectQuery{region.id}, region.role == kRow ? rows.from(rows.first) : bring(c, rows, region.id)};
}

std::vector<MenuLine> menu(const ViewContext& c, const Picture& picture, const viz::Hit* hit) {
  std::vector<MenuLine> lines;
  const auto statistics = c.run ? c.ask(StatisticsOfTokens{}) : nullptr;
  if (!hit || !statistics) return lines;
  const int position = region_of(picture, *hit).id;
  if (position >= c.run->run->length()) return lines;
  lines.push_back(choose_query(c, position));
  if (position >= std::ssize(statistics->positions)) return lines;
  const model::PositionStatistics& s = statistics->positions[static_cast<std::size_t>(position)];
  const bool last = position + 1 == c.run->tokens.length();
  for (const model::Guess& guess : s.top)
    lines.push_back({"Continue with " + guess_words(c, guess),
                     {AppendToken{guess.id, last ? -1 : position, guess.probability, c.run}}});
  if (position + 1 < c.run->run->length()) {
    const std::string loss = plain(loss_of(s));
    lines.push_back({"Copy loss " + loss, {CopyText{loss}}});
  }
  return lines;
}

std::vector<Scroll> scrolls(const ViewContext& c, const Picture& picture) {
  return rows_of(c, picture).bars(c.width - kScrollBar * c.font_size);
}

float whole_height(const ViewContext& c) {
  if (!c.run) return c.height;
  const viz::Style style = style_of(c);
  const viz::Rect area = below_title(c);
  Numbers none;
  none.length = c.run->run->length();
  const auto places = viz::place_chips(chips_of(c, none), area.w, style);
  const float chips = static_cast<float>(lines_of(places)) * viz::chip_line_height(style);
  const float all = chips + legend_height(style) + viz::table_height(empty_table(c), style);
  return area.y + std::max({all, chips / kMostChips, 14 * style.font_size}) + margin(c) + 1;
}

}  // namespace

View predictions_view() {
  View view;
  view.id = "predictions";
  view.title = "Predictions";
  view.help = "what the model guessed at every position, and how much the token that follows surprised it";
  view.group = Group::output;
  view.part = Part::unembedding;
  view.options = {&kSurprisingFirst, &kFirstPosition};
  view.on = on;
  view.menu = menu;
  view.scrolls = scrolls;
  view.build = build;
  view.hover = hover;
  view.table = table;
  view.shows_difference = true;
  view.whole_height = whole_height;
  view.caption = {true, false, false};
  return view;
}

}  // namespace headscope::app
