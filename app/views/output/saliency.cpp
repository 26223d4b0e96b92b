#include "app/run/analyses/saliency.h"

#include "app/views/output/logit_options.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace saliency {

enum Role { kRow, kChip };  // Region::id: position

// The choices, with their names on the command line and in the view.
constexpr ChoiceOf<SaliencyMethod> kSaliencyMethods[] = {
    {SaliencyMethod::gradient_input, "gradient-input", "Gradient × input",
     "The gradient at each token's embedding times the embedding"},
    {SaliencyMethod::gradient_norm, "gradient-norm", "Gradient norm",
     "The length of the gradient at each token's embedding, without a sign"},
    {SaliencyMethod::integrated, "integrated", "Integrated",
     "Integrated gradients: the mean gradient on the way from a baseline, times the way"}};
constexpr ChoiceOf<SaliencyBaseline> kSaliencyBaselines[] = {
    {SaliencyBaseline::zero, "zero", "Zero", "Zeros in place of every token's embedding; positions are kept"},
    {SaliencyBaseline::mean, "mean", "Mean",
     "The mean embedding of the vocabulary in place of every token's; positions are kept"},
    {SaliencyBaseline::end_of_text, "endoftext", "<|endoftext|>",
     "The embedding of <|endoftext|> in place of every token's; positions are kept"}};
static_assert(in_order(kSaliencyMethods) && in_order(kSaliencyBaselines));

const auto kMethod = choice_option<SaliencyMethod>("saliency-method", "Method", "cC",
                                                   "how a token's share in the metric is measured",
                                                   choices_of(kSaliencyMethods), {.flag = "method"});
const auto kMetric =
    choice_option<Metric>("saliency-metric", "Metric", "hH", "the number that the tokens have shares in",
                          choices_of(kGradientMetrics), {.flag = "metric"});

bool is_integrated(const Options& options) {
  return options[kMethod] == SaliencyMethod::integrated;
}

const auto kBaseline = choice_option<SaliencyBaseline>(
    "saliency-baseline", "Baseline embedding", "wW",
    "what integrated gradients begin with in place of the tokens' embeddings", choices_of(kSaliencyBaselines),
    {.flag = "baseline", .applies = is_integrated});
const auto kSteps = number_option(
    "saliency-steps", "Steps", "xX", "the most gradients on the way; fewer if the shares add up without them",
    SaliencyOf::kDefaultSteps, 1, SaliencyOf::kMaxSteps,
    {.flag = "steps", .steps = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}, .applies = is_integrated});
const auto kSorted =
    switch_option("salient-first", "Largest first", "oO", "sort tokens by their share, largest first");
const auto kFirstRow = first_row_option("first-salient", true, -1);

/// Nullopt until it is known which tokens are measured.
std::optional<SaliencyOf> question_of(const ViewContext& c) {
  const auto measured = measured_by(c, c.options[kMetric]);
  if (!measured) return std::nullopt;
  SaliencyOf question{*measured, c.options[kMethod]};
  if (is_integrated(c.options)) {
    question.baseline = c.options[kBaseline];
    question.steps = c.options[kSteps];
  }
  return question;
}

struct Numbers {
  std::shared_ptr<const Saliency> of;
  std::vector<float> shares;  ///< by position, of the tokens that may have one
  int count() const { return static_cast<int>(shares.size()); }
};

Numbers numbers_of(const ViewContext& c, std::shared_ptr<const Saliency> of) {
  Numbers n;
  const int count = std::min(of->reach(), c.run->run->length());
  for (int i = 0; i < count; ++i) n.shares.push_back(static_cast<float>(of->parts[i]));
  n.of = std::move(of);
  return n;
}

bool has_sign(const ViewContext& c) {
  return c.options[kMethod] != SaliencyMethod::gradient_norm || c.side == Side::difference;
}

std::string title_of(const ViewContext& c, const Saliency& of) {
  const std::string name(kMethod.choices[static_cast<std::size_t>(c.options[kMethod])].label);
  return (is_integrated(c.options) ? "Integrated gradients" : name) + ": " + metric_words(c, of.measured);
}

std::string subtitle_of(const ViewContext& c, const Saliency& of) {
  const std::string after =
      of.measured.position < 0 ? "" : "after " + token_name(c.run->tokens, c.selection.query);
  if (c.side == Side::difference) return after;
  const std::string value = after.empty() ? "" : after + "; ";
  if (!is_integrated(c.options)) return value + viz::number(of.value, 4);
  return value + viz::number(of.start, 4) + " → " + viz::number(of.value, 4) + "; " +
         counted(of.gradients, "gradient");
}

std::string share_heading(const ViewContext& c) {
  const char* const name = c.options[kMethod] == SaliencyMethod::gradient_norm ? "gradient norm" : "share";
  return c.side == Side::difference ? "difference" : name;
}

std::string share_column(const ViewContext& c) {
  return difference_column_prefix(c) + "share";
}
std::string unit_of(const Numbers& n) {
  return is_in_bits(n.of->measured.metric) ? "bits" : "";
}

/// Whether tokens that only the baseline has had shares.
bool shows_unmatched(const ViewContext& c, const Numbers& n) {
  return c.side == Side::difference && compares_different_inputs(*c.run) && n.of->unmatched != 0;
}

const ListRows kRows{.role = kRow, .first = kFirstRow, .names = "shares"};

/// A token as the key of the prediction, or of the loss and after the prediction, as a query.
Ref ref_to(const ViewContext& c, const Numbers& n, int position) {
  const bool is_query = n.of->measured.position < 0 || position > c.selection.query;
  return is_query ? Ref{.query = position} : Ref{.key = position};
}

int chosen_token(const ViewContext& c, const Numbers& n) {
  return n.of->measured.position < 0 ? c.selection.query : c.selection.key;
}
viz::Color chosen_color(const ViewContext& c, const Numbers& n) {
  return n.of->measured.position < 0 ? c.theme->query : c.theme->key;
}

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  const PromptTokens& tokens = c.run->tokens;
  auto made = std::make_unique<List>(c, kRows, n.count());
  List& list = *made;
  list.refers_to = [&](int i) { return ref_to(c, n, i); };
  list.number("", 7, [](int i) { return i; },
              {.file = key_column("position"), .color = c.theme->text_muted, .digits = 0});
  list.file(note_column("id"), [&tokens](int i) { return tokens.tokens[i].id; });
  list.text("token", 10, [&tokens](int i) { return tokens.labels[i]; }, {.file = note_column("token")});
  const int named = list.last();
  list.bar(share_heading(c), 9, n.of->parts,
           {.file = Column(share_column(c), unit_of(n)),
            .digits = 4,
            .scientific = 0.0001,
            .most = 40 * c.font_size,
            .is_signed = has_sign(c)});
  const int share = list.last();
  const auto footer = [&](std::string name, double value) {
    list.add_footer(named, std::move(name), share, viz::fixed_number(value, 4));
  };
  if (shows_unmatched(c, n)) footer("only in the " + second_name(*c.run), n.of->unmatched);
  if (c.options[kMethod] != SaliencyMethod::gradient_norm) footer("sum", n.of->sum());
  if (is_integrated(c.options)) {
    footer("exact", n.of->value - n.of->start);
    list.add_footer(named, "error", share, viz::number(n.of->error(), 2));
    list.row_facts = [&](Facts& facts, int i) {
      if (n.of->sum() != 0)
        facts.say(viz::fixed_number(100 * n.of->parts[i] / n.of->sum(), 1) + " % of the sum");
    };
  }
  const bool sorted = c.options[kSorted];
  list.rank_by(n.of->parts);
  if (sorted) list.order_by(n.of->parts);
  if (sorted) list.table.row_names = "rows";
  list.table.first_number = sorted ? 1 : 0;
  if (const int chosen = chosen_token(c, n); chosen < n.count()) list.table.marked = list.kept = chosen;
  list.table.mark = chosen_color(c, n);
  return made;
}

viz::ColorScale scale_of(const ViewContext& c, const Numbers& n) {
  const viz::ValueRange range = viz::value_range(viz::Matrix::row(n.shares));
  if (!has_sign(c)) return viz::linear_scale(static_cast<double>(range.high));
  // The first token may be far beyond all others; it must not take their colours away.
  const auto others = std::span(n.shares).subspan(n.count() > 1 ? 1 : 0);
  return viz::robust_scale(viz::Matrix::row(others), 0, range);
}

/// A row for each token that may have a share.
Table table(const ViewContext& c, const Numbers& n, const List& list) {
  const Saliency& of = *n.of;
  const std::string unit = unit_of(n);
  Table result = list.exported();
  result.ranked_by = share_column(c);
  add_measured(result, c, of.measured);
  result.fact("method", name_of(kSaliencyMethods, of.method));
  result.fact("value", of.value, unit);
  result.fact("sum", of.sum(), unit);
  if (shows_unmatched(c, n)) result.fact("only in the baseline", of.unmatched, unit);
  if (is_integrated(c.options)) {
    result.fact("baseline", name_of(kSaliencyBaselines, c.options[kBaseline]));
    result.fact("baseline value", of.start, unit);
    result.fact("error", of.error(), unit);
    result.about("gradients", of.gradients);
  }
  return result;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto of = it.need(question_of(c));
  if ((token_count(c.options[kMetric]) > 0 && it.lacks_counterpart()) || !of) return;
  if (!of->whole) {
    it.message = kComputing;
    return;
  }
  const Numbers& n = it.keep(numbers_of(c, of));
  it.title = title_of(c, *of), it.subtitle = subtitle_of(c, *of);
  auto list = list_of(c, n);
  auto prompt = std::make_unique<ShadedPrompt>(c, kChip, n.shares, scale_of(c, n),
                                               delta(c) + share_heading(c) + " of each token");
  prompt->chosen = chosen_token(c, n), prompt->outline = chosen_color(c, n);
  prompt->list = list.get();
  prompt->refers_to = list->refers_to;
  const List& shares = *list;
  prompt->token_facts = [&](Facts& facts, int i) {
    if (i < n.count())
      shares.say_row(facts, i);
    else
      facts.say("the prediction does not depend on later tokens");
  };
  it.table = [&] { return table(c, n, shares); };
  it.body = rows(boxes(may_be_left_out(std::move(prompt), "the prompt"), std::move(list)));
}

}  // namespace saliency

View saliency_view() {
  using namespace saliency;
  View view =
      make_view(Group::output, "saliency", "Saliency",
                "how much each token of the prompt counts for a prediction, by gradients at the tokens' "
                "embeddings",
                declare);
  view.audience = Audience::research;
  view.options = {&kMethod,   &kMetric, &kMeasuredToken, &kOtherToken,
                  &kBaseline, &kSteps,  &kSorted,        &kFirstRow};
  view.metric = &kMetric;
  view.has_list = true;
  view.shows_difference = true;
  view.caption = {true, false, true};
  view.landmarks = {landmark("shares", kRow), landmark("shaded tokens", kChip)};
  return view;
}

}  // namespace headscope::app
