#include "app/run/analyses/score_sources.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "app/run/analyses/parameters.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/stream_parts.h"
#include "app/run/analyses/vectors.h"
#include "model/files/error.h"
#include "model/pass/plan.h"

namespace headscope::app {
namespace {

using model::Site;
using Kind = ScoreSource::Kind;
using Vector = std::vector<double>;

/// How a head reads the residual stream, for its queries or its keys: Site::q or Site::k.
struct Reading {
  int width = 0;
  Vector weights;    ///< [d_model, d_head]: W_Q or W_K, multiplied by ln_1's gain
  Vector centered;   ///< the same, minus each column's mean: for vectors on the stream
  Vector norm_bias;  ///< [d_head]: ln_1's bias times W_Q
  Vector own_bias;   ///< [d_head]

  Vector read(const Vector& matrix, const auto& vector, double factor) const {
    Vector sum(static_cast<std::size_t>(width));
    for (std::size_t i = 0; i < vector.size(); ++i) {
      const double x = static_cast<double>(vector[i]) * factor;
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += x * matrix[i * sum.size() + j];
    }
    return sum;
  }
};

Reading reading_of(const model::Transformer& transformer, const ScoreSourcesOf& of, Site side) {
  const model::Config& config = transformer.config();
  const ParameterRows attention = layer_rows(transformer, of.layer, "attn.c_attn.weight"),
                      gain = layer_rows(transformer, of.layer, "ln_1.weight"),
                      bias = layer_rows(transformer, of.layer, "ln_1.bias");
  const int d = config.n_embd, first = (side == Site::k ? d : 0) + of.head * config.d_head();
  Reading reading;
  reading.width = config.d_head();
  const auto width = static_cast<std::size_t>(reading.width);
  const auto own = transformer.attention_bias(of.layer).subspan(static_cast<std::size_t>(first), width);
  reading.own_bias = in_double(own);
  reading.norm_bias.resize(width);
  Vector mean(width);
  for (int i = 0; i < d; ++i) {
    const auto row = attention.row(i).subspan(static_cast<std::size_t>(first), width);
    for (std::size_t j = 0; j < width; ++j) {
      const double weight = static_cast<double>(row[j]);
      reading.norm_bias[j] += static_cast<double>(bias.values[i]) * weight;
      reading.weights.push_back(static_cast<double>(gain.values[i]) * weight);
      mean[j] += reading.weights.back() / d;
    }
  }
  reading.centered = reading.weights;
  for (std::size_t i = 0; i < reading.centered.size(); ++i) reading.centered[i] -= mean[i % width];
  return reading;
}

/// Whether edits act between the stream's parts and q or k, so that they have a part of their own.
bool has_edits(const PromptRun& run, const ScoreSourcesOf& of) {
  const model::Plan* plan = run.run->plan.get();
  if (plan == nullptr) return false;
  if (edits_stream(run, of.layer) || plan->edits({Site::ln1_normalized, of.layer})) return true;
  return std::ranges::any_of(plan->edits(), [&](const model::Edit& edit) {
    const Site site = model::point_of(edit).site;
    return (site == Site::q || site == Site::k) && acts_on_head(edit, {of.layer, of.head});
  });
}

std::vector<ScoreSource> sources_of(const model::Config& config, int layers, bool edited) {
  std::vector<ScoreSource> sources{{Kind::token_embedding}, {Kind::position_embedding}};
  for (int layer = 0; layer < layers; ++layer) {
    for (int head = 0; head < config.n_head; ++head) sources.push_back({Kind::head, layer, head});
    sources.push_back({Kind::attention_bias, layer});
    sources.push_back({Kind::mlp, layer});
  }
  sources.insert(sources.end(), {{Kind::norm_bias}, {Kind::own_bias}});
  if (edited) sources.push_back({Kind::edits});
  return sources;
}

/// The parts of q or k at a position: [sources, d_head].
struct Parts {
  double scale = 1;
  Vector rows;
};

/// `edited`: with the part of the edits.
Parts parts_of(const PromptRun& run, const ScoreSourcesOf& of, Site side, bool edited,
               const Computation<ScoreSources>& computation) {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  const int position = side == Site::q ? of.query : of.key;
  const auto edits = [&](Site site) { return edits_at(run, {site, of.layer}); };
  Recording seen(run.run->config, position, 1);
  want_stream(seen, run, of.layer);
  for (const Site site : {Site::ln1_scale, Site::ln1_normalized})
    if (edits(site)) seen.add({site, of.layer});
  seen.read(run, computation.workspace, computation.stop);
  const StreamParts stream =
      stream_parts(run, position, of.layer, seen, computation.workspace, computation.stop);
  const Reading reading = reading_of(transformer, of, side);
  const std::span<const float> resid = run.run->resid(of.layer, position);
  Parts parts;
  parts.scale = edits(Site::ln1_scale) ? static_cast<double>(seen.rows({Site::ln1_scale, of.layer}).front())
                                       : layer_norm_scale(resid, config.layer_norm_epsilon);
  const auto add = [&](const Vector& part) { parts.rows.insert(parts.rows.end(), part.begin(), part.end()); };
  const auto on_stream = [&](const auto& vector) {
    return reading.read(reading.centered, vector, 1 / parts.scale);
  };
  add(on_stream(stream.token_embedding));
  add(on_stream(stream.position_embedding));
  for (int layer = 0; layer < of.layer; ++layer) {
    for (int head = 0; head < config.n_head; ++head) add(on_stream(stream.head(layer, head)));
    add(on_stream(stream.attention_bias[layer]));
    add(on_stream(stream.mlps[layer]));
  }
  add(reading.norm_bias);
  add(reading.own_bias);
  if (!edited) return parts;
  // Where edits replaced something, what is there minus what came.
  Vector part(static_cast<std::size_t>(reading.width));
  const auto add_difference = [&](const Vector& there, const Vector& came) {
    for (std::size_t j = 0; j < part.size(); ++j) part[j] += there[j] - came[j];
  };
  if (!stream.edits.empty()) part = on_stream(stream.edits);
  Vector normalized = on_stream(resid);
  if (edits(Site::ln1_normalized)) {
    const Vector there = reading.read(reading.weights, seen.rows({Site::ln1_normalized, of.layer}), 1);
    add_difference(there, normalized);
    normalized = there;
  }
  if (edits(side)) {
    for (std::size_t j = 0; j < part.size(); ++j) normalized[j] += reading.norm_bias[j] + reading.own_bias[j];
    const Vector there = side == Site::q ? in_double(run.run->q(of.layer, of.head, position))
                                         : in_double(run.run->k(of.layer, of.head, position));
    add_difference(there, normalized);
  }
  add(part);
  return parts;
}

ScoreSources sources_with(const PromptRun& run, const ScoreSourcesOf& of, bool edited,
                          const Computation<ScoreSources>& computation) {
  check_head(*run.model, of.layer, of.head);
  model::check_positions(*run.run, of.query);
  model::check_positions(*run.run, of.key);
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  ScoreSources result;
  result.layer = of.layer, result.head = of.head, result.query = of.query, result.key = of.key;
  const auto row = transformer.attention_row(*run.run, of.layer, of.head, of.query, of.key + 1);
  result.score = static_cast<double>(row.scaled[of.key]);
  result.sources = sources_of(config, of.layer, edited);
  const Parts q = parts_of(run, of, Site::q, edited, computation),
              k = parts_of(run, of, Site::k, edited, computation);
  result.query_scale = q.scale, result.key_scale = k.scale;
  const double factor = static_cast<double>(config.attention_scale(of.layer));
  const auto width = static_cast<std::size_t>(config.d_head());
  for (std::size_t i = 0; i < q.rows.size(); i += width)
    for (std::size_t j = 0; j < k.rows.size(); j += width)
      result.products.push_back(factor *
                                std::inner_product(q.rows.begin() + static_cast<std::ptrdiff_t>(i),
                                                   q.rows.begin() + static_cast<std::ptrdiff_t>(i + width),
                                                   k.rows.begin() + static_cast<std::ptrdiff_t>(j), 0.0));
  return result;
}

}  // namespace

ScoreSources ScoreSourcesOf::compute(const PromptRun& run,
                                     const Computation<ScoreSources>& computation) const {
  return sources_with(run, *this, has_edits(run, *this), computation);
}

ScoreSources ScoreSourcesOf::compute_difference(const PromptRun& run,
                                                const Computation<ScoreSources>& computation) const {
  const PromptRun& baseline = run.baseline ? *run.baseline : run;
  ScoreSourcesOf there = *this;
  there.query = counterpart_of(run, query), there.key = counterpart_of(run, key);
  if (there.query < 0 || there.key < 0) throw model::RunError("the query or the key has no counterpart");
  const bool edited = has_edits(run, *this) || has_edits(baseline, there);
  ScoreSources result = sources_with(run, *this, edited, computation);
  const ScoreSources before = sources_with(baseline, there, edited, computation);
  std::ranges::transform(result.products, before.products, result.products.begin(), std::minus<>());
  result.score -= before.score;
  return result;
}

}  // namespace headscope::app
