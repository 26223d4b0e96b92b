#include "app/run/head_circuit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "model/error.h"
#include "model/low_rank.h"
#include "model/statistics.h"

namespace headscope::app {
namespace {

constexpr int kBlock = 256;  // rows of the vocabulary at a time

/// Rows of a parameter, [count, columns]; all of them where `count` is negative.
struct Values {
  std::vector<float> values;
  int rows = 0, cols = 0;
  std::span<float> row(int i) {
    return std::span(values).subspan(static_cast<std::size_t>(i) * static_cast<std::size_t>(cols),
                                     static_cast<std::size_t>(cols));
  }
  model::ConstFloatRows view() const { return {values.data(), rows, cols, cols}; }
};

Values parameter(const model::Transformer& transformer, const std::string& name, int first = 0,
                 int count = -1) {
  const auto found = std::ranges::find(transformer.parameters(), name, &model::Parameter::name);
  const auto& shape = found->shape;
  Values result;
  result.rows = count < 0 ? static_cast<int>(shape.size() == 1 ? 1 : shape[0]) : count;
  result.cols = static_cast<int>(shape.back());
  result.values.resize(static_cast<std::size_t>(result.rows) * static_cast<std::size_t>(result.cols));
  transformer.parameter_rows(static_cast<std::size_t>(found - transformer.parameters().begin()), first,
                             result.rows, result.values);
  return result;
}

/// What a head makes of a normalized embedding on its way to the unembedding.
struct Circuit {
  Values in;   ///< [d_model, d_head]: ln_1's gain and W_V
  Values out;  ///< [d_head, d_model]: W_O, ln_f's centring and gain
};

double mean_of(std::span<const float> row) {
  double sum = 0;
  for (const float v : row) sum += static_cast<double>(v);
  return sum / static_cast<double>(row.size());
}

/// Rows less their mean, over their standard deviation, as ln_1 takes them before its gain and bias.
void normalize(std::span<float> row, float epsilon) {
  const double mean = mean_of(row);
  double variance = 0;
  for (const float v : row) variance += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
  const double scale =
      1 / std::sqrt(variance / static_cast<double>(row.size()) + static_cast<double>(epsilon));
  for (float& v : row) v = static_cast<float>((static_cast<double>(v) - mean) * scale);
}

Circuit circuit_of(const model::Transformer& transformer, int layer, int head) {
  const model::Config& config = transformer.config();
  if (layer < 0 || layer >= config.n_layer || head < 0 || head >= config.n_head) {
    throw model::RunError("the model has no head " + std::to_string(layer) + "." + std::to_string(head));
  }
  const int d = config.n_embd, width = config.d_head();
  const std::string block = "h." + std::to_string(layer) + ".";
  Values attention = parameter(transformer, block + "attn.c_attn.weight");
  const Values gain = parameter(transformer, block + "ln_1.weight");
  const Values final_gain = parameter(transformer, "ln_f.weight");
  Circuit circuit;
  circuit.in = {std::vector<float>(static_cast<std::size_t>(d) * static_cast<std::size_t>(width)), d, width};
  for (int i = 0; i < d; ++i) {
    const auto value = attention.row(i).subspan(static_cast<std::size_t>(2 * d + head * width));
    for (int j = 0; j < width; ++j) {
      const auto at = static_cast<std::size_t>(j);
      circuit.in.row(i)[at] = gain.values[static_cast<std::size_t>(i)] * value[at];
    }
  }
  circuit.out = parameter(transformer, block + "attn.c_proj.weight", head * width, width);
  for (int j = 0; j < width; ++j) {
    const std::span<float> row = circuit.out.row(j);
    const double mean = mean_of(row);
    for (std::size_t i = 0; i < row.size(); ++i)
      row[i] = static_cast<float>(static_cast<double>(row[i]) - mean) * final_gain.values[i];
  }
  return circuit;
}

std::vector<TokenPush> largest(std::span<const float> logits, float sign) {
  std::vector<TokenPush> result;
  for (const model::Guess& guess : model::largest_logits(logits, HeadTokens::kMost))
    result.push_back({guess.id, sign * guess.logit});
  return result;
}

}  // namespace

HeadTokens TokensOfHead::compute(const PromptRun& run, const Work<HeadTokens>& work) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  Circuit circuit = circuit_of(transformer, layer, head);
  Values embedding = parameter(transformer, "wte.weight", id, 1);
  normalize(embedding.row(0), config.layer_norm_epsilon);
  std::vector<double> z(static_cast<std::size_t>(config.d_head()));
  for (int i = 0; i < config.n_embd; ++i) {
    const double x = static_cast<double>(embedding.values[static_cast<std::size_t>(i)]);
    for (std::size_t j = 0; j < z.size(); ++j) z[j] += x * static_cast<double>(circuit.in.row(i)[j]);
  }
  std::vector<double> sum(static_cast<std::size_t>(config.n_embd));
  for (std::size_t j = 0; j < z.size(); ++j) {
    const std::span<const float> row = circuit.out.row(static_cast<int>(j));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += z[j] * static_cast<double>(row[i]);
  }
  const std::vector<float> written(sum.begin(), sum.end());
  std::vector<float> logits(static_cast<std::size_t>(config.vocab_size));
  transformer.unembed(written, work.workspace, logits);
  HeadTokens result;
  result.own = {id, logits[static_cast<std::size_t>(id)]};
  result.own_rank =
      static_cast<int>(std::ranges::count_if(logits, [&](float logit) { return logit > result.own.logit; }));
  result.up = largest(logits, 1);
  for (float& logit : logits) logit = -logit;
  result.down = largest(logits, -1);
  return result;
}

HeadCopying CopyingOfHead::compute(const PromptRun& run, const Work<HeadCopying>& work) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  const Circuit circuit = circuit_of(transformer, layer, head);
  Values to_vocabulary = {std::vector<float>(circuit.out.values.size()), circuit.out.cols, circuit.out.rows};
  for (int j = 0; j < circuit.out.rows; ++j) {
    for (int i = 0; i < circuit.out.cols; ++i)
      to_vocabulary.row(i)[static_cast<std::size_t>(j)] =
          circuit.out.view().row(j)[static_cast<std::size_t>(i)];
  }
  const bool tied = std::ranges::find(transformer.parameters(), "lm_head.weight", &model::Parameter::name) ==
                    transformer.parameters().end();
  model::LowRankProduct product(circuit.in.view(), to_vocabulary.view());
  for (int first = 0; first < config.vocab_size; first += kBlock) {
    if (work.stop.stop_requested()) throw model::Stopped();
    const int count = std::min(kBlock, config.vocab_size - first);
    Values embeddings = parameter(transformer, "wte.weight", first, count);
    const Values unembeddings = tied ? embeddings : parameter(transformer, "lm_head.weight", first, count);
    for (int i = 0; i < count; ++i) normalize(embeddings.row(i), config.layer_norm_epsilon);
    product.add(embeddings.view(), unembeddings.view());
  }
  HeadCopying result;
  result.eigenvalues = product.eigenvalues();
  double sum = 0, magnitudes = 0;
  for (const std::complex<double>& value : result.eigenvalues)
    sum += value.real(), magnitudes += std::abs(value);
  result.score = magnitudes > 0 ? sum / magnitudes : std::numeric_limits<double>::quiet_NaN();
  return result;
}

}  // namespace headscope::app
