#include "app/tour/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/run/analyses/attribution.h"
#include "app/run/analyses/next_token.h"
#include "app/views/parts/names.h"
#include "app/views/parts/selected.h"
#include "app/views/view.h"
#include "model/pass/statistics.h"

namespace headscope::app {
namespace {

const model::Config& config(const ViewContext& c) {
  return c.run->run->config;
}

std::string label_at(const ViewContext& c, int position) {
  return "“" + c.run->tokens.labels[position] + "”";
}

/// The selected key, else the one with the largest weight; -1: not known yet.
int key_of(const ViewContext& c) {
  if (c.selection.key >= 0) return c.selection.key;
  const auto pattern = current_pattern(c);
  const auto weights = weights_of_query(c, pattern.get());
  if (weights.empty()) return -1;
  return static_cast<int>(std::ranges::max_element(weights) - weights.begin());
}

std::string guess(const ViewContext& c, std::size_t place) {
  const auto next = current_next(c);
  if (!next) return "";
  const auto best = model::largest_logits(next->logits, static_cast<int>(place) + 1);
  return best.size() > place ? "“" + label_of(c, best[place].id) + "”" : "";
}

/// The next token in the baseline, or in this run if there is no baseline.
std::shared_ptr<const NextToken> next_before(const ViewContext& c) {
  return c.compared() ? compared_next(c) : current_next(c);
}

std::string probability_of(const NextToken& next, int id) {
  const auto logit = static_cast<double>(next.logits[id]);
  return percent(std::exp(logit - model::log_sum_exp(next.logits)));
}

int best_guess(const NextToken& next) {
  return model::largest_logits(next.logits, 1).front().id;
}

/// A number by its name. `words` returns an empty text while it is not known.
struct Number {
  std::string_view name;
  std::string (*words)(const ViewContext&);
};

constexpr std::array kNumbers{
    Number{"model", [](const ViewContext& c) { return c.run->model->name; }},
    Number{"parameters",
           [](const ViewContext& c) {
             return grouped(static_cast<std::int64_t>(c.run->model->transformer->parameter_count()));
           }},
    Number{"layers", [](const ViewContext& c) { return grouped(config(c).n_layer); }},
    Number{"heads", [](const ViewContext& c) { return grouped(config(c).n_head); }},
    Number{"all_heads", [](const ViewContext& c) { return grouped(config(c).n_layer * config(c).n_head); }},
    Number{"d_model", [](const ViewContext& c) { return grouped(config(c).n_embd); }},
    Number{"d_head", [](const ViewContext& c) { return grouped(config(c).n_embd / config(c).n_head); }},
    Number{"d_mlp", [](const ViewContext& c) { return grouped(config(c).n_inner); }},
    Number{"vocabulary", [](const ViewContext& c) { return grouped(config(c).vocab_size); }},
    Number{"n_ctx", [](const ViewContext& c) { return grouped(config(c).n_ctx); }},
    Number{"tokens", [](const ViewContext& c) { return grouped(c.run->tokens.length()); }},
    Number{"bytes", [](const ViewContext& c) { return grouped(std::ssize(c.run->prompt.text)); }},
    Number{"token", [](const ViewContext& c) { return label_at(c, c.selection.query); }},
    Number{"position", [](const ViewContext& c) { return grouped(c.selection.query); }},
    Number{"id", [](const ViewContext& c) { return grouped(c.run->run->tokens[c.selection.query]); }},
    Number{"seen", [](const ViewContext& c) { return grouped(c.selection.query + 1); }},
    Number{"layer", [](const ViewContext& c) { return std::to_string(c.selection.layer); }},
    Number{"head", [](const ViewContext& c) { return std::to_string(c.selection.head); }},
    Number{"key",
           [](const ViewContext& c) {
             const int key = key_of(c);
             return key < 0 ? "" : label_at(c, key);
           }},
    Number{"key_position",
           [](const ViewContext& c) {
             const int key = key_of(c);
             return key < 0 ? "" : std::to_string(key);
           }},
    Number{"weight",
           [](const ViewContext& c) -> std::string {
             const auto pattern = current_pattern(c);
             const auto weights = weights_of_query(c, pattern.get());
             const int key = key_of(c);
             if (key < 0 || key >= std::ssize(weights)) return "";
             return percent(static_cast<double>(weights[key]));
           }},
    Number{"guess", [](const ViewContext& c) { return guess(c, 0); }},
    Number{"second_guess", [](const ViewContext& c) { return guess(c, 1); }},
    Number{"probability",
           [](const ViewContext& c) -> std::string {
             const auto next = current_next(c);
             return next ? probability_of(*next, best_guess(*next)) : "";
           }},
    // For edited runs: the baseline's first guess, and its probability in the baseline and now.
    Number{"guess_before",
           [](const ViewContext& c) {
             const auto before = next_before(c);
             return before ? "“" + label_of(c, best_guess(*before)) + "”" : "";
           }},
    Number{"probability_before",
           [](const ViewContext& c) -> std::string {
             const auto before = next_before(c);
             return before ? probability_of(*before, best_guess(*before)) : "";
           }},
    Number{"probability_of_it",
           [](const ViewContext& c) -> std::string {
             const auto before = next_before(c), now = current_next(c);
             return before && now ? probability_of(*now, best_guess(*before)) : "";
           }},
};

const Number* find_number(std::string_view name) {
  const auto found = std::ranges::find(kNumbers, name, &Number::name);
  return found == kNumbers.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string_view> numbers_in(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{', open)) {
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) break;
    names.push_back(text.substr(open + 1, close - open - 1));
    open = close;
  }
  return names;
}

bool is_number_name(std::string_view name) {
  return find_number(name) != nullptr;
}

std::string number_names() {
  std::string names;
  for (const Number& number : kNumbers) names.append(names.empty() ? "" : ", ").append(number.name);
  return names;
}

std::string with_numbers(std::string_view text, const ViewContext& context) {
  std::string result;
  for (const std::string_view name : numbers_in(text)) {
    const auto open = static_cast<std::size_t>(name.data() - text.data()) - 1;
    result += text.substr(0, open);
    const Number* number = find_number(name);
    const bool known = context.run && !context.run->model->patterns;
    const std::string words = known && number ? number->words(context) : "";
    result += words.empty() ? "…" : words;
    text.remove_prefix(open + name.size() + 2);
  }
  return result.append(text);
}

}  // namespace headscope::app
