#pragma once
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/gradient/metric.h"
#include "model/pass/edits.h"
#include "tests/support/reference_gpt2.h"
#include "tests/support/tape.h"

namespace headscope::testing {

/// A metric of a pass's logits, [pos][vocabulary].
template <class Number>
Number metric_by_hand(const model::Metric& metric, const std::vector<std::vector<Number>>& logits,
                      std::span<const int> tokens) {
  using std::exp, std::log;
  const auto row_at = [&](int position) -> const std::vector<Number>& {
    return position < 0 ? logits.back() : logits[static_cast<std::size_t>(position)];
  };
  const auto log_probability = [&](const std::vector<Number>& row, int token) {
    Number total{};
    for (const Number& logit : row) total += exp(logit);
    return row[token] - log(total);
  };
  if (const auto* of = std::get_if<model::TokenLogit>(&metric)) return row_at(of->position)[of->token];
  if (const auto* of = std::get_if<model::LogitDifference>(&metric))
    return row_at(of->position)[of->token] - row_at(of->position)[of->against];
  if (const auto* of = std::get_if<model::LogProbability>(&metric))
    return log_probability(row_at(of->position), of->token);
  Number value{};
  if (const auto* of = std::get_if<model::Divergence>(&metric)) {
    double total = 0;
    for (const float logit : of->baseline) total += std::exp(static_cast<double>(logit));
    for (std::size_t id = 0; id < of->baseline.size(); ++id) {
      const double p = std::exp(static_cast<double>(of->baseline[id])) / total;
      if (p > 0)
        value +=
            Number{p} * (Number{std::log(p)} - log_probability(row_at(of->position), static_cast<int>(id)));
    }
    return value;
  }
  for (std::size_t pos = 0; pos + 1 < tokens.size(); ++pos)
    value = value - log_probability(logits[pos], tokens[pos + 1]);
  return value / Number{static_cast<double>(tokens.size() - 1)};
}

/// The float64 GPT-2 with edits, differentiated by a tape.
class ReferenceGradients {
 public:
  explicit ReferenceGradients(const std::filesystem::path& folder) : parameters_(folder) {}

  /// A tensor in the order of model::hook_shape, flat.
  struct Result {
    double metric = 0;
    std::map<std::string, std::vector<double>> values;     ///< by hook name, after its edits
    std::map<std::string, std::vector<double>> gradients;  ///< by hook name
  };

  Result run(std::span<const int> tokens, const model::Edits& edits, const model::Metric& metric) const;

 private:
  ReferenceGpt2 parameters_;
};

}  // namespace headscope::testing
