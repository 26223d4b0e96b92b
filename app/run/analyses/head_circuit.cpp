#include "app/run/analyses/head_circuit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/analyses/vectors.h"
#include "model/files/error.h"
#include "model/kernels/kernels.h"
#include "model/maths/low_rank.h"
#include "model/maths/plain_product.h"

namespace headscope::app {
namespace {

constexpr int kVocabularyRows = 256;  // rows of the vocabulary at a time

std::string name_in(int layer, std::string_view name) {
  return "h." + std::to_string(layer) + "." + std::string(name);
}

void check_head(const model::Config& config, int layer, int head) {
  if (layer < 0 || layer >= config.n_layer || head < 0 || head >= config.n_head)
    throw model::RunError("the model has no head " + std::to_string(layer) + "." + std::to_string(head));
}

/// [d_model, d_head]: ln_1's gain times W_Q, W_K or W_V of a head.
ParameterRows reading_of(const model::Transformer& transformer, int layer, int head,
                         AttentionColumns column) {
  const model::Config& config = transformer.config();
  const int d = config.n_embd, width = config.d_head();
  ParameterRows attention = parameter_rows(transformer, name_in(layer, "attn.c_attn.weight"));
  const ParameterRows gain = parameter_rows(transformer, name_in(layer, "ln_1.weight"));
  ParameterRows result = zeros(d, width);
  for (int i = 0; i < d; ++i) {
    const auto from = attention.row(i).subspan(static_cast<int>(column) * d + head * width);
    for (std::size_t j = 0; j < static_cast<std::size_t>(width); ++j)
      result.row(i)[j] = gain.values[i] * from[j];
  }
  return result;
}

/// [d_head, d_model]: W_O of a head with ln_f's centring and gain.
ParameterRows writing_of(const model::Transformer& transformer, int layer, int head) {
  const int width = transformer.config().d_head();
  const ParameterRows gain = parameter_rows(transformer, "ln_f.weight");
  ParameterRows result =
      parameter_rows(transformer, name_in(layer, "attn.c_proj.weight"), head * width, width);
  for (int j = 0; j < width; ++j) {
    const std::span<float> row = result.row(j);
    double mean = 0;
    for (const float v : row) mean += static_cast<double>(v) / static_cast<double>(row.size());
    for (std::size_t i = 0; i < row.size(); ++i)
      row[i] = static_cast<float>(static_cast<double>(row[i]) - mean) * gain.values[i];
  }
  return result;
}

/// x [n] times `weights` [n, m].
std::vector<float> carried(std::span<const float> x, const ParameterRows& weights) {
  std::vector<double> sum(weights.cols);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::span<const float> row = weights.row(static_cast<int>(i));
    for (std::size_t j = 0; j < sum.size(); ++j)
      sum[j] += static_cast<double>(x[i]) * static_cast<double>(row[j]);
  }
  return {sum.begin(), sum.end()};
}

/// Calls visit(first, rows) with all tokens as the heads of a layer read them, in blocks. Throws Stopped.
template <class Visit>
void for_all_tokens(const model::Transformer& transformer, int layer, TokenReading reading,
                    model::Workspace& workspace, const std::stop_token& stop, const Visit& visit) {
  const TokenRows tokens(transformer, layer, reading);
  const int vocabulary = transformer.config().vocab_size;
  for (int first = 0; first < vocabulary; first += kVocabularyRows) {
    if (stop.stop_requested()) throw model::Stopped();
    visit(first, tokens.rows(first, std::min(kVocabularyRows, vocabulary - first), workspace));
  }
}

HeadTokens ranked(std::vector<float> logits, int id) {
  HeadTokens result;
  result.own = {id, logits[id]};
  result.own_rank =
      static_cast<int>(std::ranges::count_if(logits, [&](float logit) { return logit > result.own.logit; }));
  static_cast<TokenPushes&>(result) = strongest_pushes(std::move(logits));
  return result;
}

/// Subtracts the mean and divides by the standard deviation.
void normalize(std::span<float> row, float epsilon) {
  const std::vector<float> x(row.begin(), row.end());
  model::divide(row, model::center(x, epsilon, row));
}

ParameterRows product(const ParameterRows& x, const ParameterRows& weights, const ParameterRows& bias,
                      model::Workspace& workspace) {
  ParameterRows y{std::vector<float>(std::ptrdiff_t{x.rows} * weights.cols), x.rows, weights.cols};
  model::multiply(x.view(), weights.view(), workspace, {y.values.data(), y.rows, y.cols, y.cols});
  for (int i = 0; i < y.rows; ++i) model::add(bias.values, y.row(i));
  return y;
}

}  // namespace

TokenRows::TokenRows(const model::Transformer& transformer, int layer, TokenReading reading)
    : transformer_(transformer), reading_(reading) {
  if (!reading.after_first_mlp || layer == 0) return;
  const auto of_layer = [&](std::string_view name) {
    return parameter_rows(transformer, "h.0." + std::string(name));
  };
  mlp_ = {of_layer("ln_2.weight"),   of_layer("ln_2.bias"),         of_layer("mlp.c_fc.weight"),
          of_layer("mlp.c_fc.bias"), of_layer("mlp.c_proj.weight"), of_layer("mlp.c_proj.bias")};
}

ParameterRows TokenRows::rows(int first, int count, model::Workspace& workspace) const {
  const model::Config& config = transformer_.config();
  ParameterRows stream = parameter_rows(transformer_, "wte.weight", first, count);
  if (mlp_) {
    ParameterRows x = stream;
    for (int i = 0; i < count; ++i) {
      normalize(x.row(i), config.layer_norm_epsilon);
      model::apply_gain_and_bias(mlp_->gain.values, mlp_->bias.values, x.row(i));
    }
    ParameterRows hidden = product(x, mlp_->in, mlp_->in_bias, workspace);
    for (int i = 0; i < count; ++i)
      model::activate(model::fastest_kernels().rows, config.activation, hidden.row(i));
    const ParameterRows out = product(hidden, mlp_->out, mlp_->out_bias, workspace);
    for (int i = 0; i < count; ++i) model::add(out.row(i), stream.row(i));
  }
  if (reading_.normalized)
    for (int i = 0; i < count; ++i) normalize(stream.row(i), config.layer_norm_epsilon);
  return stream;
}

HeadTokens TokensOfHead::compute(const PromptRun& run, const Computation<HeadTokens>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  check_head(transformer.config(), layer, head);
  const ParameterRows token = TokenRows(transformer, layer, reading).rows(id, 1, computation.workspace);
  const std::vector<float> value =
      carried(token.values, reading_of(transformer, layer, head, AttentionColumns::value));
  std::vector<float> logits(transformer.config().vocab_size);
  transformer.unembed(carried(value, writing_of(transformer, layer, head)), computation.workspace, logits);
  return ranked(std::move(logits), id);
}

namespace {

/// The copying of some heads of a layer, whose tokens are read once for all of them. Throws Stopped.
std::vector<HeadCopying> copying_of(const model::Transformer& transformer, int layer,
                                    std::span<const int> heads, TokenReading reading,
                                    model::Workspace& workspace, const std::stop_token& stop) {
  std::vector<ParameterRows> in, out;
  for (const int head : heads) {
    in.push_back(reading_of(transformer, layer, head, AttentionColumns::value));
    out.push_back(transposed(writing_of(transformer, layer, head)));
  }
  std::vector<std::unique_ptr<model::LowRankProduct>> products;
  for (std::size_t i = 0; i < heads.size(); ++i)
    products.push_back(std::make_unique<model::LowRankProduct>(in[i].view(), out[i].view()));
  for_all_tokens(transformer, layer, reading, workspace, stop, [&](int first, const ParameterRows& tokens) {
    const ParameterRows unembedding = unembedding_rows(transformer, first, tokens.rows);
    for (const auto& product : products) {
      if (stop.stop_requested()) throw model::Stopped();
      product->add(tokens.view(), unembedding.view());
    }
  });
  std::vector<HeadCopying> results;
  for (const auto& product : products) {
    HeadCopying& result = results.emplace_back();
    result.eigenvalues = product->eigenvalues();
    double sum = 0, magnitudes = 0;
    for (const std::complex<double>& value : result.eigenvalues)
      sum += value.real(), magnitudes += std::abs(value);
    result.score = magnitudes > 0 ? sum / magnitudes : std::numeric_limits<double>::quiet_NaN();
  }
  return results;
}

}  // namespace

HeadCopying CopyingOfHead::compute(const PromptRun& run, const Computation<HeadCopying>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  check_head(transformer.config(), layer, head);
  return copying_of(transformer, layer, {&head, 1}, reading, computation.workspace, computation.stop).front();
}

ModelCopying CopyingOfModel::compute(const PromptRun& run,
                                     const Computation<ModelCopying>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  ModelCopying result;
  result.heads = transformer.config().n_head;
  std::vector<int> heads(static_cast<std::size_t>(result.heads));
  std::iota(heads.begin(), heads.end(), 0);
  for (int layer = 0; layer < transformer.config().n_layer; ++layer) {
    TokenReading how = reading;
    how.after_first_mlp &= layer > 0;
    for (const HeadCopying& one :
         copying_of(transformer, layer, heads, how, computation.workspace, computation.stop))
      result.scores.push_back(one.score);
  }
  return result;
}

HeadTokens KeysOfToken::compute(const PromptRun& run, const Computation<HeadTokens>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  check_head(config, layer, head);
  const ParameterRows token = TokenRows(transformer, layer, reading).rows(id, 1, computation.workspace);
  std::vector<float> query =
      carried(token.values, reading_of(transformer, layer, head, AttentionColumns::query));
  for (float& v : query) v *= config.attention_scale(layer);
  const std::vector<float> along =
      carried(query, transposed(reading_of(transformer, layer, head, AttentionColumns::key)));
  std::vector<float> scores;
  for_all_tokens(transformer, layer, reading, computation.workspace, computation.stop,
                 [&](int, const ParameterRows& tokens) {
                   for (int i = 0; i < tokens.rows; ++i)
                     scores.push_back(static_cast<float>(dot(tokens.row(i), along)));
                 });
  return ranked(std::move(scores), id);
}

TokenPairs PairsOfHead::compute(const PromptRun& run, const Computation<TokenPairs>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  check_head(config, layer, head);
  ParameterRows to_query = reading_of(transformer, layer, head, AttentionColumns::query);
  for (float& v : to_query.values) v *= config.attention_scale(layer);
  const ParameterRows to_key = reading_of(transformer, layer, head, AttentionColumns::key);
  ParameterRows queries = zeros(config.vocab_size, config.d_head()), keys = queries;
  const auto part = [](ParameterRows& of, int first, int count) {
    return model::FloatRows{of.row(first).data(), count, of.cols, of.cols};
  };
  for_all_tokens(transformer, layer, reading, computation.workspace, computation.stop,
                 [&](int first, const ParameterRows& tokens) {
                   model::multiply(tokens.view(), to_query.view(), computation.workspace,
                                   part(queries, first, tokens.rows));
                   model::multiply(tokens.view(), to_key.view(), computation.workspace,
                                   part(keys, first, tokens.rows));
                 });
  return {model::largest_entries(queries.view(), keys.view(), TokenPairs::kMax, computation.workspace,
                                 computation.stop)};
}

}  // namespace headscope::app
