#include "app/run/analyses/attribution.h"

#include <algorithm>
#include <functional>

#include "app/run/analyses/parameters.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/predictions.h"
#include "app/run/analyses/vectors.h"
#include "model/files/error.h"

namespace headscope::app {
namespace {

using model::Site;

}  // namespace

double Attribution::of(const StreamSource& source) const {
  const auto found = std::ranges::find(sources, source);
  return found == sources.end() ? 0 : parts[static_cast<std::size_t>(found - sources.begin())];
}

Attribution Attribution::minus(const Attribution& before, const PromptRun&) const {
  Attribution result = *this;
  result.logit -= before.logit;
  if (before.edited() && !edited()) {
    result.sources.push_back(before.sources.back());
    result.parts.push_back(0);
  }
  for (std::size_t i = 0; i < before.parts.size(); ++i) result.parts[i] -= before.parts[i];
  return result;
}

SplitPart SplitPart::minus(const SplitPart& before, const PromptRun& run) const {
  SplitPart result = *this;
  result.bias -= before.bias;
  result.edits -= before.edits;
  result.edited |= before.edited;
  if (by_position) {
    result.unmatched = subtract_counterparts(result.parts, before.parts, run);
    subtract_counterparts(result.sizes, before.sizes, run);
  } else {
    std::ranges::transform(result.parts, before.parts, result.parts.begin(), std::minus());
    std::ranges::transform(result.sizes, before.sizes, result.sizes.begin(), std::minus());
  }
  return result;
}

Attribution AttributionOf::compute(const PromptRun& run, const Computation<Attribution>& computation) const {
  const int position = measured.position, layers = run.run->config.n_layer;
  const std::vector<float> logits = logits_after(run, position, computation);
  Attribution result;
  result.measured = resolved(measured, logits);
  result.logit = logit_of(result.measured, logits);
  const LogitDirection direction = logit_direction(run, result.measured, computation);
  const StreamParts parts = stream_parts(run, position, layers, computation);
  result.scale = direction.scale;
  const auto add = [&](StreamSource source, double part) {
    result.sources.push_back(source);
    result.parts.push_back(part);
  };
  for (std::size_t i = 0; i < parts.sources.size(); ++i)
    add(parts.sources[i], dot(direction.along, parts.vectors[i]));
  add({StreamSource::Kind::norm_bias}, direction.bias);
  if (edits_stream(run, layers) || edits_after_blocks(run))
    add({StreamSource::Kind::edits},
        dot(parts.edits, direction.along) + final_edits(run, position, direction, result.logit, computation));
  return result;
}

SplitPart SourcesOf::compute(const PromptRun& run, const Computation<SplitPart>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  const int position = measured.position;
  const LogitDirection direction = logit_direction(run, measured, computation);
  const ParameterRows rows =
      layer_rows(transformer, layer, "attn.c_proj.weight", head * config.d_head(), config.d_head());
  std::vector<double> along(config.d_head());  // direction of the head's values
  for (std::size_t i = 0; i < along.size(); ++i)
    along[i] = dot(direction.along, rows.row(static_cast<int>(i)));
  SplitPart result;
  result.sizes = transformer.attention_row(*run.run, layer, head, position).weights;
  for (int key = 0; key < std::ssize(result.sizes); ++key)
    result.parts.push_back(static_cast<double>(result.sizes[key]) * dot(along, run.run->v(layer, head, key)));
  result.edited = edits_head(run, {layer, head}, {Site::z, Site::result});  // after the sum of its values
  if (!result.edited) return result;
  const model::AttentionOutput out =
      transformer.attention_output(*run.run, layer, position, computation.workspace);
  const std::span<const float> of_head = model::rows_of(out.results, config.n_embd).row(head);
  result.edits = dot(direction.along, of_head) - result.sum();
  return result;
}

SplitPart NeuronsOf::compute(const PromptRun& run, const Computation<SplitPart>& computation) const {
  constexpr int kRows = 256;  // in memory at a time
  const model::Transformer& transformer = *run.model->transformer;
  SplitPart result;
  result.by_position = false;
  result.edited = edits_at(run, {Site::mlp_out, layer});
  Recording seen(run.run->config, measured.position, 1);
  seen.add({Site::mlp_post, layer});
  if (result.edited) seen.add({Site::mlp_out, layer});
  seen.read(run, computation);
  const LogitDirection direction = logit_direction(run, measured, computation);
  result.sizes = vector_of(seen.rows({Site::mlp_post, layer}));
  const int neurons = static_cast<int>(result.sizes.size());
  for (int first = 0; first < neurons; first += kRows) {
    computation.poll();
    const ParameterRows rows =
        layer_rows(transformer, layer, "mlp.c_proj.weight", first, std::min(kRows, neurons - first));
    for (int i = 0; i < rows.rows; ++i)
      result.parts.push_back(static_cast<double>(result.sizes[first + i]) *
                             dot(direction.along, rows.row(i)));
  }
  result.bias = dot(direction.along, layer_rows(transformer, layer, "mlp.c_proj.bias").row(0));
  if (result.edited) result.edits = dot(direction.along, seen.rows({Site::mlp_out, layer})) - result.sum();
  return result;
}

}  // namespace headscope::app
