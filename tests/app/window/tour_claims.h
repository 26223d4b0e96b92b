#pragma once
// What the sentences of the bundled tours are checked with.
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/predictions.h"
#include "app/views/parts/selected.h"
#include "app/window/core.h"
#include "tests/support/matchers.h"

namespace headscope::app {

/// The shown run, read without the program's own numbers.
class RunReader {
 public:
  RunReader(const PromptRun& run, const Selection& selection)
      : run_(run), at_(clamped(selection, run)), length_(run.run->length()) {}

  const std::string& label(int position) const { return run_.tokens.labels[position]; }
  int id(int position) const { return run_.run->tokens[position]; }
  int length() const { return length_; }

  float weight(int layer, int head, int query, int key) const {
    const auto [pattern, is_new] = patterns_.try_emplace({layer, head});
    if (is_new) pattern->second = computed(PatternOf{layer, head}, run_);
    return pattern->second.matrix().at(query, key);
  }
  int strongest(int layer, int head, int query) const {
    int best = 0;
    for (int key = 1; key < length_; ++key)
      if (weight(layer, head, query, key) > weight(layer, head, query, best)) best = key;
    return best;
  }
  /// Whether a query's strongest key stands after an earlier copy of the query's token.
  bool copies(int layer, int head, int query) const {
    const int key = strongest(layer, head, query);
    return key > 0 && key <= query && id(key - 1) == id(query);
  }
  // The same of the selected head.
  float weight(int query, int key) const { return weight(at_.layer, at_.head, query, key); }
  int strongest(int query) const { return strongest(at_.layer, at_.head, query); }
  bool copies(int query) const { return copies(at_.layer, at_.head, query); }
  const Selection& selected() const { return at_; }

  double cosine_of_positions(int a, int b) const {
    const auto d = static_cast<std::size_t>(run_.run->config.n_embd);
    const auto all = run_.model->transformer->position_embedding();
    const auto row = [&](int p) { return all.subspan(static_cast<std::size_t>(p) * d, d); };
    const auto dot = [](auto x, auto y) { return std::inner_product(x.begin(), x.end(), y.begin(), 0.0); };
    return dot(row(a), row(b)) / std::sqrt(dot(row(a), row(a)) * dot(row(b), row(b)));
  }

  /// Ids by descending probability after the query, in the run or its baseline.
  static std::vector<int> guesses(const NextToken& next) {
    std::vector<int> ids(next.logits.size());
    std::iota(ids.begin(), ids.end(), 0);
    std::ranges::stable_sort(ids, std::greater(), [&](int id) { return next.logits[id]; });
    return ids;
  }
  static double probability(const NextToken& next, int id) {
    double sum = 0;
    for (const float logit : next.logits)
      sum += std::exp(static_cast<double>(logit) - static_cast<double>(next.logits[id]));
    return 1 / sum;
  }
  NextToken next() const { return computed(NextAfter{at_.query}, run_); }
  NextToken next_before() const {
    return run_.baseline ? computed(NextAfter{counterpart_of(run_, at_.query)}, *run_.baseline) : next();
  }
  /// The heads, as layer * n_head + head, by what they add to the best guess's logit after the query, the
  /// most first.
  std::vector<int> heads_by_push() const {
    const Attribution parts = computed(AttributionOf{logit_at(at_.query)}, run_);
    const model::Config& config = run_.run->config;
    std::vector<int> heads(static_cast<std::size_t>(config.n_layer * config.n_head));
    std::iota(heads.begin(), heads.end(), 0);
    std::ranges::stable_sort(heads, std::greater(), [&](int head) {
      return parts.of_head(head / config.n_head, head % config.n_head);
    });
    return heads;
  }
  std::string label_of_id(int id) const { return viz::visible(run_.model->tokenizer->bytes(id)); }

  /// What a name in braces stands for: words, or a number.
  std::variant<std::string, double> value(std::string_view name) const {
    const model::Config& config = run_.run->config;
    const auto best = [&](const NextToken& next) { return guesses(next)[0]; };
    const auto quoted = [](const std::string& words) { return "“" + words + "”"; };
    const int strongest_key = strongest(at_.layer, at_.head, at_.query);
    const int key = at_.key >= 0 ? at_.key : strongest_key;
    const std::map<std::string_view, std::function<std::variant<std::string, double>()>> values{
        {"model", [&] { return run_.model->name; }},
        {"scale", [&] { return "1/√" + std::to_string(config.n_embd / config.n_head); }},
        {"token", [&] { return quoted(label(at_.query)); }},
        {"key", [&] { return quoted(label(key)); }},
        {"strongest_key", [&] { return quoted(label(strongest_key)); }},
        {"guess", [&] { return quoted(label_of_id(best(next()))); }},
        {"second_guess", [&] { return quoted(label_of_id(guesses(next())[1])); }},
        {"guess_before", [&] { return quoted(label_of_id(best(next_before()))); }},
        {"parameters", [&] { return 1.0 * static_cast<double>(run_.model->transformer->parameter_count()); }},
        {"layers", [&] { return 1.0 * config.n_layer; }},
        {"heads", [&] { return 1.0 * config.n_head; }},
        {"all_heads", [&] { return 1.0 * config.n_layer * config.n_head; }},
        {"d_model", [&] { return 1.0 * config.n_embd; }},
        {"d_head", [&] { return 1.0 * config.n_embd / config.n_head; }},
        {"d_mlp", [&] { return 1.0 * config.n_inner; }},
        {"vocabulary", [&] { return 1.0 * config.vocab_size; }},
        {"n_ctx", [&] { return 1.0 * config.n_ctx; }},
        {"bytes", [&] { return 1.0 * static_cast<double>(run_.prompt.text.size()); }},
        {"tokens", [&] { return 1.0 * static_cast<double>(run_.tokens.tokens.size()); }},
        {"positions", [&] { return 1.0 * length_; }},
        {"layer", [&] { return 1.0 * at_.layer; }},
        {"head", [&] { return 1.0 * at_.head; }},
        {"position", [&] { return 1.0 * at_.query; }},
        {"id", [&] { return 1.0 * id(at_.query); }},
        {"seen", [&] { return 1.0 * at_.query + 1; }},
        {"earlier_position",
         [&] {
           int earlier = at_.query - 1;
           while (id(earlier) != id(at_.query)) --earlier;
           return 1.0 * earlier;
         }},
        {"strongest_position", [&] { return 1.0 * strongest_key; }},
        {"key_position", [&] { return 1.0 * key; }},
        {"strongest_weight",
         [&] { return static_cast<double>(weight(at_.layer, at_.head, at_.query, strongest_key)); }},
        {"weight", [&] { return static_cast<double>(weight(at_.layer, at_.head, at_.query, key)); }},
        {"probability", [&] { return probability(next(), best(next())); }},
        {"probability_before", [&] { return probability(next_before(), best(next_before())); }},
        {"probability_of_it", [&] { return probability(next(), best(next_before())); }},
    };
    return values.at(name)();
  }

  template <class Q>
  static AnswerOf<Q> computed(const Q& question, const PromptRun& run) {
    model::Workspace workspace;
    return question.compute(run, {workspace, {}, {}, {}, {}});
  }

 private:
  const PromptRun& run_;
  Selection at_;
  int length_;
  mutable std::map<std::pair<int, int>, Pattern> patterns_;
};

/// Counts the queries in [from, to) for which something holds.
inline int count_of(int from, int to, const std::function<bool(int)>& holds) {
  int count = 0;
  for (int i = from; i < to; ++i) count += holds(i) ? 1 : 0;
  return count;
}

/// The sentences about a tour's own prompt or the bundled model, by their beginning, and what makes them
/// true.
struct Claim {
  std::string_view begins;
  std::function<bool(const Core&, const RunReader&)> holds;
};

/// Those of the tour of a circuit.
std::vector<Claim> claims_of_circuits();

}  // namespace headscope::app
