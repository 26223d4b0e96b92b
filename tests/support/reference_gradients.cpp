#include "tests/support/reference_gradients.h"

#include "tests/support/edits_by_hand.h"

namespace headscope::testing {

using namespace model;
using Rows = ReferencePass<Taped>::Rows;

ReferenceGradients::Result ReferenceGradients::run(std::span<const int> tokens, const Edits& edits,
                                                   const Metric& metric) const {
  Tape tape;
  std::map<std::string, std::vector<Taped>> recorded;
  const RecordedValues others = sources_by_hand(parameters_, tokens, edits);
  const ByHand<Taped> by_hand(edits, others);
  // Marks every number, so that its derivative can be read.
  const auto mark = [&](const std::string& name, Taped& number) {
    number = number.marked(tape);
    recorded[name].push_back(number);
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
      .activated = [this](const Taped& x) { return activated_by_hand(parameters_.config().activation, x); }};
  const Taped value = metric_by_hand(metric, pass.run(tokens), tokens);
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
