#include "app/tour/tour.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/run/analyses/attribution.h"
#include "app/run/analyses/predictions.h"
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

using Next = std::shared_ptr<const NextToken>;  // null while it is not known

std::string guess(const ViewContext& c, const Next& next, std::size_t place = 0) {
  if (!next) return "";
  const auto best = model::largest_logits(next->logits, static_cast<int>(place) + 1);
  return best.size() > place ? "“" + label_of(c, best[place].id) + "”" : "";
}

/// The next token in the baseline, or in this run if there is no baseline.
Next next_before(const ViewContext& c) {
  return c.compared() ? compared_next(c) : current_next(c);
}

using Value = std::optional<double>;

/// The probability in `next` of the first guess of `guessing`.
Value probability(const Next& next, const Next& guessing) {
  if (!next || !guessing) return {};
  const int id = model::largest_logits(guessing->logits, 1).front().id;
  return std::exp(static_cast<double>(next->logits[id]) - model::log_sum_exp(next->logits));
}

constexpr Number count(std::string_view name, Value (*value)(const ViewContext&)) {
  return {name, value, [](double n) { return grouped(static_cast<std::int64_t>(n)); }};
}
constexpr Number index(std::string_view name, Value (*value)(const ViewContext&)) {
  return {name, value, [](double n) { return std::to_string(static_cast<int>(n)); }};
}
constexpr Number share(std::string_view name, Value (*value)(const ViewContext&)) {
  return {name, value, [](double fraction) { return percent(fraction); }};
}
constexpr Number text(std::string_view name, std::string (*words)(const ViewContext&)) {
  return {name, nullptr, nullptr, words};
}

Value position(int at) {
  return at < 0 ? Value() : Value(at);
}

std::string label_of_key(const ViewContext& c, int key) {
  return key < 0 ? "" : "“" + key_tokens(*c.run).labels[key] + "”";
}

Value weight_on(const ViewContext& c, int key) {
  const auto pattern = current_pattern(c);
  const auto weights = weights_of_query(c, pattern.get());
  if (key < 0 || key >= std::ssize(weights)) return {};
  return static_cast<double>(weights[key]);
}

constexpr std::array kNumbers{
    text("model", [](const ViewContext& c) { return c.run->model->name; }),
    count("parameters",
          [](const ViewContext& c) -> Value {
            return static_cast<double>(c.run->model->transformer->parameter_count());
          }),
    count("layers", [](const ViewContext& c) -> Value { return config(c).n_layer; }),
    count("heads", [](const ViewContext& c) -> Value { return config(c).n_head; }),
    count("all_heads", [](const ViewContext& c) -> Value { return config(c).n_layer * config(c).n_head; }),
    count("d_model", [](const ViewContext& c) -> Value { return config(c).n_embd; }),
    count("d_head", [](const ViewContext& c) -> Value { return config(c).d_head(); }),
    count("d_mlp", [](const ViewContext& c) -> Value { return config(c).n_inner; }),
    count("vocabulary", [](const ViewContext& c) -> Value { return config(c).vocab_size; }),
    count("n_ctx", [](const ViewContext& c) -> Value { return config(c).n_ctx; }),
    /// The factor of scores: "1/√64".
    text("scale", [](const ViewContext& c) { return scale_factor(config(c), c.selection.layer); }),
    count("tokens", [](const ViewContext& c) -> Value { return c.run->tokens.length(); }),
    /// The tokens that fit into the model: those that were run.
    count("positions", [](const ViewContext& c) -> Value { return c.run->run->length(); }),
    count("bytes",
          [](const ViewContext& c) -> Value { return static_cast<double>(c.run->tokens.tokens.back().end); }),
    text("token", [](const ViewContext& c) { return label_at(c, c.selection.query); }),
    index("position", [](const ViewContext& c) -> Value { return c.selection.query; }),
    // The nearest earlier position of the same token.
    index("earlier_position",
          [](const ViewContext& c) {
            const auto& tokens = c.run->run->tokens;
            int at = c.selection.query - 1;
            while (at >= 0 && tokens[at] != tokens[c.selection.query]) --at;
            return position(at);
          }),
    index("id", [](const ViewContext& c) -> Value { return c.run->run->tokens[c.selection.query]; }),
    count("seen", [](const ViewContext& c) -> Value { return c.selection.query + 1; }),
    index("layer", [](const ViewContext& c) -> Value { return c.selection.layer; }),
    index("head", [](const ViewContext& c) -> Value { return c.selection.head; }),
    // The selected key, or the strongest if none is selected.
    text("key", [](const ViewContext& c) { return label_of_key(c, attended_key(c)); }),
    index("key_position", [](const ViewContext& c) { return position(attended_key(c)); }),
    share("weight", [](const ViewContext& c) { return weight_on(c, attended_key(c)); }),
    text("strongest_key", [](const ViewContext& c) { return label_of_key(c, strongest_key(c)); }),
    index("strongest_position", [](const ViewContext& c) { return position(strongest_key(c)); }),
    share("strongest_weight", [](const ViewContext& c) { return weight_on(c, strongest_key(c)); }),
    text("guess", [](const ViewContext& c) { return guess(c, current_next(c)); }),
    text("second_guess", [](const ViewContext& c) { return guess(c, current_next(c), 1); }),
    share("probability", [](const ViewContext& c) { return probability(current_next(c), current_next(c)); }),
    // For edited runs: the baseline's first guess, and its probability in the baseline and now.
    text("guess_before", [](const ViewContext& c) { return guess(c, next_before(c)); }),
    share("probability_before",
          [](const ViewContext& c) { return probability(next_before(c), next_before(c)); }),
    share("probability_of_it",
          [](const ViewContext& c) { return probability(current_next(c), next_before(c)); }),
};

std::string words_of(const Number& number, const ViewContext& context) {
  if (number.words != nullptr) return number.words(context);
  const Value value = number.value(context);
  return value ? number.written(*value) : "";
}

}  // namespace

const Number* find_number(std::string_view name) {
  const auto found = std::ranges::find(kNumbers, name, &Number::name);
  return found == kNumbers.end() ? nullptr : &*found;
}

std::vector<std::string_view> numbers_in(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::size_t open; (open = text.find('{')) != text.npos;) {
    const std::size_t close = text.find('}', open);
    if (close == text.npos) break;
    names.push_back(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close);
  }
  return names;
}

std::string number_names() {
  std::string names;
  for (const Number& number : kNumbers) names.append(names.empty() ? "" : ", ").append(number.name);
  return names;
}

std::string with_numbers(std::string_view text, const ViewContext& context) {
  const bool has_run = context.run && !context.run->model->patterns;
  std::string result;
  for (const std::string_view name : numbers_in(text)) {
    const auto open = static_cast<std::size_t>(name.data() - text.data()) - 1;
    result += text.substr(0, open);
    const Number* number = find_number(name);
    const std::string words = has_run && number ? words_of(*number, context) : "";
    result += words.empty() ? "…" : words;
    text.remove_prefix(open + name.size() + 2);
  }
  return result.append(text);
}

}  // namespace headscope::app
