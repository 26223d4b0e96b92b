#include <array>
#include <iterator>
#include <numbers>

#include "app/views/output/continuation.h"
#include "app/views/parts/parts.h"

namespace headscope::app::predictions {

enum Role { kRow, kChip };  // Region::id: position

const auto kSurprisingFirst =
    switch_option("surprising-first", "Most surprising first", "oO", "sort positions by loss, highest first");
/// -1: such that the query's row is visible, or if sorted, the most surprising one.

constexpr std::size_t kGuesses = 5;

/// −log2 of the probability of the token that follows; NaN if none does.
double loss_of(const model::PositionStatistics& s) {
  return (s.log_sum_exp - static_cast<double>(s.next_logit)) / std::numbers::ln2;
}

/// The mean of the numbers that are there, and how many these are.
struct Mean {
  double value = 0;
  int count = 0;
  explicit Mean(const std::vector<double>& numbers) {
    for (const double number : numbers)
      if (!is_no_number(number)) value += number, ++count;
    if (count > 0) value /= count;
  }
};

/// The numbers of the table and the chips, for the positions known so far. Losses are in bits, and not there
/// where no token follows, or in comparisons not the same one.
struct Numbers {
  std::shared_ptr<const Statistics> statistics;
  bool is_difference = false;                         ///< on the difference side
  int length = 0;                                     ///< of the run
  std::vector<double> loss, before, difference = {};  ///< by position

  int count() const { return static_cast<int>(loss.size()); }
  const model::PositionStatistics& at(int position) const { return statistics->positions[position]; }
  /// In the baseline; null: the position has no counterpart.
  const model::PositionStatistics* before_at(int position) const {
    const auto& there = statistics->before[position];
    return there ? &*there : nullptr;
  }
  const std::vector<double>& shown() const { return is_difference ? difference : loss; }
};

Numbers numbers_of(const ViewContext& c, const std::shared_ptr<const Statistics>& answer) {
  Numbers n{answer, c.differs(), c.run->run->length(), {}, {}};
  const auto follows = [](const PromptRun& run, int position) {
    return position + 1 < run.run->length() ? run.run->tokens[position + 1] : -1;
  };
  for (int i = 0; i < std::ssize(answer->positions); ++i) {
    const int next = follows(*c.run, i);
    n.loss.push_back(next < 0 ? no_number() : loss_of(n.at(i)));
    if (!n.is_difference) continue;
    const model::PositionStatistics* there = n.before_at(i);
    const bool same = next >= 0 && there != nullptr && follows(*c.run->baseline, c.run->aligned[i]) == next;
    n.before.push_back(same ? loss_of(*there) : no_number());
    n.difference.push_back(same ? n.loss.back() - n.before.back() : no_number());
  }
  return n;
}

/// The end of their axis.
double end_of_losses(const Numbers& n) {
  const std::vector<float> losses(n.loss.begin(), n.loss.end());
  return viz::round_limit(static_cast<double>(viz::value_range(viz::Matrix::row(losses)).high));
}

const ListRows kRows{.role = kRow,
                     .first = first_row_option("first-position", true, -1),
                     .names = "positions",
                     .cut_keeps_order = true,
                     .first_number = 0};

using StatisticsAt = std::function<const model::PositionStatistics*(int row)>;

/// Adds a column of guesses of rank `g`, shaded by probability and framed if the token follows, and with a
/// `name` also in files.
ListColumn& add_guess(List& list, const ViewContext& c, const StatisticsAt& at, std::size_t g,
                      std::string heading, int importance, const std::string& name) {
  constexpr double kStrongest = 0.8;
  const auto guess = [at, g](int row) -> const model::Guess* {
    const model::PositionStatistics* s = at(row);
    return s != nullptr && g < s->top.size() ? &s->top[g] : nullptr;
  };
  const auto words = [guess](const auto& of) {
    return [guess, of](int row) { return guess(row) ? of(*guess(row)) : std::string(); };
  };
  const auto add_file = [&](Column column, auto model::Guess::*of) {
    if (name.empty()) return;
    list.file(std::move(column), [guess, of](int row) {
      const model::Guess* one = guess(row);
      return one ? std::optional(one->*of) : std::nullopt;
    });
  };
  add_file(note_column(name + " id"), &model::Guess::id);
  ListLook look{.least = 6.5F * c.font_size};
  if (!name.empty()) look.file = note_column(name + " token");
  ListColumn& column = list.text(std::move(heading), importance,
                                 words([&c](const model::Guess& one) { return label_of(c, one.id); }), look);
  add_file(name + " logit", &model::Guess::logit);
  add_file(name + " probability", &model::Guess::probability);
  column.detail = words([](const model::Guess& one) { return percent(one.probability); });
  column.frame = c.theme->text;
  for (int row = 0; row < list.table.rows; ++row) {
    const model::Guess* one = guess(row);
    const double p = one == nullptr ? 0 : std::clamp(one->probability, 0.0, 1.0);
    const double shade = std::isnan(p) ? 0 : 255 * kStrongest * p;
    column.grounds.push_back(c.theme->bar.with_alpha(static_cast<std::uint8_t>(std::lround(shade))));
    column.framed.push_back(one != nullptr && at(row)->next_rank == static_cast<int>(g));
  }
  return column;
}

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  constexpr std::array<const char*, kGuesses> kNames{"1st guess", "2nd", "3rd", "4th", "5th"};
  const bool is_difference = n.is_difference, two = is_difference && compares_different_inputs(*c.run);
  const PromptTokens& tokens = c.run->tokens;
  const auto at = [&n](int i) { return &n.at(i); };
  const auto id = [&tokens](int i) { return tokens.tokens[i].id; };
  const auto last = [&n](int i) { return i + 1 == n.length; };
  const auto unless_last = [last](const auto& cell) {
    return [last, cell](int i) { return last(i) ? std::nullopt : std::optional(cell(i)); };
  };
  const auto missing = [](const std::vector<double>& numbers) {
    return [&numbers](int i) { return is_no_number(numbers[i]); };
  };
  auto list = std::make_unique<List>(c, kRows, n.count());
  list->refers_to = [](int i) { return Ref{.query = i}; };
  list->number("", 7, [](int i) { return i; },
               {.file = key_column("position"), .color = c.theme->text_muted, .digits = 0});
  list->file(note_column("id"), id);
  list->text("after", 8, tokens.labels, {.file = note_column("token")});
  list->file("log_sum_exp", [at](int i) { return at(i)->log_sum_exp; });
  list->file(note_column("next id"), unless_last([id](int i) { return id(i + 1); }));
  list->text("follows", 10, [&tokens, last](int i) { return last(i) ? std::string() : tokens.labels[i + 1]; },
             {.file = note_column("next token")});
  const int follows = list->last();
  ListColumn& ranks = list->number("rank", 6, [at](int i) { return rank_cell(at(i)->next_rank); },
                                   {.file = "rank", .digits = 0, .blank = last});
  list->file("logit", unless_last([at](int i) { return at(i)->next_logit; }));
  ListColumn& probability =
      list->number("probability", 5, [at](int i) { return at(i)->next_probability; },
                   {.file = "probability", .digits = 4, .scientific = 0.001, .blank = last});
  ListColumn& loss = list->bar("loss, bits", 9, n.loss,
                               {.file = Column("loss", "bits"),
                                .digits = 3,
                                .high = end_of_losses(n),
                                .axis = true,
                                .blank = missing(n.loss)});
  int measured = list->last();
  for (ListColumn* column : {&ranks, &probability, &loss}) column->hidden = is_difference;
  const int first_guess = list->last() + 2;  // after its id, which only files have
  for (std::size_t g = 0; g < kGuesses; ++g) {
    const char* heading = !is_difference ? kNames[g] : two ? "guess" : "guess now";
    const int importance = is_difference ? 8 : std::max(1, static_cast<int>(kGuesses - g) - 1);
    add_guess(*list, c, at, g, heading, importance, "guess " + std::to_string(g + 1)).hidden =
        is_difference && g > 0;
  }
  if (is_difference) {
    add_guess(
        *list, c, [&n](int i) { return n.before_at(i); }, 0, two ? "second: guess" : "guess before", 7, "");
    list->number(two ? "loss, bits" : "loss now, bits", 5, n.loss, {.digits = 3, .blank = missing(n.loss)});
    list->number(two ? "second: loss" : "loss before", 4, n.before,
                 {.file = Column("compared loss", "bits"), .digits = 3, .blank = missing(n.before)});
    list->bar("difference, bits", 9, n.difference,
              {.file = Column(difference_column_prefix(c) + "loss", "bits"),
               .digits = 3,
               .blank = missing(n.difference)});
    measured = list->last();
  }
  viz::FixedRow& footer = list->table.footer.emplace_back(1, list->cell(first_guess, "framed: follows"));
  footer.back().color = c.theme->text_muted;
  if (const Mean mean(n.shown()); mean.count > 0) {
    footer.push_back(list->cell(follows, "mean"));
    footer.push_back(list->cell(measured, viz::fixed_number(mean.value, 3)));
  }
  std::ranges::sort(footer, {}, &viz::FixedCell::column);
  if (c.options[kSurprisingFirst]) list->order_by(n.shown());
  list->table.marked = c.selection.query, list->table.mark = c.theme->query;
  list->kept = c.options[kSurprisingFirst] ? -1 : c.selection.query;
  return list;
}

std::string title_of(const Numbers& n) {
  const Mean mean(n.shown()), all(n.loss);
  if (mean.count == 0) return "Predictions";
  if (!n.is_difference) return "Perplexity " + viz::number(std::exp2(mean.value), 4);
  return "Loss difference " + std::string(mean.value < 0 ? "" : "+") + viz::fixed_number(mean.value, 3) +
         " bits per token" +
         (mean.count < all.count ? ", " + grouped(mean.count) + " of " + grouped(all.count) : "");
}

std::string subtitle_of(const Numbers& n) {
  const Mean mean(n.shown()), before(n.before), all(n.loss);
  if (n.count() < n.length)
    return "computing… " + grouped(n.count()) + " of " + grouped(n.length) + " positions";
  if (mean.count == 0) return all.count == 0 ? "no token follows" : "the same token follows nowhere";
  return "mean loss " + viz::fixed_number(mean.value + before.value, 3) +
         (n.is_difference ? " − " + viz::fixed_number(before.value, 3) : "") + " bits; " +
         counted(mean.count, "token") + (mean.count < all.count ? " that follow in both" : "");
}

std::string guesses_words(const ViewContext& c, const model::PositionStatistics& s) {
  std::string words;
  for (const model::Guess& guess : s.top) words += (words.empty() ? "" : ", ") + guess_words(c, guess);
  return words;
}

/// What is said of the prediction after a position besides its numbers, and its guesses, to continue with.
void say_prediction(Facts& facts, const ViewContext& c, const Numbers& n, int position) {
  const model::PositionStatistics& s = n.at(position);
  const bool two = n.is_difference && compares_different_inputs(*c.run);
  const std::string there = two ? "in the " + second_name(*c.run) : "before";
  const model::PositionStatistics* before = n.is_difference ? n.before_at(position) : nullptr;
  if (two && is_no_number(n.difference[position]))
    facts.say((before ? "another token follows " : "no counterpart ") + there);
  facts.tip("guesses: " + guesses_words(c, s));
  if (before) facts.tip(there + ": " + guesses_words(c, *before));
  const int after = position + 1 == n.length ? -1 : position;
  for (const model::Guess& guess : s.top)
    facts.commands.push_back(
        {"Continue with " + guess_words(c, guess), {AppendToken{guess.id, after, guess.probability, c.run}}});
}

Table table(const List& list, const Numbers& n) {
  Table result = list.exported();
  const Mean mean(n.shown());
  if (mean.count == 0) return result;
  result.fact(n.is_difference ? "mean difference of loss" : "mean loss", mean.value, "bits");
  if (n.is_difference) {
    result.fact("compared mean loss", Mean(n.before).value, "bits");
    result.fact("compared tokens", mean.count);
  } else {
    result.fact("perplexity", std::exp2(mean.value));
  }
  return result;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto statistics = it.need(StatisticsOfTokens{});
  if (!statistics) return;
  const Numbers& n = it.keep(numbers_of(c, statistics));
  it.title = title_of(n), it.subtitle = subtitle_of(n), it.says_difference = true;

  auto list = list_of(c, n);
  list->row_facts = [&](Facts& facts, int i) { say_prediction(facts, c, n, i); };
  // A token's colour is the loss of the position before it.
  std::vector<float> losses{std::numeric_limits<float>::quiet_NaN()};
  losses.insert(losses.end(), n.shown().begin(), n.shown().end());
  const float largest = viz::value_range(viz::Matrix::row(losses)).magnitude();
  const viz::ColorScale scale = n.is_difference ? scale_of_differences(static_cast<double>(largest))
                                                : viz::linear_scale(end_of_losses(n));
  auto prompt = std::make_unique<ShadedPrompt>(c, kChip, losses, scale);
  prompt->chosen = c.selection.query;
  prompt->list = list.get();
  prompt->token_facts = [&, &rows = *list](Facts& facts, int i) {
    if (i == 0) return facts.say("the first token is not predicted");
    if (i <= n.count()) return rows.say_row(facts, i - 1);
    facts.say(kComputing);
  };
  it.table = [&n, &rows = *list] { return table(rows, n); };
  it.body = rows(
      boxes(may_be_left_out(
                rows(boxes(std::move(prompt),
                           legend(scale, difference_prefix(c) + std::string("loss of each token, bits")))),
                "the prompt"),
            std::move(list)));
}

View view() {
  View view = make_view(
      "predictions", "Predictions", declare,
      "the next token that the model predicts at every position, and its loss on the one that follows");
  view.part = Part::unembedding;
  view.options = {&kSurprisingFirst, &kRows.first};
  view.caption.query = false;
  view.landmarks = {{"position", kRow, selected_query}, {"shaded tokens", kChip}};
  return view;
}

}  // namespace headscope::app::predictions
