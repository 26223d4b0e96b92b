#include "tests/support/reference_gradients.h"

#include <numbers>
#include <stdexcept>

#include "tests/support/edits_by_hand.h"

namespace headscope::testing {
namespace {

using namespace model;
using Rows = ReferencePass<Taped>::Rows;

Taped activated(Activation activation, const Taped& x) {
  switch (activation) {
    case Activation::gelu_new:
      return Taped{0.5} * x *
             (Taped{1} + tanh(Taped{std::sqrt(2 / std::numbers::pi)} * (x + Taped{0.044715} * x * x * x)));
    case Activation::gelu:
      return Taped{0.5} * x * (Taped{1} + erf(x / Taped{std::numbers::sqrt2}));
    case Activation::relu:
      return x.value > 0 ? x : Taped{0};
    case Activation::silu:
      return x / (Taped{1} + exp(Taped{0} - x));
    case Activation::tanh:
      return tanh(x);
    default:  // their slopes have a test of their own
      throw std::logic_error("an activation that the reference does not know");
  }
}

}  // namespace

ReferenceGradients::Result ReferenceGradients::run(std::span<const int> tokens, const Edits& edits,
                                                   const Metric& metric, const Offset& offset) const {
  Tape tape;
  std::map<std::string, std::vector<Taped>> recorded;
  RecordedValues others;  // of the runs that patches are from
  for (const Edit& edit : edits)
    if (const auto* patch = std::get_if<PatchFrom>(&edit)) {
      const std::string name = hook_name(patch->at.point);
      ReferenceGpt2::Edits watch;
      watch.edit = [&](const std::string& hook, int head, ReferenceGpt2::Rows& rows) {
        if (hook == name) others[name][head] = rows;
      };
      parameters_.run(patch->tokens, watch);
    }
  const ByHand<Taped> by_hand(edits, others);
  // Marks every number, so that its derivative can be read.
  const auto mark = [&](const std::string& name, Taped& number) {
    std::vector<Taped>& all = recorded[name];
    if (offset.hook == name && offset.cell == all.size()) number.value += offset.by;
    number = number.marked(tape);
    all.push_back(number);
  };
  const ReferencePass<Taped> pass{
      .config = parameters_.config(),
      .parameter = [this](const std::string& name) -> const std::vector<double>& {
        return parameters_.parameter(name);
      },
      .hook =
          [&](HookPoint point, std::vector<Rows>& heads) {
            const std::string name = hook_name(point);
            for (std::size_t head = 0; head < heads.size(); ++head)
              by_hand(name, static_cast<int>(head), heads[head]);
            if (has_cells(point.site)) {
              for (Rows& head : heads)
                for (auto& row : head)
                  for (Taped& number : row) mark(name, number);
            } else {
              for (std::size_t pos = 0; pos < tokens.size(); ++pos)
                for (Rows& head : heads)
                  for (Taped& number : head[pos]) mark(name, number);
            }
          },
      .sees = [&](int layer, int head, std::size_t query,
                  std::size_t key) { return sees_by_hand(edits, layer, head, query, key); },
      .row_of_wpe = [&](std::size_t pos) { return position_by_hand(edits, pos); },
      .activated = [this](const Taped& x) { return activated(parameters_.config().activation, x); }};
  const Rows logits = pass.run(tokens);
  const auto row_at = [&](int position) -> const std::vector<Taped>& {
    return position < 0 ? logits.back() : logits[static_cast<std::size_t>(position)];
  };
  const auto log_probability = [&](const std::vector<Taped>& row, int token) {
    Taped total;
    for (const Taped& logit : row) total += exp(logit);
    return row[token] - log(total);
  };
  Taped value;
  if (const auto* of = std::get_if<TokenLogit>(&metric)) value = row_at(of->position)[of->token];
  if (const auto* of = std::get_if<LogitDifference>(&metric))
    value = row_at(of->position)[of->token] - row_at(of->position)[of->against];
  if (const auto* of = std::get_if<LogProbability>(&metric))
    value = log_probability(row_at(of->position), of->token);
  if (std::holds_alternative<PromptLoss>(metric)) {
    for (std::size_t pos = 0; pos + 1 < tokens.size(); ++pos)
      value = value - log_probability(logits[pos], tokens[pos + 1]);
    value = value / Taped{static_cast<double>(tokens.size() - 1)};
  }
  if (const auto* of = std::get_if<Divergence>(&metric)) {
    double total = 0;
    for (const float logit : of->baseline) total += std::exp(static_cast<double>(logit));
    for (std::size_t id = 0; id < of->baseline.size(); ++id) {
      const double p = std::exp(static_cast<double>(of->baseline[id])) / total;
      if (p > 0)
        value +=
            Taped{p} * (Taped{std::log(p)} - log_probability(row_at(of->position), static_cast<int>(id)));
    }
  }
  Result result{value.value, {}, {}};
  const std::vector<double> gradient = tape.gradient_of(value.node);
  for (const auto& [name, numbers] : recorded)
    for (const Taped& number : numbers) {
      result.values[name].push_back(number.value);
      result.gradients[name].push_back(gradient[number.node]);
    }
  return result;
}

}  // namespace headscope::testing
