#include "app/run/analyses/logit_direction.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "app/run/analyses/parameter_rows.h"

namespace headscope::app {
namespace {

/// One token's row of the unembedding, in double.
std::vector<double> unembedding_of(const model::Transformer& transformer, int token) {
  const ParameterRows row = unembedding_rows(transformer, token, 1);
  return {row.values.begin(), row.values.end()};
}

/// The mean of all rows of the unembedding.
std::vector<double> mean_unembedding(const model::Transformer& transformer) {
  constexpr int kRows = 1024;  // in memory at a time
  const int vocabulary = transformer.config().vocab_size;
  std::vector<double> mean(transformer.config().n_embd);
  for (int first = 0; first < vocabulary; first += kRows) {
    const ParameterRows rows = unembedding_rows(transformer, first, std::min(kRows, vocabulary - first));
    for (int row = 0; row < rows.rows; ++row)
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(rows.row(row)[i]);
  }
  for (double& value : mean) value /= vocabulary;
  return mean;
}

}  // namespace

double product(std::span<const double> direction, std::span<const float> vector) {
  double sum = 0;
  for (std::size_t i = 0; i < vector.size(); ++i) sum += direction[i] * static_cast<double>(vector[i]);
  return sum;
}

double layer_norm_scale(std::span<const float> row, double epsilon) {
  const auto n = static_cast<double>(row.size());
  double mean = 0, variance = 0;
  for (const float v : row) mean += static_cast<double>(v) / n;
  for (const float v : row) variance += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean) / n;
  return std::sqrt(variance + epsilon);
}

LogitDirection logit_direction(const PromptRun& run, int position, int token, int against, double scale) {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  std::vector<double> unembedding = unembedding_of(transformer, token);
  if (against != -1) {
    const std::vector<double> other =
        against == kVocabularyMean ? mean_unembedding(transformer) : unembedding_of(transformer, against);
    std::ranges::transform(unembedding, other, unembedding.begin(), std::minus<>());
  }
  const std::vector<float> gain = parameter_rows(transformer, "ln_f.weight").values;
  const std::vector<float> bias = parameter_rows(transformer, "ln_f.bias").values;
  LogitDirection direction;
  direction.scale =
      scale > 0 ? scale
                : layer_norm_scale(run.run->resid(config.n_layer, position), config.layer_norm_epsilon);
  direction.bias = product(unembedding, bias);
  direction.read = std::move(unembedding);
  for (std::size_t i = 0; i < gain.size(); ++i) direction.read[i] *= static_cast<double>(gain[i]);
  // ((x - mean(x)) / scale * gain) . u = x . (gain * u - mean(gain * u)) / scale
  direction.along = direction.read;
  std::vector<double>& along = direction.along;
  for (double& value : along) value /= direction.scale;
  const double mean = std::accumulate(along.begin(), along.end(), 0.0) / static_cast<double>(along.size());
  for (double& value : along) value -= mean;
  return direction;
}

}  // namespace headscope::app
