#include "app/views/attention/score_breakdown.h"

#include <ranges>

#include "app/counted.h"
#include "app/views/parts/parts.h"

namespace headscope::app::score_breakdown {
namespace {

ScoreTerms terms_of(const PromptRun& of, const Selection& selection, int query, int key,
                    std::shared_ptr<const SoftmaxRow> row) {
  const model::Run& run = *of.run;
  ScoreTerms terms;
  terms.layer = selection.layer, terms.head = selection.head, terms.query = query, terms.key = key;
  const auto q = run.q(terms.layer, terms.head, query);
  terms.q.assign(q.begin(), q.end());
  terms.k = run.k(terms.layer, terms.head, key);
  for (std::size_t i = 0; i < terms.k.size(); ++i) {
    const double product = static_cast<double>(terms.q[i]) * static_cast<double>(terms.k[i]);
    terms.products.push_back(product);
    (product < 0 ? terms.negative : terms.positive) += product;
  }
  terms.q_norm = norm_of(terms.q);
  terms.k_norm = norm_of(terms.k);
  terms.row = std::move(row);
  return terms;
}

/// The strongest key, on the difference side the one with a counterpart whose weight differs most.
int default_key(const QueryRows& rows) {
  const std::vector<float>& weights = rows.now->weights;
  const auto rank = [&](int key) {
    if (!rows.before) return std::pair(weights[key], 0.F);
    const int there = rows.counterparts[key];
    if (there < 0) return std::pair(-1.F, 0.F);
    return std::pair(std::abs(difference(weights[key], rows.before->weights[there])), weights[key]);
  };
  return *std::ranges::max_element(std::views::iota(0, static_cast<int>(weights.size())), {}, rank);
}

void set_differences(Breakdown& n) {
  const ScoreTerms &now = n.now, &before = *n.before;
  n.q = difference_of(now.q, before.q);
  n.k = difference_of(now.k, before.k);
  for (std::size_t i = 0; i < now.k.size(); ++i) {
    n.products.push_back(difference(now.products[i], before.products[i]));
    const double q = double{now.q[i]}, q0 = double{before.q[i]}, k = double{now.k[i]},
                 k0 = double{before.k[i]};
    n.through_q += (q - q0) * (k + k0) / 2;
    n.through_k += (k - k0) * (q + q0) / 2;
  }
}

// ---- the numbers from the vectors to the weight ----

struct Quantity {
  const char* name;  ///< in files
  const char* step;  ///< in the list of steps
  double (*of)(const ScoreTerms&);
  bool wide = false;  ///< computed in double
};
enum Id { kQNorm, kKNorm, kCosine, kScore, kScaled, kMasked, kLargest, kShifted, kPower, kSum, kWeight };
constexpr Quantity kQuantities[]{
    {"norm of q", "", [](const ScoreTerms& t) { return t.q_norm; }, true},
    {"norm of k", "", [](const ScoreTerms& t) { return t.k_norm; }, true},
    {"cosine", "cosine", [](const ScoreTerms& t) { return t.cosine(); }, true},
    {"score", "score q·k", [](const ScoreTerms& t) { return double{t.score()}; }},
    {"scaled", "scaled", [](const ScoreTerms& t) { return double{t.scaled()}; }},
    {"masked", "masked", [](const ScoreTerms& t) { return double{t.masked()}; }},
    {"largest", "", [](const ScoreTerms& t) { return double{t.row->largest}; }},
    {"difference", "minus maximum", [](const ScoreTerms& t) { return double{t.shifted()}; }},
    {"exponential", "exponential", [](const ScoreTerms& t) { return double{t.power()}; }},
    {"row sum", "row sum", [](const ScoreTerms& t) { return double{t.row->sum}; }},
    {"weight", "weight", [](const ScoreTerms& t) { return double{t.weight()}; }}};

bool is_edited_pair(const Breakdown& n) {
  return n.now.edited() || (n.before && n.before->edited());
}

/// With the digits of its own type.
double value_of(const Breakdown& n, const Quantity& quantity) {
  const double now = quantity.of(n.now), value = n.before ? difference(now, quantity.of(*n.before)) : now;
  return quantity.wide ? value : decimal(static_cast<float>(value));
}

// ---- the steps in words ----

/// With four decimals; very small numbers with significant digits.
std::string written(double value) {
  constexpr int kDecimals = 4;
  if (std::isnan(value)) return "none";
  if (value != 0 && std::abs(value) < 10 * std::pow(10, -kDecimals)) return viz::number(value, kDecimals);
  return viz::fixed_number(value, kDecimals);
}

/// "− 9.8765", "+ 1.2": a second term; a 0 that is subtracted keeps its sign.
std::string added(double value) {
  return (std::signbit(value) ? " − " : " + ") + written(std::abs(value));
}

struct Step {
  std::string name, computation, result;
  double value = no_number();  ///< what the result is the short form of
  std::string meaning = {};    ///< of the computation, at the mouse; empty: it speaks for itself
};

Step step_of(std::string name, const std::string& computation, double value, std::string meaning = {}) {
  const bool whole = !std::isfinite(value) || std::round(value * 1e4) / 1e4 == value;
  return {std::move(name), computation + (whole ? " =" : " ≈"), written(value), value, std::move(meaning)};
}

std::vector<Step> pair_steps(const ViewContext& c, const Breakdown& n) {
  const ScoreTerms& t = n.now;
  const std::string score = written(double{t.score()}), power = written(double{t.power()});
  std::vector<Step> steps;
  const auto add = [&](Id id, const std::string& computation, std::string meaning = {}) {
    steps.push_back(
        step_of(kQuantities[id].step, computation, value_of(n, kQuantities[id]), std::move(meaning)));
  };
  add(kScore, written(t.positive) + added(t.negative),
      "the positive products of q and k, minus the size of the negative ones");
  add(kCosine, score + " / (" + written(t.q_norm) + " × " + written(t.k_norm) + ")",
      "the score divided by the lengths of q and k; the weight is computed without it");
  add(kScaled, score + " × " + scale_factor(c.config(), t.layer));
  if (t.edited())
    add(kMasked, "by an edit");
  else
    steps.push_back({"mask",
                     "key " + std::to_string(t.key) + (t.key <= t.query ? " ≤ query " : " > query ") +
                         std::to_string(t.query) + ":",
                     "visible"});
  if (std::isinf(t.row->largest)) {  // there is no softmax of no key: the model sets all weights to 0
    add(kWeight, "all keys are masked");
    return steps;
  }
  add(kShifted, written(double{t.masked()}) + added(-double{t.row->largest}),
      "minus the query's largest scaled score, that of key " +
          token_name(key_tokens(*c.run), t.row->largest_key));
  add(kPower, "e" + viz::superscript(written(double{t.shifted()})));
  const auto visible = std::ranges::count_if(t.row->masked, [](float one) { return !std::isinf(one); });
  add(kSum, power + added(t.other_powers()),
      "this exponential plus those of the other " + counted(visible - 1, "key"));
  const bool edited =
      is_edited_at(c, model::Site::pattern, t.layer, t.head) && t.weight() != t.power() * (1 / t.row->sum);
  add(kWeight, edited ? "by an edit" : power + " / " + written(double{t.row->sum}));
  return steps;
}

/// Each number on one side less that on the other, and what of the score's difference is due to q and k.
std::vector<Step> difference_steps(const Breakdown& n) {
  std::vector<Step> steps;
  for (const Id id : {kScore, kCosine, kScaled, kMasked, kShifted, kPower, kSum, kWeight}) {
    const Quantity& quantity = kQuantities[id];
    if (id != kMasked || is_edited_pair(n))
      steps.push_back(step_of("Δ " + std::string(quantity.step),
                              written(quantity.of(n.now)) + added(-quantity.of(*n.before)),
                              value_of(n, quantity)));
    if (id == kScore)
      steps.push_back(step_of("through q, through k", written(n.through_q) + added(n.through_k),
                              n.through_q + n.through_k));
  }
  return steps;
}

}  // namespace

std::optional<Breakdown> breakdown_of(Content& it) {
  const auto rows = rows_of_query(it);
  if (!rows) return std::nullopt;
  const ViewContext& c = it.c;
  const int key = c.selection.key >= 0 ? c.selection.key : default_key(*rows);
  Breakdown n;
  n.now = terms_of(*c.run, c.selection, c.selection.query, key, rows->now);
  if (!rows->before) {
    n.q = n.now.q, n.k = n.now.k, n.products = n.now.products;
    return n;
  }
  if (rows->counterparts[key] < 0) {
    it.message = token_name(c.run->tokens, key) + " has " + no_counterpart_words(c);
    return std::nullopt;
  }
  n.before =
      terms_of(*c.run->baseline, c.selection, compared_query(c), rows->counterparts[key], rows->before);
  set_differences(n);
  return n;
}

Table table_of(const ViewContext& c, const Breakdown& n) {
  const std::string prefix = difference_column_prefix(c);
  Table result{key_column("component"), prefix + "q", prefix + "k", prefix + "q*k"};
  for (std::size_t i = 0; i < n.q.size(); ++i) add_row(result, i, n.q[i], n.k[i], n.products[i]);
  add_head_facts(result, c);
  const auto positions = [&](const PromptRun& run, const ScoreTerms& terms, const std::string& compared) {
    add_token_facts(result, run.tokens, compared + "query", terms.query);
    add_token_facts(result, run.tokens, compared + "key", terms.key);
  };
  positions(*c.run, n.now, "");
  if (n.before) {
    positions(*c.run->baseline, *n.before, "compared ");
    result.fact(prefix + "score through q", n.through_q);
    result.fact(prefix + "score through k", n.through_k);
  }
  for (const Quantity& quantity : kQuantities) {
    const double value = value_of(n, quantity);
    if (&quantity == &kQuantities[kMasked] && !is_edited_pair(n)) continue;
    if (!n.before || !std::isnan(value)) result.fact(prefix + quantity.name, value);
  }
  return result;
}

BoxPtr box_of(Content& it, const Breakdown& n, int strip_role, int step_role) {
  const ViewContext& c = it.c;
  const viz::Theme& theme = *c.theme;
  const std::vector<float>& products = it.keep(std::vector<float>(n.products.begin(), n.products.end()));
  const float largest = std::max(viz::value_range(viz::Matrix::row(n.q)).magnitude(),
                                 viz::value_range(viz::Matrix::row(n.k)).magnitude());
  const std::string shape = shape_of(n.q.size()), prefix = delta(c);
  const viz::ColorScale scale = viz::diverging_scale(largest);
  std::vector<NamedStrip> strips{
      {0, prefix + "query q", shape, "", theme.query, n.q, scale},
      {1, prefix + "key k", shape, "", theme.key, n.k, scale},
      {2, prefix + "q × k", shape, "they add up to the score", theme.text, products, strip_scale(products)}};
  const std::vector<Step>& steps = it.keep(n.before ? difference_steps(n) : pair_steps(c, n));
  auto list = std::make_unique<List>(c, step_role, static_cast<int>(steps.size()));
  const auto said = [&steps](std::string Step::*words) {
    return [&steps, words](int row) { return steps[row].*words; };
  };
  const auto value = [&steps](int row) { return steps[row].value; };
  list->least_width = 30;  // with the computations
  list->text("key " + token_name(c.run->tokens, n.now.key), 9, said(&Step::name), {.heading = theme.key});
  list->number("computation", 7, value, {.tip = false}).text = said(&Step::computation);
  list->number("result", 8, value, {.tip = false}).text = said(&Step::result);
  list->row_facts = [&steps](Facts& facts, int row) {
    const Step& step = steps[row];
    const bool has_meaning = !step.meaning.empty();
    facts.say(step.name + ": " + step.computation,
              has_meaning ? Fact::Location::status : Fact::Location::both);
    if (has_meaning) facts.tip(step.name + ": " + step.meaning);
    if (!std::isnan(step.value)) facts.number("result", step.value);
  };
  return beside(boxes(may_be_left_out(std::make_unique<Strips>(strip_role, std::move(strips)), "the vectors"),
                      std::move(list)));
}

}  // namespace headscope::app::score_breakdown
