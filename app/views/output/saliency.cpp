#include "app/run/analyses/saliency.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/parts.h"

namespace headscope::app::saliency {

enum Role { kRow, kChip };  // Region::id: position

// The choices, with their names on the command line and in the view.
constexpr ChoiceOf<SaliencyMethod> kSaliencyMethods[] = {
    {SaliencyMethod::gradient_input, "gradient-input", "Gradient × input",
     "The gradient at each token's embedding times the embedding"},
    {SaliencyMethod::gradient_norm, "gradient-norm", "Gradient norm",
     "The length of the gradient at each token's embedding, without a sign"},
    {SaliencyMethod::integrated, "integrated", "Integrated gradients",
     "The mean gradient along the path from a baseline, times the path"}};
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
    choice_option<Metric>("saliency-metric", "Metric", "hH", "the number whose shares the tokens get",
                          choices_of(kGradientMetrics), {.flag = "metric"});

bool is_integrated(const Options& options) {
  return options[kMethod] == SaliencyMethod::integrated;
}

const auto kBaseline = choice_option<SaliencyBaseline>(
    "saliency-baseline", "Baseline embedding", "wW",
    "what integrated gradients start from in place of the tokens' embeddings", choices_of(kSaliencyBaselines),
    {.flag = "baseline", .applies = is_integrated});
const auto kSorted =
    switch_option("salient-first", "Largest first", "oO", "sort tokens by their share, largest first");

/// Nullopt until it is known which tokens are measured.
std::optional<SaliencyOf> question_of(const ViewContext& c) {
  const auto measured = measured_by(c, c.options[kMetric]);
  return measured ? std::optional(SaliencyOf{*measured, c.options[kMethod], c.options[kBaseline]})
                  : std::nullopt;
}

bool has_sign(const ViewContext& c) {
  return c.options[kMethod] != SaliencyMethod::gradient_norm || c.differs();
}

std::string subtitle_of(const ViewContext& c, const Saliency& of) {
  std::string words = after_words(c, of.measured);
  if (c.differs()) return words;
  if (!words.empty()) words += "; ";
  if (!is_integrated(c.options)) return words + viz::number(of.value, 4);
  return words + viz::number(of.start, 4) + " → " + viz::number(of.value, 4) + "; " +
         counted(of.gradients, "gradient");
}

/// What a token's number is called.
std::string share_name(const ViewContext& c) {
  return delta(c) +
         std::string(c.options[kMethod] == SaliencyMethod::gradient_norm ? "gradient norm" : "share");
}
std::string unit_of(const Saliency& of) {
  return is_in_bits(of.measured.metric) ? "bits" : "";
}

const ListRows kRows{
    .role = kRow, .first = first_row_option("first-salient", true, -1), .names = "shares", .first_number = 0};

std::unique_ptr<List> list_of(const ViewContext& c, const Saliency& of) {
  const PromptTokens& tokens = c.run->tokens;
  auto list = std::make_unique<List>(c, kRows, of.reach());
  // A token is a key of the prediction; of the loss, and after the prediction, a query.
  list->refers_to = [&](int i) {
    return of.measured.position < 0 || i > c.selection.query ? Ref{.query = i} : Ref{.key = i};
  };
  list->number("", 7, [](int i) { return i; },
               {.file = key_column("position"), .color = c.theme->text_muted, .digits = 0});
  list->file(note_column("id"), [&tokens](int i) { return tokens.tokens[i].id; });
  list->text("token", 10, tokens.labels, {.file = note_column("token")});
  list->bar(share_name(c), 9, of.parts,
            {.file = Column(difference_column_prefix(c) + "share", unit_of(of)),
             .digits = 4,
             .scientific = 0.0001,
             .most = 40 * c.font_size,
             .is_signed = has_sign(c)});
  const auto add_footer = [&](std::string words, double value) {
    list->add_footer(std::move(words), viz::fixed_number(value, 4));
  };
  if (of.unmatched != 0) add_footer("only in the " + second_name(*c.run), of.unmatched);
  if (c.options[kMethod] != SaliencyMethod::gradient_norm) add_footer("sum", of.sum());
  if (is_integrated(c.options)) {
    add_footer("exact", of.value - of.start);
    list->add_footer("error", viz::number(of.error(), 2));
    list->row_facts = [&](Facts& facts, int i) {
      if (of.sum() != 0) facts.say(viz::fixed_number(100 * of.parts[i] / of.sum(), 1) + " % of the sum");
    };
  }
  list->rank_by(of.parts);
  if (c.options[kSorted]) list->order_by(of.parts);
  return list;
}

viz::ColorScale scale_of(const ViewContext& c, std::span<const float> shares) {
  const viz::ValueRange range = viz::value_range(viz::Matrix::row(shares));
  if (!has_sign(c)) return viz::linear_scale(static_cast<double>(range.high));
  // The first token may be far beyond all others; it must not take their colours away.
  return viz::robust_scale(viz::Matrix::row(shares.subspan(shares.size() > 1 ? 1 : 0)), 0, range);
}

/// A row for each token that may have a share.
Table table(const ViewContext& c, const Saliency& of, const List& list) {
  const std::string unit = unit_of(of);
  Table result = list.exported(difference_column_prefix(c) + "share");
  add_measured(result, c, of.measured);
  result.fact("method", name_of(kSaliencyMethods, of.method));
  result.fact("value", of.value, unit);
  result.fact("sum", of.sum(), unit);
  if (of.unmatched != 0) result.fact("only in the baseline", of.unmatched, unit);
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
  const auto answer = it.need(question_of(c));
  if ((token_count(c.options[kMetric]) > 0 && it.lacks_counterpart()) || !answer) return;
  const Saliency& of = *it.keep(answer);
  it.title = std::string(kMethod.choices[static_cast<std::size_t>(c.options[kMethod])].label) + ": " +
             metric_words(c, of.measured);
  it.subtitle = subtitle_of(c, of);
  auto list = list_of(c, of);
  const List& shown = *list;
  const std::vector<float> shares(of.parts.begin(), of.parts.begin() + of.reach());
  const viz::ColorScale scale = scale_of(c, shares);
  auto prompt = std::make_unique<ShadedPrompt>(c, kChip, shares, scale);
  const bool of_prompt = of.measured.position < 0;
  prompt->chosen = of_prompt ? c.selection.query : c.selection.key;
  prompt->outline = list->table.mark = of_prompt ? c.theme->query : c.theme->key;
  if (prompt->chosen < of.reach()) list->table.marked = list->kept = prompt->chosen;
  prompt->list = list.get();
  prompt->refers_to = list->refers_to;
  prompt->token_facts = [&](Facts& facts, int i) {
    if (i < of.reach())
      shown.say_row(facts, i);
    else
      facts.say("the prediction does not depend on later tokens");
  };
  it.table = [&] { return table(c, of, shown); };
  it.body = rows(
      boxes(may_be_left_out(rows(boxes(std::move(prompt), legend(scale, share_name(c) + " of each token"))),
                            "the prompt"),
            std::move(list)));
}

View view() {
  View view = make_view(
      "saliency", "Saliency", declare,
      "how much each token of the prompt counts for a prediction, by gradients at the tokens' embeddings");
  view.options = {&kMethod, &kMetric, &kMeasuredToken, &kOtherToken, &kBaseline, &kSorted, &kRows.first};
  view.metric = &kMetric;
  return view;
}

}  // namespace headscope::app::saliency
