#include <array>
#include <iterator>
#include <numbers>

#include "app/views/output/continuation.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace predictions {

enum Role { kRow, kChip };  // Region::id: position

const auto kSurprisingFirst =
    switch_option("surprising-first", "Most surprising first", "oO", "sort positions by loss, highest first");
/// -1: such that the query's row is visible, or if sorted, the most surprising one.
const auto kFirstPosition = first_row_option("first-position", true, -1);

constexpr std::size_t kGuesses = 5;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// −log2 of the probability of the token that follows; NaN if none does.
double loss_of(const model::PositionStatistics& s) {
  return (s.log_sum_exp - static_cast<double>(s.next_logit)) / std::numbers::ln2;
}

/// The numbers of the table and the chips, for the positions known so far.
struct Numbers {
  std::shared_ptr<const Statistics> statistics;
  bool is_difference = false;                        ///< on the difference side
  std::vector<const model::PositionStatistics*> of;  ///< by position
  std::vector<double> loss;                          ///< bits; NaN where no token follows
  int length = 0;                                    ///< length of the run
  int tokens = 0;                                    ///< number of tokens with a loss
  double mean = 0;                                   ///< bits
  double high = 1;                                   ///< end of the losses' axis

  // On the difference side; for all positions, or empty.
  std::vector<const model::PositionStatistics*> before;  ///< null: the position has no counterpart
  std::vector<double> loss_before, difference;           ///< NaN unless the same token follows in both
  std::vector<char> comparable_at;                       ///< whether these are numbers
  int comparable = 0;                                    ///< tokens
  double mean_difference = 0, mean_before = 0;           ///< means over comparable tokens, bits
  float largest_difference = 0;                          ///< magnitude
  bool whole() const { return std::ssize(of) == length; }
  int count() const { return static_cast<int>(of.size()); }
};

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
    const auto& there = n.statistics->before[at];
    const model::PositionStatistics* s = there ? &*there : nullptr;
    const bool comparable = s != nullptr && same_token_follows(c, i);
    n.before.push_back(s);
    n.loss_before.push_back(comparable ? loss_of(*s) : kNone);
    n.difference.push_back(comparable ? loss_of(*n.of[at]) - loss_of(*s) : kNone);
    n.comparable_at.push_back(comparable);
    if (!comparable) continue;
    ++n.comparable;
    before += loss_of(*s);
    n.mean_difference += n.difference.back();
    const auto difference = static_cast<float>(n.difference.back());
    if (std::isfinite(difference))
      n.largest_difference = std::max(n.largest_difference, std::abs(difference));
  }
  if (n.comparable == 0) return;
  n.mean_difference /= n.comparable;
  n.mean_before = before / n.comparable;
}

Numbers numbers_of(const ViewContext& c, std::shared_ptr<const Statistics> answer) {
  Numbers n;
  const Statistics& statistics = *answer;
  n.statistics = std::move(answer);
  n.is_difference = c.side == Side::difference;
  n.length = c.run->run->length();
  double sum = 0, highest = 0;
  const auto known = std::min<std::size_t>(statistics.positions.size(), static_cast<std::size_t>(n.length));
  for (std::size_t i = 0; i < known; ++i) {
    const model::PositionStatistics& s = statistics.positions[i];
    const bool last = i + 1 == static_cast<std::size_t>(n.length);
    n.of.push_back(&s);
    n.loss.push_back(last ? kNone : loss_of(s));
    if (!last) sum += loss_of(s), ++n.tokens;
    if (std::isfinite(static_cast<float>(n.loss.back()))) highest = std::max(highest, loss_of(s));
  }
  n.mean = n.tokens > 0 ? sum / n.tokens : 0;
  n.high = viz::round_limit(highest);
  if (n.is_difference) compare(c, n);
  return n;
}

const ListRows kRows{.role = kRow, .first = kFirstPosition, .names = "positions", .runs_on = true};

/// Shades the cells of guess `g` by probability, and frames it where its token follows. Null: no guesses.
void mark_guesses(ListColumn& column, const ViewContext& c,
                  std::span<const model::PositionStatistics* const> positions, std::size_t g) {
  constexpr double kStrongest = 0.8;
  column.frame = c.theme->text;
  for (const model::PositionStatistics* s : positions) {
    const bool known = s != nullptr && g < s->top.size();
    const double p = known ? std::clamp(s->top[g].probability, 0.0, 1.0) : 0;
    const double shade = std::isnan(p) ? 0 : 255 * kStrongest * p;
    column.grounds.push_back(c.theme->bar.with_alpha(static_cast<std::uint8_t>(std::lround(shade))));
    column.framed.push_back(known && s->next_rank == static_cast<int>(g));
  }
}

/// Adds a column of guesses, shaded by probability and framed if the token follows.
void add_guess(List& list, const ViewContext& c, const Numbers& n, std::size_t g, std::string heading,
               int importance) {
  const auto guess = [&n, g](int position) -> const model::Guess* {
    const std::vector<model::Guess>& top = n.of[position]->top;
    return g < top.size() ? &top[g] : nullptr;
  };
  const auto words = [guess](const auto& of) {
    return [guess, of](int position) { return guess(position) ? of(*guess(position)) : std::string(); };
  };
  const auto number = [guess](auto model::Guess::*of) {
    return [guess, of](int position) {
      const model::Guess* one = guess(position);
      return one ? std::optional(one->*of) : std::nullopt;
    };
  };
  const auto label = words([&c](const model::Guess& one) { return label_of(c, one.id); });
  const std::string name = "guess " + std::to_string(g + 1) + " ";
  list.file(note_column(name + "id"), number(&model::Guess::id));
  ListColumn& column =
      list.text(std::move(heading), importance, label, {.file = note_column(name + "token")});
  list.file(name + "logit", number(&model::Guess::logit));
  list.file(name + "probability", number(&model::Guess::probability));
  column.pictured = !n.is_difference || g == 0;
  column.detail = words([](const model::Guess& one) { return percent(one.probability); });
  mark_guesses(column, c, n.of, g);
}

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  constexpr std::array<const char*, kGuesses> kNames{"1st guess", "2nd", "3rd", "4th", "5th"};
  const bool is_difference = n.is_difference, two = is_difference && compares_different_inputs(*c.run);
  const PromptTokens& tokens = c.run->tokens;
  const auto at = [&n](int i) -> const model::PositionStatistics& { return *n.of[i]; };
  const auto id = [&tokens](int i) { return tokens.tokens[i].id; };
  const auto last = [&n](int i) { return i + 1 == n.length; };
  const auto incomparable = [&n](int i) { return !n.comparable_at[i]; };
  const auto unless_last = [last](const auto& cell) {
    return [last, cell](int i) { return last(i) ? std::nullopt : std::optional(cell(i)); };
  };
  const auto label = [&tokens](int i) { return tokens.labels[i]; };
  auto made = std::make_unique<List>(c, kRows, n.count());
  List& list = *made;
  list.refers_to = [](int i) { return Ref{.query = i}; };
  list.number("", 7, [](int i) { return i; },
              {.file = key_column("position"), .color = c.theme->text_muted, .digits = 0});
  list.file(note_column("id"), id);
  list.text("after", 8, label, {.file = note_column("token")});
  list.file("log_sum_exp", [at](int i) { return at(i).log_sum_exp; });
  list.file(note_column("next id"), unless_last([id](int i) { return id(i + 1); }));
  list.text("follows", 10, [&tokens, last](int i) { return last(i) ? std::string() : tokens.labels[i + 1]; },
            {.file = note_column("next token")});
  const int follows = list.last();
  const auto rank = [at, last](int i) {
    return last(i) || at(i).next_rank < 0 ? kNone : static_cast<double>(at(i).next_rank + 1);
  };
  ListColumn& ranks = list.number("rank", 6, rank, {.file = "rank", .digits = 0, .blank = last});
  list.file("logit", unless_last([at](int i) { return at(i).next_logit; }));
  ListColumn& probability =
      list.number("probability", 5, [at, last](int i) { return last(i) ? kNone : at(i).next_probability; },
                  {.file = "probability", .digits = 4, .scientific = 0.001, .blank = last});
  ListColumn& loss =
      list.bar("loss, bits", 9, n.loss,
               {.file = Column("loss", "bits"), .digits = 3, .high = n.high, .axis = true, .blank = last});
  int measured = list.last();
  for (ListColumn* column : {&ranks, &probability, &loss}) column->pictured = !is_difference;
  for (std::size_t g = 0; g < kGuesses; ++g)
    add_guess(list, c, n, g,
              !is_difference ? kNames[g]
              : two          ? "guess"
                             : "guess now",
              is_difference ? 8 : static_cast<int>(kGuesses - g) - 1);
  if (is_difference) {
    const auto guess_before = [&n](const auto& words) {
      return [&n, words](int i) {
        const model::PositionStatistics* s = n.before[i];
        return s == nullptr || s->top.empty() ? std::string() : words(s->top.front());
      };
    };
    ListColumn& before =
        list.text(two ? "guess there" : "guess before", 7,
                  guess_before([&c](const model::Guess& one) { return label_of(c, one.id); }));
    before.detail = guess_before([](const model::Guess& one) { return percent(one.probability); });
    mark_guesses(before, c, n.before, 0);
    list.number(two ? "loss, bits" : "loss now, bits", 5, n.loss, {.digits = 3, .blank = last});
    list.number(two ? "loss there" : "loss before", 4, n.loss_before,
                {.file = Column("compared loss", "bits"), .digits = 3, .blank = incomparable});
    list.bar(
        "difference, bits", 9, n.difference,
        {.file = Column(difference_column_prefix(c) + "loss", "bits"), .digits = 3, .blank = incomparable});
    measured = list.last();
  }
  const bool any = (is_difference ? n.comparable : n.tokens) > 0, sorted = c.options[kSurprisingFirst];
  list.table.footer = {
      {list.cell(follows, any ? "mean" : ""),
       list.cell(measured, any ? viz::fixed_number(is_difference ? n.mean_difference : n.mean, 3) : "")}};
  if (sorted) list.order_by(is_difference ? n.difference : n.loss);
  if (sorted) list.table.row_names = "rows";
  list.table.first_number = sorted ? 1 : 0;
  list.table.marked = c.selection.query;
  if (!sorted) list.kept = c.selection.query;
  list.table.mark = c.theme->query;
  return made;
}

std::string title_of(const Numbers& n) {
  if (n.is_difference && n.comparable > 0)
    return "Loss difference " + std::string(n.mean_difference < 0 ? "" : "+") +
           viz::fixed_number(n.mean_difference, 3) + " bits per token" +
           (n.comparable < n.tokens ? ", " + grouped(n.comparable) + " of " + grouped(n.tokens) : "");
  if (n.tokens == 0) return "Predictions";
  return "Perplexity " + viz::number(std::exp2(n.mean), 4);
}

std::string subtitle_of(const Numbers& n) {
  if (!n.whole()) return "computing… " + grouped(n.count()) + " of " + grouped(n.length) + " positions";
  if ((n.is_difference ? n.comparable : n.tokens) == 0) return "no token follows";
  const std::string mean = viz::fixed_number(n.is_difference ? n.mean_before + n.mean_difference : n.mean, 3);
  return "mean loss " + mean + (n.is_difference ? " − " + viz::fixed_number(n.mean_before, 3) : "") +
         " bits; " + counted(n.tokens, "token");
}

std::string guesses_words(const ViewContext& c, const model::PositionStatistics& s) {
  std::string words;
  for (const model::Guess& guess : s.top) words += (words.empty() ? "" : ", ") + guess_words(c, guess);
  return words;
}

/// What is said of the prediction after a position besides its numbers.
std::vector<std::string> lines_at(const ViewContext& c, const Numbers& n, int position) {
  const model::PositionStatistics& s = *n.of[position];
  const bool two = n.is_difference && compares_different_inputs(*c.run);
  const std::string there = two ? "in the " + second_name(*c.run) : "before";
  const auto bits = [](double loss) { return viz::number(static_cast<double>(static_cast<float>(loss)), 5); };
  std::vector<std::string> lines;
  const model::PositionStatistics* before = n.is_difference ? n.before[position] : nullptr;
  if (n.is_difference && !std::isnan(n.difference[position]))
    lines.push_back("loss " + there + " " + bits(n.loss_before[position]) + " bits, difference " +
                    bits(n.difference[position]));
  else if (two)
    lines.push_back((before ? "another token follows " : "no counterpart ") + there);
  lines.push_back("guesses: " + guesses_words(c, s));
  if (before) lines.push_back(there + ": " + guesses_words(c, *before));
  return lines;
}

Table table(const List& list, const Numbers& n) {
  Table result = list.exported();
  if (n.is_difference && n.comparable > 0) {
    result.fact("mean difference of loss", n.mean_difference, "bits");
    result.fact("compared mean loss", n.mean_before, "bits");
    result.fact("compared tokens", n.comparable);
  }
  if (!n.is_difference && n.tokens > 0) {
    result.fact("mean loss", n.mean, "bits");
    result.fact("perplexity", std::exp2(n.mean));
  }
  return result;
}

/// The guesses after a position, to continue with.
void add_guesses(Facts& facts, const ViewContext& c, const Numbers& n, int position) {
  if (position >= n.count()) return;
  const int after = position + 1 == n.length ? -1 : position;
  for (const model::Guess& guess : n.of[position]->top)
    facts.commands.push_back(
        {"Continue with " + guess_words(c, guess), {AppendToken{guess.id, after, guess.probability, c.run}}});
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto statistics = it.need(StatisticsOfTokens{});
  if (!statistics) return;
  const Numbers& n = it.keep(numbers_of(c, statistics));
  it.title = title_of(n), it.subtitle = subtitle_of(n), it.says_difference = true;

  auto list = list_of(c, n);
  list->row_facts = [&](Facts& facts, int i) {
    if (i + 1 < n.length) facts.say("follows: " + token_name(c.run->tokens, i + 1));
    facts.say(lines_at(c, n, i), 2);
    add_guesses(facts, c, n, i);
  };
  // A token's colour is the loss of the position before it.
  std::vector<float> losses{std::numeric_limits<float>::quiet_NaN()};
  for (const double loss : n.is_difference ? n.difference : n.loss)
    losses.push_back(static_cast<float>(loss));
  auto prompt = std::make_unique<ShadedPrompt>(
      c, kChip, losses,
      n.is_difference ? scale_of_differences(static_cast<double>(n.largest_difference))
                      : viz::linear_scale(n.high),
      difference_prefix(c) + std::string("loss of each token, bits"));
  prompt->chosen = c.selection.query;
  prompt->list = list.get();
  prompt->token_facts = [&](Facts& facts, int i) {
    if (i == 0) facts.say("the first token is not predicted");
    if (i > n.count()) facts.say(kComputing);
    if (i == 0 || i > n.count()) return;
    const model::PositionStatistics& before = *n.of[i - 1];
    if (before.next_rank >= 0)
      facts.say("guess " + grouped(before.next_rank + 1) + " of " + grouped(c.run->run->config.vocab_size));
    facts.number("probability", before.next_probability);
    facts.said.push_back({"loss", exact(loss_of(before)), "bits", plain(loss_of(before))});
    facts.say(lines_at(c, n, i - 1));
    add_guesses(facts, c, n, i);
  };
  it.table = [&n, &rows = *list] { return table(rows, n); };
  it.body = rows(boxes(may_be_left_out(std::move(prompt), "the prompt"), std::move(list)));
}

}  // namespace predictions

View predictions_view() {
  using namespace predictions;
  View view = make_view(
      Group::output, "predictions", "Predictions",
      "the next token that the model predicts at every position, and its loss on the one that follows",
      declare);
  view.part = Part::unembedding;
  view.options = {&kSurprisingFirst, &kFirstPosition};
  view.has_list = true;
  view.shows_difference = true;
  view.caption = {true, false, false};
  view.landmarks = {landmark("positions", kRow), query_landmark("position", kRow),
                    landmark("shaded tokens", kChip)};
  return view;
}

}  // namespace headscope::app
