#include "app/run/attribution.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string_view>

#include "app/run/watching.h"
#include "model/error.h"
#include "model/hooks.h"
#include "model/statistics.h"

namespace headscope::app {
namespace {

std::size_t index_of(const model::Transformer& transformer, std::string_view name) {
  const auto& all = transformer.parameters();
  return static_cast<std::size_t>(std::ranges::find(all, name, &model::Parameter::name) - all.begin());
}

std::vector<float> rows_of(const model::Transformer& transformer, std::size_t index, int first, int count) {
  const std::int64_t columns = transformer.parameters()[index].shape.back();
  std::vector<float> rows(static_cast<std::size_t>(count) * static_cast<std::size_t>(columns));
  transformer.parameter_rows(index, first, count, rows);
  return rows;
}

/// One token's row of the unembedding, in double.
std::vector<double> unembedding_of(const model::Transformer& transformer, int token) {
  // Tied, the embedding is the unembedding, and the first parameter under either name.
  const std::size_t index =
      transformer.config().tie_word_embeddings ? 0 : index_of(transformer, "lm_head.weight");
  const std::vector<float> row = rows_of(transformer, index, token, 1);
  return {row.begin(), row.end()};
}

double product(std::span<const double> direction, std::span<const float> vector) {
  double sum = 0;
  for (std::size_t i = 0; i < vector.size(); ++i) sum += direction[i] * static_cast<double>(vector[i]);
  return sum;
}

/// ln_f's sqrt(variance + epsilon) of a row of the stream.
double scale_of(std::span<const float> row, double epsilon) {
  const auto n = static_cast<double>(row.size());
  double mean = 0, variance = 0;
  for (const float v : row) mean += static_cast<double>(v) / n;
  for (const float v : row) variance += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean) / n;
  return std::sqrt(variance + epsilon);
}

/// What a vector on the stream at a position adds to the logit is its product with `along`; ln_f's bias adds
/// `bias`, whatever is on the stream.
struct Direction {
  double scale = 1;
  std::vector<double> along;  ///< [d_model]
  double bias = 0;
};

Direction direction_of(const PromptRun& run, int position, int token, int against) {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  std::vector<double> unembedding = unembedding_of(transformer, token);
  if (against >= 0) {
    const std::vector<double> other = unembedding_of(transformer, against);
    std::ranges::transform(unembedding, other, unembedding.begin(), std::minus<>());
  }
  const std::vector<float> gain = rows_of(transformer, index_of(transformer, "ln_f.weight"), 0, 1);
  const std::vector<float> bias = rows_of(transformer, index_of(transformer, "ln_f.bias"), 0, 1);
  Direction direction{scale_of(run.run->resid(config.n_layer, position), config.layer_norm_epsilon),
                      unembedding, product(unembedding, bias)};
  // ((x - mean(x)) / scale * gain) . u = x . (gain * u - mean(gain * u)) / scale
  std::vector<double>& along = direction.along;
  for (std::size_t i = 0; i < along.size(); ++i) along[i] *= static_cast<double>(gain[i]) / direction.scale;
  const double mean = std::accumulate(along.begin(), along.end(), 0.0) / static_cast<double>(along.size());
  for (double& value : along) value -= mean;
  return direction;
}

/// What the pass of the position adds to the stream outside of attention, each in the direction.
void add_stream_parts(const PromptRun& run, const Direction& direction, const Work<Attribution>& work,
                      Attribution& result) {
  using model::Site;
  model::Hooks hooks;
  const auto add = [&](Site site, int layer, double& part) {
    hooks.watch({site, layer}, [&](const model::ConstActivation2d& activation) {
      const auto row = row_of(activation, result.position);
      if (!row.empty()) part = product(direction.along, row);
    });
  };
  add(Site::embed, 0, result.token_embedding);
  add(Site::pos_embed, 0, result.position_embedding);
  for (int layer = 0; layer < result.layers; ++layer)
    add(Site::mlp_out, layer, result.mlps[static_cast<std::size_t>(layer)]);
  watch_again(run, result.position, result.position + 1, hooks, work.workspace, work.stop);
}

void add_attention_parts(const PromptRun& run, const Direction& direction, const Work<Attribution>& work,
                         Attribution& result) {
  const model::Transformer& transformer = *run.model->transformer;
  const auto d_model = static_cast<std::size_t>(transformer.config().n_embd);
  for (int layer = 0; layer < result.layers; ++layer) {
    if (work.stop.stop_requested()) throw model::Stopped();
    const model::AttentionOutput out =
        transformer.attention_output(*run.run, layer, result.position, work.workspace);
    for (std::size_t at = 0; at < out.results.size(); at += d_model)
      result.heads.push_back(product(direction.along, std::span(out.results).subspan(at, d_model)));
    result.attention_bias.push_back(product(direction.along, transformer.projection_bias(layer)));
  }
}

}  // namespace

int id_of(const TokenChoice& choice, std::span<const float> logits) {
  const auto vocabulary = static_cast<int>(logits.size());
  switch (choice.by) {
    case TokenChoice::By::none:
      return -1;
    case TokenChoice::By::rank:
      return model::largest_logits(logits, std::clamp(choice.number, 0, vocabulary - 1) + 1).back().id;
    case TokenChoice::By::id:
      break;
  }
  if (choice.number < 0 || choice.number >= vocabulary)
    throw model::RunError("there is no token " + std::to_string(choice.number) + ": ids go from 0 to " +
                          std::to_string(vocabulary - 1) + " here");
  return choice.number;
}

double Attribution::layer(int layer) const {
  double all = attention_bias[static_cast<std::size_t>(layer)] + mlps[static_cast<std::size_t>(layer)];
  for (int h = 0; h < n_head(); ++h) all += head(layer, h);
  return all;
}

double Attribution::sum() const {
  double all = token_embedding + position_embedding;
  for (int l = 0; l < layers; ++l) all += layer(l);
  return all + final_bias;
}

std::size_t Attribution::bytes() const {
  return (heads.size() + attention_bias.size() + mlps.size()) * sizeof(double);
}

double SourceParts::sum() const {
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

Attribution AttributionOf::compute(const PromptRun& run, const Work<Attribution>& work) const {
  const model::Transformer& transformer = *run.model->transformer;
  std::vector<float> logits(static_cast<std::size_t>(transformer.config().vocab_size));
  transformer.logits(*run.run, position, 1, work.workspace, logits);
  const auto logit_of = [&](int id) { return static_cast<double>(logits[static_cast<std::size_t>(id)]); };
  Attribution result;
  result.position = position;
  result.layers = transformer.config().n_layer;
  result.token = id_of(token, logits);
  result.against = id_of(against, logits);
  result.logit = logit_of(result.token) - (result.against >= 0 ? logit_of(result.against) : 0);
  const Direction direction = direction_of(run, position, result.token, result.against);
  result.scale = direction.scale;
  result.final_bias = direction.bias;
  result.mlps.resize(static_cast<std::size_t>(result.layers));
  add_stream_parts(run, direction, work, result);
  add_attention_parts(run, direction, work, result);
  return result;
}

SourceParts SourcesOf::compute(const PromptRun& run, const Work<SourceParts>&) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  const auto d_model = static_cast<std::size_t>(config.n_embd);
  const Direction direction = direction_of(run, position, token, against);
  const std::size_t projection = index_of(transformer, "h." + std::to_string(layer) + ".attn.c_proj.weight");
  const std::vector<float> rows = rows_of(transformer, projection, head * config.d_head(), config.d_head());
  std::vector<double> along(static_cast<std::size_t>(config.d_head()));  // of the head's values
  for (std::size_t i = 0; i < along.size(); ++i)
    along[i] = product(direction.along, std::span(rows).subspan(i * d_model, d_model));
  SourceParts result;
  result.weights = transformer.attention_row(*run.run, layer, head, position).weights;
  for (int key = 0; key <= position; ++key)
    result.parts.push_back(static_cast<double>(result.weights[static_cast<std::size_t>(key)]) *
                           product(along, run.run->v(layer, head, key)));
  return result;
}

}  // namespace headscope::app
