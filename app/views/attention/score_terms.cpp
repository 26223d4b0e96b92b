#include "app/views/attention/score_terms.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "app/views/attention/query_rows.h"
#include "app/views/parts/comparison_words.h"
#include "app/views/parts/declare.h"
#include "app/views/parts/difference.h"
#include "app/views/parts/file_rows.h"
#include "app/views/parts/names.h"
#include "app/views/parts/navigation.h"
#include "app/views/parts/selected.h"
#include "app/views/view.h"
#include "model/pass/plan.h"
#include "viz/scene/colormap.h"

namespace headscope::app::cell {
namespace {

Cell cell_of(const PromptRun& of, const Selection& selection, int query, int key,
             std::shared_ptr<const SoftmaxRow> row) {
  const model::Run& run = *of.run;
  Cell cell;
  cell.layer = selection.layer, cell.head = selection.head, cell.query = query, cell.key = key;
  const auto q = run.q(cell.layer, cell.head, query);
  cell.q.assign(q.begin(), q.end());
  cell.k = run.k(cell.layer, cell.head, key);
  for (std::size_t i = 0; i < cell.k.size(); ++i) {
    const double product = static_cast<double>(cell.q[i]) * static_cast<double>(cell.k[i]);
    cell.products.push_back(product);
    (product < 0 ? cell.negative : cell.positive) += product;
  }
  cell.q_norm = norm_of(cell.q);
  cell.k_norm = norm_of(cell.k);
  cell.row = std::move(row);
  return cell;
}

/// The difference of the weight on each key; NaN where nothing stands for it.
std::vector<float> changed_weights(const QueryRows& rows) {
  std::vector<float> changes;
  for (std::size_t key = 0; key < rows.stands.size(); ++key) {
    const int on_baseline = rows.stands[key];
    changes.push_back(on_baseline < 0
                          ? std::numeric_limits<float>::quiet_NaN()
                          : difference(rows.now->weights[key], rows.before->weights[on_baseline]));
  }
  return changes;
}

/// The strongest key, on the difference side the one with the largest difference; without any, the strongest
/// that has a counterpart.
int key_of_itself(const QueryRows& rows, const std::vector<float>& changes) {
  const auto& weights = rows.now->weights;
  if (!rows.before) return static_cast<int>(std::ranges::max_element(weights) - weights.begin());
  int best = 0;
  const auto rank = [&](int key) {
    return std::isnan(changes[key]) ? std::pair(-1.F, 0.F) : std::pair(std::abs(changes[key]), weights[key]);
  };
  for (int key = 1; key < std::ssize(changes); ++key)
    if (rank(key) > rank(best)) best = key;
  return best;
}

void set_change(Numbers& n) {
  const Cell &now = n.now, &before = *n.before;
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
  n.of_keys = rows->before ? changed_weights(*rows) : rows->now->powers;
  const int key = c.selection.key >= 0 ? c.selection.key : key_of_itself(*rows, n.of_keys);
  n.now = cell_of(*c.run, c.selection, c.selection.query, key, rows->now);
  if (!rows->before) {
    n.q = n.now.q, n.k = n.now.k, n.products = n.now.products;
    return n;
  }
  const int on_baseline = rows->stands[key];
  if (on_baseline < 0) return std::nullopt;
  n.before = cell_of(*c.run->baseline, c.selection, compared_query(c), on_baseline, rows->before);
  set_change(n);
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
  visit_quantities(n, [&](const char*, auto change) { none = none && !(change < 0 || change > 0); });
  return none;
}

// ---- the steps in words ----

namespace {

constexpr int kFewest = 4, kMostDecimals = 7;
constexpr const char* kInWords = "→";

/// The fewest decimals for which a and b, rounded, add up to the rounded sum.
int decimals_that_add_up(double a, double b, double sum) {
  for (int decimals = kFewest; decimals <= kMostDecimals; ++decimals) {
    const double unit = std::pow(10, decimals);
    if (std::abs(a * unit) > 1e15 || !std::isfinite(a + b + sum)) return kFewest;
    if (std::llround(a * unit) + std::llround(b * unit) == std::llround(sum * unit)) return decimals;
  }
  return kFewest;
}

/// Numbers with `decimals` decimals, very small ones with significant digits.
std::string written(double value, int decimals) {
  if (value != 0 && std::abs(value) < 10 * std::pow(10, -decimals)) return viz::number(value, 4);
  return viz::fixed_number(value, decimals);
}

/// "− 9.8765", "+ 1.2": what follows a first term.
std::string added(double value, int decimals) {
  return (value < 0 ? " − " : " + ") + written(std::abs(value), decimals);
}
std::string in_brackets(double value, int decimals) {
  return value < 0 ? "(" + written(value, decimals) + ")" : written(value, decimals);
}

/// Whether a text reads as the number itself.
bool says_all(const std::string& text, double value) {
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
  return says_all(text, value) ? "=" : "≈";
}

/// The brief name ends before the first colon.
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

/// The scaled score through the mask, or through an edit in its place.
Step mask_step(const Cell& cell, int decimals) {
  const std::string key = "key " + std::to_string(cell.key), query = "query " + std::to_string(cell.query);
  Step step{"mask", "mask", key + " ≤ " + query, "seen", kInWords, {}};
  if (!cell.edited()) {
    step.exact = {"a key after the query would become −∞ here, its weight exactly 0"};
    if (cell.key > cell.query) {
      step.expression = key + " > " + query + ", mask lifted";
      step.exact = {"without edits this key would become −∞ here, its weight exactly 0"};
    }
    return step;
  }
  const double value = cell.masked();
  step.result = written(value, decimals);
  step.sign = sign_before(step.result, value);
  const bool hidden = std::isinf(cell.masked());
  step.name = hidden ? "mask" : "edited: in place of the scaled score";
  step.brief = hidden ? "mask" : "edited";
  step.expression = hidden ? query + " may not see " + key : "by an edit";
  step.exact = {"masked " + exact(cell.masked()), "scaled " + exact(cell.scaled())};
  return step;
}

/// Whether an edit replaced the softmax weight.
bool weight_edited(const ViewContext& c, const Cell& cell) {
  const model::Plan* plan = c.run->run->plan.get();
  return plan != nullptr && plan->edits({model::Site::pattern, cell.layer}) &&
         cell.weight() != cell.softmax();
}

Step weight_step(const ViewContext& c, const Cell& cell, int decimals) {
  const std::string quotient = written(cell.power(), decimals) + " / " + written(cell.row->sum, decimals);
  const double weight = cell.weight();
  if (!weight_edited(c, cell))
    return make_step("weight", quotient, weight, kFewest, {"weight " + exact(cell.weight())});
  return make_step("weight: edited, in place of softmax", "edited, not " + quotient, weight, kFewest,
                   {"weight " + exact(cell.weight()), "softmax gives " + exact(cell.softmax())});
}

std::vector<Step> steps_of_pair(const ViewContext& c, const Cell& cell) {
  const model::Config& config = c.run->run->config;
  const double score = cell.score(), scaled = cell.scaled(), shifted = cell.shifted(), power = cell.power(),
               sum = cell.row->sum, largest = cell.row->largest;
  const int of_score = decimals_that_add_up(cell.positive, cell.negative, score);
  const double masked = cell.masked();
  const int of_shift = decimals_that_add_up(masked, -largest, shifted);
  const int of_sum = decimals_that_add_up(power, cell.other_powers(), sum);
  const std::string factor = scale_factor(config, cell.layer);
  const std::string keys = std::to_string(cell.row->scores.size());
  const std::string largest_name = "key " + token_name(c.run->tokens, cell.row->largest_key);
  std::vector<Step> steps;
  steps.push_back(
      make_step("score q·k: positive and negative products",
                written(cell.positive, of_score) + added(cell.negative, of_score), score, of_score,
                {"score " + exact(cell.score()), "the model adds the products one after another",
                 "positive products " + exact(cell.positive), "negative products " + exact(cell.negative)}));
  steps.push_back(make_step("cosine: over both norms",
                            written(score, of_score) + " / (" + written(cell.q_norm, kFewest) + " × " +
                                written(cell.k_norm, kFewest) + ")",
                            cell.cosine(), kFewest,
                            {"cosine of q and k " + exact(cell.cosine()), "norm of q " + exact(cell.q_norm),
                             "norm of k " + exact(cell.k_norm), "for the eye: the model does not use it"}));
  steps.push_back(
      make_step("scaled: × " + factor, written(score, of_score) + " × " + factor, scaled, of_shift,
                {"scaled " + exact(cell.scaled()),
                 "score " + exact(cell.score()) + " × " + exact(config.attention_scale(cell.layer))}));
  steps.push_back(mask_step(cell, of_shift));
  steps.push_back(make_step(
      "less the largest: of the row",
      written(masked, of_shift) + (largest < 0 ? " + " : " − ") + written(std::abs(largest), of_shift),
      shifted, of_shift,
      {"difference " + exact(cell.shifted()), "largest " + exact(cell.row->largest) + ", of " + largest_name,
       "changes no weight, but keeps e^x in range"}));
  steps.push_back(make_step("exponential", "e^" + in_brackets(shifted, of_shift), power, of_sum,
                            {"exponential " + exact(cell.power())}));
  steps.push_back(
      make_step("row sum: this key and the others of " + keys,
                written(power, of_sum) + added(cell.other_powers(), of_sum), sum, of_sum,
                {"row sum " + exact(cell.row->sum), "of the other keys " + exact(cell.other_powers())}));
  steps.push_back(weight_step(c, cell, of_sum));
  return steps;
}

// ---- what changed ----

/// The words for a number on both sides, and for the difference.
struct SideWords {
  const char* now;
  const char* before;
  const char* difference_prefix;
};

/// A number on both sides, in the model's own type, and their difference.
template <class T>
Step change_step(const std::string& name, T now, T before, const SideWords& sides) {
  const T change = difference(now, before);
  const std::string brief = name.substr(0, name.find(':'));
  const auto said = [](const char* what, T value) {
    return std::string(what) + " " + (std::isnan(value) ? "none" : exact(value));
  };
  const std::vector<std::string> lines{said((sides.difference_prefix + brief).c_str(), change),
                                       said(sides.now, now), said(sides.before, before)};
  Step step;
  const double a = now, b = before, d = change;
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
  step.change = d;
  return step;
}

Step change_of_mask(const Cell& now, const Cell& before, const SideWords& sides) {
  if (now.edited() || before.edited()) {
    const bool hidden = std::isinf(now.masked()) || std::isinf(before.masked());
    return change_step(hidden ? "masked: hidden keys are −∞" : "masked: as edited", now.masked(),
                       before.masked(), sides);
  }
  return {"mask", "mask",   "hidden on neither side",
          "seen", kInWords, {"a key that a query may not see would become −∞ here"}};
}

std::vector<Step> steps_of_change(const ViewContext& c, const Numbers& n) {
  const Cell &now = n.now, &before = *n.before;
  const auto names = names_of_sides(c);
  const SideWords sides{names.first, names.second, difference_prefix(c)};
  const std::string factor = scale_factor(c.run->run->config, now.layer);
  const double both = n.through_q + n.through_k;
  const int of_both = decimals_that_add_up(n.through_q, n.through_k, both);
  std::vector<Step> steps;
  steps.push_back(change_step("score: q·k", now.score(), before.score(), sides));
  steps.push_back(
      make_step("through q, through k: each times the mean of the other",
                written(n.through_q, of_both) + added(n.through_k, of_both), both, of_both,
                {"Δq · mean of both k " + exact(n.through_q), "mean of both q · Δk " + exact(n.through_k),
                 std::string("together the ") + difference_prefix(c) + "the score, but for rounding"}));
  steps.back().change = both;
  steps.push_back(change_step("cosine: of q and k", now.cosine(), before.cosine(), sides));
  steps.push_back(change_step("scaled: score × " + factor, now.scaled(), before.scaled(), sides));
  steps.push_back(change_of_mask(now, before, sides));
  steps.push_back(
      change_step("difference: from the largest of its row", now.shifted(), before.shifted(), sides));
  const auto largest = [&](const char* side, const PromptRun& of, const Cell& cell) {
    return "largest, " + std::string(side) + ": " + exact(cell.row->largest) + ", of key " +
           token_name(of.tokens, cell.row->largest_key);
  };
  steps.back().exact.push_back(largest(sides.now, *c.run, now));
  steps.back().exact.push_back(largest(sides.before, *c.run->baseline, before));
  steps.push_back(change_step("exponential", now.power(), before.power(), sides));
  steps.push_back(change_step("row sum: of all exponentials", now.row->sum, before.row->sum, sides));
  steps.push_back(change_step(weight_edited(c, now) ? "weight: edited, in place of softmax" : "weight",
                              now.weight(), before.weight(), sides));
  return steps;
}

}  // namespace

std::vector<Step> steps_of(const ViewContext& c, const Numbers& n) {
  return n.before ? steps_of_change(c, n) : steps_of_pair(c, n.now);
}

int step_count(const ViewContext& c) {
  constexpr int kOfPair = 8, kOfChange = 9;
  return c.side == Side::difference ? kOfChange : kOfPair;
}

}  // namespace headscope::app::cell
