#include "app/run/analyses/stream_parts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "app/run/analyses/parameters.h"
#include "app/run/analyses/vectors.h"
#include "app/run/named.h"
#include "model/files/error.h"

namespace headscope::app {
namespace {

using model::Site;
using Kind = StreamSource::Kind;

/// The points of the stream before a layer, and of attention's sums of heads.
std::vector<model::HookPoint> stream_points(const model::Config& config, int layers) {
  std::vector<model::HookPoint> points;
  for (int layer = 0; layer < layers; ++layer)
    for (const Site site : {Site::resid_pre, Site::attn_out, Site::resid_mid, Site::resid_post})
      points.push_back({site, layer});
  if (layers < config.n_layer) points.push_back({Site::resid_pre, layers});
  return points;
}

/// What edits added outside the parts: at each edited point, the activation minus what arrived there.
std::vector<double> edits_of(const PromptRun& run, int layers, const StreamParts& parts,
                             const Recording& rows) {
  std::vector<double> edits(static_cast<std::size_t>(run.run->config.n_embd));
  const auto add = [&](double factor, std::span<const float> row) {
    for (std::size_t i = 0; i < edits.size(); ++i) edits[i] += factor * static_cast<double>(row[i]);
  };
  const auto add_edit = [&](model::HookPoint point, std::initializer_list<model::HookPoint> arrived) {
    if (!edits_at(run, point)) return;
    add(1, rows.rows(point));
    for (const model::HookPoint from : arrived) add(-1, rows.rows(from));
    if (point.site != Site::attn_out) return;
    for (std::size_t i = 0; i < parts.sources.size(); ++i)
      if (parts.sources[i].layer == point.layer && parts.sources[i].kind != Kind::mlp)
        add(-1, parts.vectors[i]);
  };
  add_edit({Site::resid_pre, 0}, {{Site::embed}, {Site::pos_embed}});
  for (int layer = 0; layer < layers; ++layer) {
    add_edit({Site::attn_out, layer}, {});
    add_edit({Site::resid_mid, layer}, {{Site::resid_pre, layer}, {Site::attn_out, layer}});
    add_edit({Site::resid_post, layer}, {{Site::resid_mid, layer}, {Site::mlp_out, layer}});
    if (layer + 1 < run.run->config.n_layer)
      add_edit({Site::resid_pre, layer + 1}, {{Site::resid_post, layer}});
  }
  return edits;
}

}  // namespace

bool edits_stream(const PromptRun& run, int layers) {
  return std::ranges::any_of(stream_points(run.run->config, layers),
                             [&](model::HookPoint point) { return edits_at(run, point); });
}

std::string name_of(const StreamSource& source, std::string_view norm_bias, std::string_view own_bias) {
  if (source.kind == Kind::head) return head_name(source.layer, source.head);
  const std::string_view names[]{
      "token embedding", "position embedding", "", "bias", "MLP", norm_bias, own_bias, "edits"};
  return (source.layer < 0 ? "" : "L" + std::to_string(source.layer) + " ") +
         std::string(names[static_cast<std::size_t>(source.kind)]);
}

StreamParts stream_parts(const PromptRun& run, int position, int layers, const Resources& with) {
  const model::Transformer& transformer = *run.model->transformer;
  const int d_model = run.run->config.n_embd;
  const bool edited = edits_stream(run, layers);
  Recording rows(run.run->config, position, 1);
  rows.add({Site::embed});
  rows.add({Site::pos_embed});
  for (int layer = 0; layer < layers; ++layer) rows.add({Site::mlp_out, layer});
  if (edited)
    for (const model::HookPoint point : stream_points(run.run->config, layers)) rows.add(point);
  rows.read(run, with);
  StreamParts parts;
  const auto add = [&](StreamSource source, std::span<const float> vector) {
    parts.sources.push_back(source);
    parts.vectors.push_back(vector_of(vector));
  };
  add({Kind::token_embedding}, rows.rows({Site::embed, 0}));
  add({Kind::position_embedding}, rows.rows({Site::pos_embed, 0}));
  for (int layer = 0; layer < layers; ++layer) {
    with.poll();
    const std::vector<float> of_heads =
        transformer.attention_output(*run.run, layer, position, with.workspace).results;
    for (int head = 0; head < run.run->config.n_head; ++head)
      add({Kind::head, layer, head}, std::span(of_heads).subspan(std::ptrdiff_t{head} * d_model, d_model));
    add({Kind::attention_bias, layer}, transformer.projection_bias(layer));
    add({Kind::mlp, layer}, rows.rows({Site::mlp_out, layer}));
  }
  if (edited) parts.edits = edits_of(run, layers, parts, rows);
  return parts;
}

double layer_norm_scale(std::span<const float> row, double epsilon) {
  const auto n = static_cast<double>(row.size());
  double mean = 0, variance = 0;
  for (const float v : row) mean += static_cast<double>(v) / n;
  for (const float v : row) variance += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean) / n;
  return std::sqrt(variance + epsilon);
}

LogitDirection logit_direction(const PromptRun& run, const Measured& measured, const Resources& with) {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  const auto of_token = [&](const TokenRef& token) {
    return in_double(parameter_rows(transformer, kUnembedding, token.id(), 1).values);
  };
  std::vector<double> unembedding = of_token(measured.token);
  if (!measured.other.empty()) {
    const std::vector<double> other = measured.other == TokenRef::mean()
                                          ? mean_of_tokens(transformer, kUnembedding)
                                          : of_token(measured.other);
    std::ranges::transform(unembedding, other, unembedding.begin(), std::minus<>());
  }
  const std::vector<float> gain = parameter_rows(transformer, "ln_f.weight").values;
  const std::vector<float> bias = parameter_rows(transformer, "ln_f.bias").values;
  LogitDirection direction;
  direction.scale =
      layer_norm_scale(run.run->resid(config.n_layer, measured.position), config.layer_norm_epsilon);
  if (constexpr model::HookPoint kScale{Site::ln_final_scale}; edits_at(run, kScale)) {
    Recording seen(run.run->config, measured.position, 1);
    seen.add(kScale);
    seen.read(run, with);
    direction.scale = static_cast<double>(seen.rows(kScale).front());
  }
  direction.bias = dot(unembedding, bias);
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

bool edits_after_blocks(const PromptRun& run) {
  return edits_at(run, {Site::ln_final_scale}) || edits_at(run, {Site::ln_final_normalized}) ||
         edits_at(run, {Site::logits});
}

double final_edits(const PromptRun& run, int position, const LogitDirection& direction, double logit,
                   const Resources& with) {
  const double carried = dot(direction.along, run.run->resid(run.run->config.n_layer, position));
  if (edits_at(run, {Site::logits})) return logit - direction.bias - carried;
  if (!edits_at(run, {Site::ln_final_normalized})) return 0;
  Recording seen(run.run->config, position, 1);
  seen.add({Site::ln_final_normalized});
  seen.read(run, with);
  return dot(direction.read, seen.rows({Site::ln_final_normalized})) - carried;
}

}  // namespace headscope::app
