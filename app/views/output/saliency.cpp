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
     "The length of the gradient at each token's embedding, without a sign", "lengths of gradients"},
    {SaliencyMethod::integrated, "integrated", "Integrated",
     "Integrated gradients: the mean gradient on the way from a baseline, times the way",
     "gradients along a path"}};
constexpr ChoiceOf<SaliencyBaseline> kSaliencyBaselines[] = {
    {SaliencyBaseline::zero, "zero", "Zero", "Zeros in place of every token's embedding; positions are kept"},
    {SaliencyBaseline::mean, "mean", "Mean",
     "The mean embedding of the vocabulary in place of every token's; positions are kept",
     "starting from the mean embedding"},
    {SaliencyBaseline::end_of_text, "endoftext", "<|endoftext|>",
     "The embedding of <|endoftext|> in place of every token's; positions are kept",
     "starting from <|endoftext|>"}};
static_assert(in_order(kSaliencyMethods) && in_order(kSaliencyBaselines));

const auto kMethod = choice_option<SaliencyMethod>("saliency-method", "Method", "cC",
                                                   "how a token's share in the metric is measured",
                                                   choices_of(kSaliencyMethods), {.flag = "method"});
const auto kMetric = choice_option<GradientMetric>("saliency-metric", "Metric", "hH",
                                                   "the number that the tokens have shares in",
                                                   choices_of(kSaliencyMetrics), {.flag = "metric"});

int named_tokens(const Options& options) {
  return token_count(options[kMetric]);
}
bool is_integrated(const Options& options) {
  return options[kMethod] == SaliencyMethod::integrated;
}

const auto kBaseline = choice_option<SaliencyBaseline>(
    "saliency-baseline", "Baseline embedding", "wW",
    "what integrated gradients begin with in place of the tokens' embeddings", choices_of(kSaliencyBaselines),
    {.flag = "baseline", .applies = is_integrated});
const auto kSteps = make_option<int>("saliency-steps", "Steps",
                                     "the most gradients on the way; fewer if the shares add up without them",
                                     {.flag = "steps",
                                      .phrase = "{gradient step}",
                                      .default_value = SaliencyOf::kDefaultSteps,
                                      .low = 1,
                                      .high = SaliencyOf::kMaxSteps,
                                      .steps = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024},
                                      .keys = "xX",
                                      .applies = is_integrated});
const auto kSorted = switch_option("salient-first", "Largest first", "oO",
                                   "sort tokens by their share, largest first", "largest shares first");
const auto kFirstRow = first_row_option("first-salient", true, -1);

/// The position whose prediction is measured; for the loss, which has none, the first one that a comparison
/// has a counterpart for.
int measured_position(const ViewContext& c) {
  if (named_tokens(c.options) > 0) return std::max(0, c.selection.query);
  if (c.side != Side::difference || !c.run) return 0;
  const auto matched = std::ranges::find_if(c.run->aligned, [](int there) { return there >= 0; });
  return matched == c.run->aligned.end() ? 0 : static_cast<int>(matched - c.run->aligned.begin());
}

/// Nullopt until it is known which tokens are measured.
std::optional<SaliencyOf> question_of(const ViewContext& c) {
  SaliencyOf question;
  question.metric = c.options[kMetric];
  question.method = c.options[kMethod];
  question.position = measured_position(c);
  if (is_integrated(c.options)) {
    question.baseline = c.options[kBaseline];
    question.steps = c.options[kSteps];
  }
  if (named_tokens(c.options) > 0) {
    const auto token = token_choice(c, kMeasuredToken);
    if (!token) return std::nullopt;
    question.token = *token;
  }
  if (named_tokens(c.options) > 1) {
    const auto against = other_token_choice(c, question.token);
    if (!against) return std::nullopt;
    question.against = *against;
  }
  return question;
}

struct Numbers {
  std::shared_ptr<const Saliency> of;
  std::vector<float> shares;  ///< by position, of the tokens that may have one
  int count() const { return static_cast<int>(shares.size()); }
};

std::optional<Numbers> numbers_of(const ViewContext& c) {
  const auto question = question_of(c);
  auto of = c.run && question && !has_no_loss(*c.run, c.options[kMetric]) ? c.ask(*question) : nullptr;
  if (!of || !of->whole) return std::nullopt;
  Numbers n;
  const int count = std::min(of->reach(), c.run->run->length());
  for (int i = 0; i < count; ++i) n.shares.push_back(static_cast<float>(of->parts[i]));
  n.of = std::move(of);
  return n;
}

bool has_sign(const ViewContext& c) {
  return c.options[kMethod] != SaliencyMethod::gradient_norm || c.side == Side::difference;
}

/// "logit of “·was” − “·had”", "mean loss, bits".
std::string metric_words(const ViewContext& c, const Saliency& of) {
  switch (of.metric) {
    case GradientMetric::logit:
    case GradientMetric::difference:
      return "logit of " + logit_words(c, of.token, of.against);
    case GradientMetric::log_probability:
      return "log₂ probability of " + logit_words(c, of.token, -1);
    case GradientMetric::loss:
    case GradientMetric::divergence:
      break;
  }
  return "mean loss of the prompt, bits";
}

std::string after_words(const ViewContext& c, const Saliency& of) {
  return of.position < 0 ? "" : " after " + token_name(c.run->tokens, c.selection.query);
}

std::string title_of(const ViewContext& c, const Numbers& n) {
  const std::string metric = metric_words(c, *n.of);
  const std::string name(kMethod.choices[static_cast<std::size_t>(c.options[kMethod])].label);
  return (is_integrated(c.options) ? "Integrated gradients" : name) + ": " + metric + difference_suffix(c);
}

/// "zero", "the mean embedding", "<|endoftext|>".
std::string baseline_words(const ViewContext& c) {
  switch (c.options[kBaseline]) {
    case SaliencyBaseline::zero:
      return "zero embeddings";
    case SaliencyBaseline::mean:
      return "the mean embedding";
    case SaliencyBaseline::end_of_text:
      break;
  }
  return "“<|endoftext|>” everywhere";
}

std::string subtitle_of(const ViewContext& c, const Numbers& n) {
  const Saliency& of = *n.of;
  std::string after = after_words(c, of);
  if (!after.empty()) after = after.substr(1);
  const std::string begin = after.empty() ? "" : after + ": ";
  if (c.side == Side::difference)
    return of.position < 0 ? difference_words(c) : begin + query_difference_words(c);
  if (is_integrated(c.options))
    return begin + "from " + viz::number(of.start, 4) + " with " + baseline_words(c) + " to " +
           viz::number(of.value, 4) + ", by " + counted(of.gradients, "gradient");
  return begin + viz::number(of.value, 4) + ", and how it depends on each token's embedding";
}

std::string share_heading(const ViewContext& c) {
  const char* const name = c.options[kMethod] == SaliencyMethod::gradient_norm ? "gradient norm" : "share";
  return c.side == Side::difference ? "difference" : name;
}

std::string share_column(const ViewContext& c) {
  return difference_column_prefix(c) + "share";
}
std::string unit_of(const Numbers& n) {
  return is_in_bits(n.of->metric) ? "bits" : "";
}

/// Whether tokens that only the baseline has had shares.
bool shows_unmatched(const ViewContext& c, const Numbers& n) {
  return c.side == Side::difference && compares_different_inputs(*c.run) && n.of->unmatched != 0;
}

const ListRows kRows{.role = kRow, .first = kFirstRow, .names = "shares"};

/// The chosen token: the selected key, or for the loss the selected query.
int chosen_token(const ViewContext& c, const Numbers& n) {
  return n.of->position < 0 ? c.selection.query : c.selection.key;
}

List list_of(const ViewContext& c, const Numbers& n) {
  const PromptTokens& tokens = c.run->tokens;
  List list(c, kRows, n.count());
  list.number("", 7, [](int i) { return i; },
              {.file = key_column("position"), .color = c.theme->text_muted, .digits = 0});
  list.file(note_column("id"), [&tokens](int i) { return tokens.tokens[i].id; });
  list.text("token", 10, [&tokens](int i) { return tokens.labels[i]; },
            {.file = note_column("token"), .least = 6 * c.font_size});
  const int named = list.last();
  list.bar(share_heading(c), 9, n.of->parts,
           {.file = Column(share_column(c), unit_of(n)),
            .digits = 4,
            .scientific = 0.0001,
            .most = c.printed ? c.width : 30 * c.font_size,
            .is_signed = has_sign(c)});
  list.table.strength = list.last();
  const auto footer = [&](const std::string& name, double value, int digits) {
    viz::FixedRow& row = list.table.footer.emplace_back();
    row = {list.cell(named, name),
           list.cell(list.last(), digits > 0 ? viz::fixed_number(value, digits) : viz::number(value, 2))};
  };
  if (shows_unmatched(c, n)) {
    footer("only in the " + second_name(*c.run), n.of->unmatched, 4);
    list.table.footer.back().front().short_text = "only there";
  }
  if (c.options[kMethod] != SaliencyMethod::gradient_norm) footer("sum", n.of->sum(), 4);
  if (is_integrated(c.options)) {
    footer("exact", n.of->value - n.of->start, 4);
    footer("error", n.of->error(), 0);
  }
  const bool sorted = c.options[kSorted];
  if (sorted) list.table.order = {list.last()};
  if (sorted) list.table.row_names = "rows";
  list.table.first_number = sorted ? 1 : 0;
  const int chosen = chosen_token(c, n);
  if (chosen >= 0 && chosen < n.count()) list.table.marked = list.table.kept = chosen;
  list.table.mark = n.of->position < 0 ? c.theme->query : c.theme->key;
  return list;
}

// ---- the prompt, shaded ----

viz::ColorScale scale_of(const ViewContext& c, const Numbers& n) {
  const viz::Matrix shares = viz::Matrix::row(n.shares);
  const viz::ValueRange range = viz::value_range(shares);
  if (!has_sign(c)) return viz::linear_scale(static_cast<double>(range.high));
  // The first token may be far beyond all others; it must not take their colours away.
  const std::vector<float> others(n.shares.begin() + (n.count() > 1 ? 1 : 0), n.shares.end());
  return viz::robust_scale(viz::Matrix::row(others), 0, range);
}

viz::ChipFlow chips_of(const ViewContext& c, const Numbers& n) {
  viz::ChipFlow flow;
  flow.role = kChip;
  const viz::ColorTable colors(scale_of(c, n), *c.theme);
  for (int i = 0; i < c.run->run->length(); ++i) {
    viz::Chip chip = shaded_chip(c, c.run->tokens.labels[i],
                                 i < n.count() ? std::optional(colors(n.shares[i])) : std::nullopt);
    if (i == chosen_token(c, n)) chip.outline = n.of->position < 0 ? c.theme->query : c.theme->key;
    flow.chips.push_back(std::move(chip));
  }
  return flow;
}

void paint_legend(Picture& picture, const ViewContext& c, const Numbers& n, const ShadedTokens& tokens) {
  const viz::Style style = style_of(c);
  const std::string title = delta(c) + std::string(c.options[kMethod] == SaliencyMethod::gradient_norm
                                                       ? "gradient norm of each token"
                                                       : "share of each token");
  viz::Scene measured;
  const float used = viz::paint_color_scale_line(measured, scale_of(c, n), title, {0, 0}, style);
  viz::paint_color_scale_in(picture.scene, scale_of(c, n), title, std::nullopt,
                            {tokens.area.x, tokens.legend}, tokens.area.w, style);
  if (!tokens.scrolls()) return;
  const std::string note = shown_tokens_words(picture, c.run->run->length());
  if (style.width(note, style.small()) > tokens.area.w - used - 5 * style.unit()) return;
  viz::add_muted(picture.scene, style, note, {tokens.area.right(), tokens.legend}, viz::Align::right);
}

struct Layout {
  List list;
  ShadedTokens tokens;
  bool fits = false;
};

Layout lay_out(const ViewContext& c, const Numbers& n) {
  Layout l{list_of(c, n), lay_out_shaded_tokens(c, chips_of(c, n))};
  l.fits = l.list.lay_out_showing(l.tokens.list, n.shares);
  const std::vector<int>& rows = l.list.layout().rows;
  const bool in_order = !c.options[kSorted] && !rows.empty();
  const int chosen = std::max(0, chosen_token(c, n));
  l.tokens.show_line_of(in_order ? rows.front() : chosen, !in_order);
  return l;
}

Picture build(const ViewContext& c) {
  const auto question = question_of(c);
  if (auto words = waiting_for_run(c, question)) return *words;
  if (c.side == Side::difference && named_tokens(c.options) > 0 && compared_query(c) < 0)
    return no_counterpart(c);
  if (!question) return message(c, kComputing);
  if (has_no_loss(*c.run, c.options[kMetric])) return message(c, kNoLoss);
  const auto n = numbers_of(c);
  if (auto words = waiting(c, *question, n.has_value())) return *words;
  const Layout l = lay_out(c, *n);
  if (!l.fits) return too_small(c, "for the tokens");
  Picture picture = blank(c);
  paint_title(picture, c, title_of(c, *n), subtitle_of(c, *n) + l.list.note("; ") + l.list.left_out("; "));
  // Scrolled chips do not make the picture incomplete.
  const bool whole = picture.whole;
  if (l.tokens.shown_lines > 0) {
    viz::paint_chips(picture, l.tokens.flow, l.tokens.places, l.tokens.first_line, l.tokens.chips,
                     style_of(c));
    paint_legend(picture, c, *n, l.tokens);
  }
  picture.whole = whole;
  l.list.paint(picture);
  return picture;
}

/// Later tokens than the query can only be chosen as the query.
ViewAction choice_of_token(const ViewContext& c, const Numbers& n, int position) {
  if (n.of->position < 0 || position > c.selection.query) return SelectQuery{position};
  return clicked_key(c, position);
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const int position = region_of(picture, hit).id;
  const auto n = numbers_of(c);
  if (!n || position >= c.run->run->length()) return {};
  return {choice_of_token(c, *n, position)};
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  const auto n = numbers_of(c);
  const int position = region.id;
  if (!n || position >= c.run->run->length()) return {};
  Facts facts = facts_of_row(c, region.rect);
  for (const Role other : {kRow, kChip})
    if (other != region.role) frame_regions(facts, picture, other, position, c.theme->text);
  facts.say(token_name(c.run->tokens, position));
  if (position < n->count()) {
    const double share = n->of->parts[position];
    facts.said.push_back({.label = share_heading(c), .value = exact(share), .copied = plain(share)});
    if (is_integrated(c.options) && n->of->sum() != 0)
      facts.say(viz::fixed_number(100 * n->of->parts[position] / n->of->sum(), 1) + " % of the sum");
  } else {
    facts.say("the prediction does not depend on later tokens");
  }
  if (n->of->position >= 0) add_choice_of_key(facts.commands, c, position, c.selection.query);
  facts.commands.push_back(choose_query(c, position));
  add_copies_of_token(facts, c, c.run->tokens.tokens[position].id, c.run->tokens.labels[position]);
  return facts;
}

/// A row for each token that may have a share.
Table table(const ViewContext& c) {
  const auto n = numbers_of(c);
  if (!n) return {};
  const Saliency& of = *n->of;
  const std::string unit = unit_of(*n);
  Table result = list_of(c, *n).exported();
  result.ranked_by = share_column(c);
  add_measured(result, c, {name_of(kSaliencyMetrics, of.metric), of.position, of.token, of.against});
  result.fact("method", name_of(kSaliencyMethods, of.method));
  result.fact("value", of.value, unit);
  result.fact("sum", of.sum(), unit);
  if (shows_unmatched(c, *n)) result.fact("only in the baseline", of.unmatched, unit);
  if (is_integrated(c.options)) {
    result.fact("baseline", name_of(kSaliencyBaselines, c.options[kBaseline]));
    result.fact("baseline value", of.start, unit);
    result.fact("error", of.error(), unit);
    result.about("gradients", of.gradients);
  }
  return result;
}

float whole_height(const ViewContext& c) {
  if (!c.run) return c.height;
  Numbers none;
  auto of = std::make_shared<Saliency>();
  of->position = named_tokens(c.options) > 0 ? c.selection.query : -1;
  none.of = std::move(of);
  const int rows = named_tokens(c.options) > 0 ? c.selection.query + 1 : c.run->run->length();
  return shaded_tokens_height(c, chips_of(c, none), rows, 4);
}

}  // namespace saliency

View saliency_view() {
  using namespace saliency;
  View view =
      make_view(Group::output, "saliency", "Saliency",
                "how much each token of the prompt counts for a prediction, by gradients at the tokens' "
                "embeddings",
                build, facts, table);
  view.options = {&kMethod,   &kMetric, &kMeasuredToken, &kOtherToken,
                  &kBaseline, &kSteps,  &kSorted,        &kFirstRow};
  view.named_tokens = named_tokens;
  view.with_other_token = &kMetric;
  view.with_other_token_value = static_cast<int>(GradientMetric::difference);
  view.refuse = [](const ViewContext& c) -> std::string {
    return c.run && has_no_loss(*c.run, c.options[kMetric]) ? kNoLoss : "";
  };
  add_list(view, kRows, click);
  view.shows_difference = true;
  view.whole_height = whole_height;
  view.caption = {true, false, true};
  view.landmarks = {landmark("shares", kRow), landmark("shaded tokens", kChip)};
  return view;
}

}  // namespace headscope::app
