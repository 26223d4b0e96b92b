#include "app/run/analyses/score_sources.h"

#include <functional>
#include <numeric>

#include "app/run/analyses/parameters.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/vectors.h"
#include "model/files/error.h"

namespace headscope::app {
namespace {

using model::Site;
using Kind = StreamSource::Kind;
using Vector = std::vector<double>;

/// How a head reads the residual stream, for its queries or its keys: Site::q or Site::k.
struct Reading {
  double scale = 1;  ///< of ln_1
  Vector weights;    ///< [d_model, d_head]: W_Q or W_K, multiplied by ln_1's gain
  Vector norm_bias;  ///< [d_head]: ln_1's bias times W_Q
  Vector own_bias;   ///< [d_head]

  Vector of_normalized(const auto& vector) const {
    Vector sum(own_bias.size());
    for (std::size_t i = 0; i < vector.size(); ++i)
      for (std::size_t j = 0; j < sum.size(); ++j)
        sum[j] += static_cast<double>(vector[i]) * weights[i * sum.size() + j];
    return sum;
  }
  /// Of a vector on the stream: minus its mean, divided by the scale.
  Vector of_stream(const auto& vector) const {
    Vector normalized(vector.begin(), vector.end());
    const double mean =
        std::accumulate(normalized.begin(), normalized.end(), 0.0) / static_cast<double>(normalized.size());
    for (double& x : normalized) x = (x - mean) / scale;
    return of_normalized(normalized);
  }
};

Reading reading_of(const model::Transformer& transformer, const ScoreSourcesOf& of, Site side, double scale) {
  const model::Config& config = transformer.config();
  const ParameterRows attention = layer_rows(transformer, of.layer, "attn.c_attn.weight"),
                      gain = layer_rows(transformer, of.layer, "ln_1.weight"),
                      bias = layer_rows(transformer, of.layer, "ln_1.bias");
  const int width = config.d_head(), first = (side == Site::k ? config.n_embd : 0) + of.head * width;
  const std::span<const float> own_bias = transformer.attention_bias(of.layer).subspan(first, width);
  Reading reading{scale, {}, Vector(width), in_double(own_bias)};
  for (int i = 0; i < attention.rows; ++i)
    for (int j = 0; j < width; ++j) {
      const auto weight = static_cast<double>(attention.row(i)[first + j]);
      reading.norm_bias[j] += static_cast<double>(bias.values[i]) * weight;
      reading.weights.push_back(static_cast<double>(gain.values[i]) * weight);
    }
  return reading;
}

/// Whether edits act between the stream's parts and q or k, so that they have a part of their own.
bool has_edits(const PromptRun& run, const ScoreSourcesOf& of) {
  return edits_stream(run, of.layer) || edits_at(run, {Site::ln1_normalized, of.layer}) ||
         edits_head(run, {of.layer, of.head}, {Site::q, Site::k});
}

/// The parts of q or k at a position.
struct Parts {
  double scale = 1;
  std::vector<StreamSource> sources;
  Vector rows;  ///< [sources, d_head]
};

/// `edited`: with the part of the edits.
Parts parts_of(const PromptRun& run, const ScoreSourcesOf& of, Site side, bool edited,
               const Computation<ScoreSources>& computation) {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  const int position = side == Site::q ? of.query : of.key;
  const auto edits = [&](Site site) { return edits_at(run, {site, of.layer}); };
  Recording seen(run.run->config, position, 1);
  if (edits(Site::ln1_scale) || edits(Site::ln1_normalized)) {
    for (const Site site : {Site::ln1_scale, Site::ln1_normalized}) seen.add({site, of.layer});
    seen.read(run, computation);
  }
  const StreamParts stream = stream_parts(run, position, of.layer, computation);
  const std::span<const float> resid = run.run->resid(of.layer, position);
  Parts parts;
  parts.scale = edits(Site::ln1_scale) ? static_cast<double>(seen.rows({Site::ln1_scale, of.layer}).front())
                                       : layer_norm_scale(resid, config.layer_norm_epsilon);
  const Reading reading = reading_of(transformer, of, side, parts.scale);
  const auto add = [&](StreamSource source, const Vector& part) {
    parts.sources.push_back(source);
    parts.rows.insert(parts.rows.end(), part.begin(), part.end());
  };
  for (std::size_t i = 0; i < stream.sources.size(); ++i)
    add(stream.sources[i], reading.of_stream(stream.vectors[i]));
  add({Kind::norm_bias}, reading.norm_bias);
  add({Kind::own_bias}, reading.own_bias);
  if (!edited) return parts;
  // Where edits replaced something, what is there minus what came.
  Vector part(reading.own_bias.size());
  const auto add_difference = [&](const Vector& there, const Vector& came) {
    for (std::size_t j = 0; j < part.size(); ++j) part[j] += there[j] - came[j];
  };
  if (!stream.edits.empty()) part = reading.of_stream(stream.edits);
  Vector normalized = reading.of_stream(resid);
  if (edits(Site::ln1_normalized)) {
    const Vector there = reading.of_normalized(seen.rows({Site::ln1_normalized, of.layer}));
    add_difference(there, normalized);
    normalized = there;
  }
  if (edits(side)) {
    for (std::size_t j = 0; j < part.size(); ++j) normalized[j] += reading.norm_bias[j] + reading.own_bias[j];
    const Vector there = side == Site::q ? in_double(run.run->q(of.layer, of.head, position))
                                         : in_double(run.run->k(of.layer, of.head, position));
    add_difference(there, normalized);
  }
  add({Kind::edits}, part);
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
  const auto row = transformer.attention_row(*run.run, of.layer, of.head, of.query, of.key + 1);
  result.score = static_cast<double>(row.scaled[of.key]);
  const Parts q = parts_of(run, of, Site::q, edited, computation),
              k = parts_of(run, of, Site::k, edited, computation);
  result.query_scale = q.scale, result.key_scale = k.scale;
  result.sources = q.sources;
  const double factor = static_cast<double>(config.attention_scale(of.layer));
  const int width = config.d_head();
  for (auto of_q = q.rows.begin(); of_q != q.rows.end(); of_q += width)
    for (auto of_k = k.rows.begin(); of_k != k.rows.end(); of_k += width)
      result.products.push_back(factor * std::inner_product(of_q, of_q + width, of_k, 0.0));
  return result;
}

}  // namespace

ScoreSources ScoreSourcesOf::compute(const PromptRun& run,
                                     const Computation<ScoreSources>& computation) const {
  return sources_with(run, *this, has_edits(run, *this), computation);
}

ScoreSources ScoreSourcesOf::compute_difference(const PromptRun& run, const PromptRun& baseline,
                                                const Computation<ScoreSources>& computation) const {
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
