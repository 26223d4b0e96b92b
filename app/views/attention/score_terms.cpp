#include "app/views/attention/score_terms.h"

#include <cstdlib>

#include "app/views/attention/query_rows.h"
#include "app/views/parts/parts.h"
#include "model/pass/plan.h"

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

/// The difference of the weight on each key; NaN without a counterpart.
std::vector<float> weight_differences(const QueryRows& rows) {
  std::vector<float> differences;
  for (std::size_t key = 0; key < rows.counterparts.size(); ++key) {
    const int on_baseline = rows.counterparts[key];
    differences.push_back(on_baseline < 0
                              ? std::numeric_limits<float>::quiet_NaN()
                              : difference(rows.now->weights[key], rows.before->weights[on_baseline]));
  }
  return differences;
}

/// The strongest key, on the difference side the one with the largest difference; without any, the strongest
/// that has a counterpart.
int default_key(const QueryRows& rows, const std::vector<float>& differences) {
  const auto& weights = rows.now->weights;
  if (!rows.before) return static_cast<int>(std::ranges::max_element(weights) - weights.begin());
  int best = 0;
  const auto rank = [&](int key) {
    return std::isnan(differences[key]) ? std::pair(-1.F, 0.F)
                                        : std::pair(std::abs(differences[key]), weights[key]);
  };
  for (int key = 1; key < std::ssize(differences); ++key)
    if (rank(key) > rank(best)) best = key;
  return best;
}

void set_differences(Numbers& n) {
  const ScoreTerms &now = n.now, &before = *n.before;
  n.q = difference_of(now.q, before.q);
  n.k = difference_of(now.k, before.k);
  for (std::size_t i = 0; i < now.k.size(); ++i) {
    n.products.push_back(difference(now.products[i], before.products[i]));
    const auto wide = [i](const std::vector<float>& vector) { return static_cast<double>(vector[i]); };
    n.through_q += (wide(now.q) - wide(before.q)) * (wide(now.k) + wide(before.k)) / 2;
    n.through_k += (wide(now.k) - wide(before.k)) * (wide(now.q) + wide(before.q)) / 2;
  }
}

}  // namespace

std::optional<Numbers> numbers_of(const ViewContext& c) {
  const auto rows = rows_of_query(c);
  if (!rows) return std::nullopt;
  Numbers n;
  n.of_keys = rows->before ? weight_differences(*rows) : rows->now->powers;
  const int key = c.selection.key >= 0 ? c.selection.key : default_key(*rows, n.of_keys);
  n.now = terms_of(*c.run, c.selection, c.selection.query, key, rows->now);
  if (!rows->before) {
    n.q = n.now.q, n.k = n.now.k, n.products = n.now.products;
    return n;
  }
  const int on_baseline = rows->counterparts[key];
  if (on_baseline < 0) return std::nullopt;
  n.before = terms_of(*c.run->baseline, c.selection, compared_query(c), on_baseline, rows->before);
  set_differences(n);
  return n;
}

std::optional<Picture> waiting_for(const ViewContext& c, bool known) {
  const auto rows = rows_of_query(c);
  if (auto words = waiting_for_rows(c, rows.has_value())) return words;
  if (known) return std::nullopt;
  return no_counterpart(c, c.selection.key);
}

bool unchanged(const Numbers& n) {
  const auto zero = [](const auto& values) {
    return std::ranges::all_of(values, [](auto value) { return value == 0; });
  };
  bool none = n.before && zero(n.q) && zero(n.k);
  visit_quantities(n, [&](const char*, auto value) { none = none && !(value < 0 || value > 0); });
  return none;
}

// ---- the steps in words ----

namespace {

constexpr int kFewest = 4, kMaxDecimals = 7;
constexpr int kFloatDigits = std::numeric_limits<float>::digits10 + 1;
constexpr const char* kInWords = "→";

/// Decimals for which a and b, rounded, add up to the rounded sum: four if they do, else the next that do.
/// At most those that the numbers have: `digits` significant ones, seven of float32.
int decimals_that_add_up(double a, double b, double sum, int digits = kFloatDigits) {
  const double largest = std::max(std::abs(a), std::abs(b));
  if (!std::isfinite(a + b + sum) || largest > 1e15) return kFewest;
  const int before = largest >= 1 ? static_cast<int>(std::log10(largest)) + 1 : 0;
  const int most = std::clamp(digits - before, 0, kMaxDecimals), fewest = std::clamp(most - 2, 0, kFewest);
  const auto add_up = [&](int decimals) {
    const double unit = std::pow(10, decimals);
    return std::llround(a * unit) + std::llround(b * unit) == std::llround(sum * unit);
  };
  for (int decimals = fewest; decimals <= most; ++decimals)
    if (add_up(decimals)) return decimals;
  for (int decimals = fewest - 1; decimals > 0; --decimals)
    if (add_up(decimals)) return decimals;
  return fewest;
}

/// Numbers with `decimals` decimals, very small ones with significant digits.
std::string written(double value, int decimals) {
  if (value != 0 && std::abs(value) < 10 * std::pow(10, -decimals)) return viz::number(value, 4);
  return viz::fixed_number(value, decimals);
}

/// "− 9.8765", "+ 1.2": a second term.
std::string added(double value, int decimals) {
  return (value < 0 ? " − " : " + ") + written(std::abs(value), decimals);
}
std::string in_brackets(double value, int decimals) {
  return value < 0 ? "(" + written(value, decimals) + ")" : written(value, decimals);
}

/// Whether a text is exact.
bool is_exact(const std::string& text, double value) {
  if (std::isinf(value)) return true;
  std::string ascii;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool minus = text.compare(i, 3, "−") == 0;
    ascii += minus ? '-' : text[i];
    if (minus) i += 2;
  }
  return std::strtod(ascii.c_str(), nullptr) == value;
}

const char* sign_before(const std::string& text, double value) {
  return is_exact(text, value) ? "=" : "≈";
}

/// Makes a step; the brief name ends at the first colon.
Step make_step(const std::string& name, std::string expression, double value, int decimals,
               std::vector<std::string> lines) {
  Step step{name,
            name.substr(0, name.find(':')),
            std::move(expression),
            written(value, decimals),
            "",
            std::move(lines)};
  step.sign = sign_before(step.result, value);
  return step;
}

/// The scaled score after the mask, or after an edit that replaces it.
Step mask_step(const ScoreTerms& terms, int decimals) {
  const std::string key = "key " + std::to_string(terms.key), query = "query " + std::to_string(terms.query);
  Step step{"mask", "mask", key + " ≤ " + query, "visible", kInWords, {}};
  if (!terms.edited()) {
    step.exact = {"a key after the query would become −∞ here, its weight exactly 0"};
    if (terms.key > terms.query) {
      step.expression = key + " > " + query + ", mask lifted";
      step.exact = {"without edits this key would become −∞ here, its weight exactly 0"};
    }
    return step;
  }
  const double value = terms.masked();
  step.result = written(value, decimals);
  step.sign = sign_before(step.result, value);
  const bool hidden = std::isinf(terms.masked());
  step.name = hidden ? "mask" : "edited: replaces the scaled score";
  step.brief = hidden ? "mask" : "edited";
  step.expression = hidden ? key + " masked for " + query : "by an edit";
  step.exact = {"masked " + exact(terms.masked()), "scaled " + exact(terms.scaled())};
  return step;
}

/// Whether an edit replaced the softmax weight.
bool weight_edited(const ViewContext& c, const ScoreTerms& terms) {
  const model::Plan* plan = c.run->run->plan.get();
  return plan != nullptr && plan->edits({model::Site::pattern, terms.layer}) &&
         terms.weight() != terms.softmax();
}

Step weight_step(const ViewContext& c, const ScoreTerms& terms, int decimals) {
  const std::string quotient = written(terms.power(), decimals) + " / " + written(terms.row->sum, decimals);
  const double weight = terms.weight();
  if (!weight_edited(c, terms))
    return make_step("weight", quotient, weight, kFewest, {"weight " + exact(terms.weight())});
  return make_step("weight: edited, replaces softmax", "edited, not " + quotient, weight, kFewest,
                   {"weight " + exact(terms.weight()), "softmax gives " + exact(terms.softmax())});
}

std::vector<Step> pair_steps(const ViewContext& c, const ScoreTerms& terms) {
  const model::Config& config = c.run->run->config;
  const double score = terms.score(), scaled = terms.scaled(), shifted = terms.shifted(),
               power = terms.power(), sum = terms.row->sum, largest = terms.row->largest;
  const int of_score = decimals_that_add_up(terms.positive, terms.negative, score);
  const double masked = terms.masked();
  const int of_shift = decimals_that_add_up(masked, -largest, shifted);
  const int of_sum = decimals_that_add_up(power, terms.other_powers(), sum);
  const std::string factor = scale_factor(config, terms.layer);
  const std::string keys = std::to_string(terms.row->scores.size());
  const std::string largest_name = "key " + token_name(c.run->tokens, terms.row->largest_key);
  std::vector<Step> steps;
  steps.push_back(make_step(
      "score q·k: positive + negative products",
      written(terms.positive, of_score) + added(terms.negative, of_score), score, of_score,
      {"score " + exact(terms.score()), "the model adds the products one by one",
       "positive products " + exact(terms.positive), "negative products " + exact(terms.negative)}));
  steps.push_back(
      make_step("cosine: divided by both norms",
                written(score, of_score) + " / (" + written(terms.q_norm, kFewest) + " × " +
                    written(terms.k_norm, kFewest) + ")",
                terms.cosine(), kFewest,
                {"cosine of q and k " + exact(terms.cosine()), "norm of q " + exact(terms.q_norm),
                 "norm of k " + exact(terms.k_norm), "for reference: the model does not use it"}));
  steps.push_back(
      make_step("scaled: × " + factor, written(score, of_score) + " × " + factor, scaled, of_shift,
                {"scaled " + exact(terms.scaled()),
                 "score " + exact(terms.score()) + " × " + exact(config.attention_scale(terms.layer))}));
  steps.push_back(mask_step(terms, of_shift));
  if (std::isinf(largest)) {  // there is no softmax of no key: the model sets all weights to 0
    steps.push_back(make_step("weight: all keys are masked", "by definition", terms.weight(), kFewest,
                              {"weight " + exact(terms.weight())}));
    return steps;
  }
  steps.push_back(make_step(
      "shifted: minus the row's maximum",
      written(masked, of_shift) + (largest < 0 ? " + " : " − ") + written(std::abs(largest), of_shift),
      shifted, of_shift,
      {"shifted " + exact(terms.shifted()), "maximum " + exact(terms.row->largest) + ", at " + largest_name,
       "changes no weight, only keeps e^x in range"}));
  steps.push_back(make_step("exponential", "e" + viz::superscript(written(shifted, of_shift)), power, of_sum,
                            {"exponential " + exact(terms.power())}));
  steps.push_back(
      make_step("row sum: this key + all others, " + keys + " in all",
                written(power, of_sum) + added(terms.other_powers(), of_sum), sum, of_sum,
                {"row sum " + exact(terms.row->sum), "other keys " + exact(terms.other_powers())}));
  steps.push_back(weight_step(c, terms, of_sum));
  return steps;
}

// ---- the difference side ----

/// The words for a number on both sides, and the prefix of differences.
struct SideWords {
  const char* now;
  const char* before;
  const char* difference_prefix;
};

/// A number on both sides, in the model's own type, and their difference.
template <class T>
Step difference_step(const std::string& name, T now, T before, const SideWords& sides) {
  const T signed_difference = difference(now, before);
  const std::string brief = name.substr(0, name.find(':'));
  const auto said = [](const char* what, T value) {
    return std::string(what) + " " + (std::isnan(value) ? "none" : exact(value));
  };
  const std::vector<std::string> lines{said((sides.difference_prefix + brief).c_str(), signed_difference),
                                       said(sides.now, now), said(sides.before, before)};
  Step step;
  const double a = now, b = before, d = signed_difference;
  if (std::isnan(d)) {
    const bool both = std::isnan(a) && std::isnan(b);
    step = {name, "", both ? "none on both sides" : "none on one side", "none", kInWords, lines};
  } else if (std::isinf(a) && a == b) {
    step = {name, "", written(a, kFewest) + " in both", "0", "=", lines};
  } else {
    const int decimals = decimals_that_add_up(a, -b, d);
    step = make_step(name, written(a, decimals) + " − " + in_brackets(b, decimals), d, decimals, lines);
  }
  const std::string delta("Δ ");
  step.name = delta + name, step.brief = delta + brief;
  step.difference = d;
  return step;
}

Step mask_difference_step(const ScoreTerms& now, const ScoreTerms& before, const SideWords& sides) {
  if (now.edited() || before.edited()) {
    const bool hidden = std::isinf(now.masked()) || std::isinf(before.masked());
    return difference_step(hidden ? "masked: −∞ where a key is masked" : "masked: as edited", now.masked(),
                           before.masked(), sides);
  }
  return {"mask",    "mask",   "masked on neither side",
          "visible", kInWords, {"a masked key would become −∞ here"}};
}

std::vector<Step> difference_steps(const ViewContext& c, const Numbers& n) {
  const ScoreTerms &now = n.now, &before = *n.before;
  const auto names = names_of_sides(c);
  const SideWords sides{names.first, names.second, difference_prefix(c)};
  const std::string factor = scale_factor(c.run->run->config, now.layer);
  const double both = n.through_q + n.through_k;
  const int of_both = decimals_that_add_up(n.through_q, n.through_k, both, kFloatDigits + 1);
  std::vector<Step> steps;
  steps.push_back(difference_step("score: q·k", now.score(), before.score(), sides));
  steps.push_back(
      make_step("through q, through k: each times the mean of the other",
                written(n.through_q, of_both) + added(n.through_k, of_both), both, of_both,
                {"Δq · mean of both k " + exact(n.through_q), "mean of both q · Δk " + exact(n.through_k),
                 std::string("sum: ") + difference_prefix(c) + "score, up to rounding"}));
  steps.back().difference = both;
  steps.push_back(difference_step("cosine: of q and k", now.cosine(), before.cosine(), sides));
  steps.push_back(difference_step("scaled: score × " + factor, now.scaled(), before.scaled(), sides));
  steps.push_back(mask_difference_step(now, before, sides));
  steps.push_back(
      difference_step("shifted: minus the row's maximum", now.shifted(), before.shifted(), sides));
  const auto largest = [&](const char* side, const PromptRun& of, const ScoreTerms& terms) {
    return "maximum, " + std::string(side) + ": " + exact(terms.row->largest) + ", at key " +
           token_name(of.tokens, terms.row->largest_key);
  };
  steps.back().exact.push_back(largest(sides.now, *c.run, now));
  steps.back().exact.push_back(largest(sides.before, *c.run->baseline, before));
  steps.push_back(difference_step("exponential", now.power(), before.power(), sides));
  steps.push_back(difference_step("row sum: of all exponentials", now.row->sum, before.row->sum, sides));
  steps.push_back(difference_step(weight_edited(c, now) ? "weight: edited, replaces softmax" : "weight",
                                  now.weight(), before.weight(), sides));
  return steps;
}

}  // namespace

std::vector<Step> steps_of(const ViewContext& c, const Numbers& n) {
  return n.before ? difference_steps(c, n) : pair_steps(c, n.now);
}

int step_count(const ViewContext& c) {
  constexpr int kPairSteps = 8, kDifferenceSteps = 9;
  return c.side == Side::difference ? kDifferenceSteps : kPairSteps;
}

}  // namespace headscope::app::score_breakdown
