#include "app/run/analyses/attribution.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "app/run/analyses/logit_direction.h"
#include "app/run/analyses/parameter_rows.h"
#include "app/run/analyses/patterns.h"
#include "app/run/recompute.h"
#include "model/files/error.h"
#include "model/pass/hooks.h"
#include "model/pass/plan.h"
#include "model/pass/statistics.h"

namespace headscope::app {
namespace {

/// Activations of a forward pass at one position, at the points that were requested.
class WatchedRows {
 public:
  void want(model::HookPoint point) { rows_.push_back({point, {}}); }
  void watch(const PromptRun& run, int position, model::Workspace& workspace, const std::stop_token& stop) {
    model::Hooks hooks;
    for (auto& [point, values] : rows_) {
      hooks.watch(point, [position, &values = values](const model::ConstActivation2d& activation) {
        const auto row = row_of(activation, position);
        values.insert(values.end(), row.begin(), row.end());
      });
    }
    recompute(run, position, position + 1, hooks, workspace, stop);
  }
  /// Empty if the point was not requested.
  std::span<const float> at(model::Site site, int layer = 0) const {
    const auto found = std::ranges::find(rows_, model::HookPoint{site, layer},
                                         &std::pair<model::HookPoint, std::vector<float>>::first);
    return found != rows_.end() ? std::span<const float>(found->second) : std::span<const float>();
  }

 private:
  std::vector<std::pair<model::HookPoint, std::vector<float>>> rows_;
};

/// Whether edits act on the stream itself or after it, not on what one part writes.
bool edits_outside_parts(const model::Plan& plan, int layers) {
  using model::Site;
  for (int layer = 0; layer < layers; ++layer)
    for (const Site site : {Site::resid_pre, Site::attn_out, Site::resid_mid, Site::resid_post})
      if (plan.edits({site, layer})) return true;
  for (const Site site : {Site::ln_final_scale, Site::ln_final_normalized, Site::logits})
    if (plan.edits({site, 0})) return true;
  return false;
}

WatchedRows watch_stream(const PromptRun& run, int position, int layers, bool edited,
                         const Computation<Attribution>& computation) {
  using model::Site;
  WatchedRows seen;
  seen.want({Site::embed, 0});
  seen.want({Site::pos_embed, 0});
  for (int layer = 0; layer < layers; ++layer) {
    seen.want({Site::mlp_out, layer});
    if (!edited) continue;
    for (const Site site : {Site::resid_pre, Site::attn_out, Site::resid_mid, Site::resid_post})
      seen.want({site, layer});
  }
  if (run.run->plan != nullptr && run.run->plan->edits({Site::ln_final_scale, 0}))
    seen.want({Site::ln_final_scale, 0});
  if (edited) seen.want({Site::ln_final_normalized, 0});
  seen.watch(run, position, computation.workspace, computation.stop);
  return seen;
}

/// ln_f's scale if it was edited, else 0.
double edited_scale(const WatchedRows& seen) {
  const auto scale = seen.at(model::Site::ln_final_scale);
  return scale.empty() ? 0 : static_cast<double>(scale.front());
}

/// What edits added outside the parts: at each point, the activation minus what arrived there. All edits
/// except those of logits, which come after the unembedding.
double edits_on_stream(const PromptRun& run, const Attribution& parts, const LogitDirection& direction,
                       const WatchedRows& seen) {
  using model::Site;
  const model::Plan& plan = *run.run->plan;
  const auto at = [&](Site site, int layer) { return product(direction.along, seen.at(site, layer)); };
  double sum = 0, stream = parts.token_embedding + parts.position_embedding;
  const auto arrive = [&](Site site, int layer, double came) {
    stream = at(site, layer);
    if (plan.edits({site, layer})) sum += stream - came;
  };
  for (int layer = 0; layer < parts.layers; ++layer) {
    arrive(Site::resid_pre, layer, stream);
    double attention = parts.attention_bias[layer];
    for (int head = 0; head < parts.n_head(); ++head) attention += parts.head(layer, head);
    if (plan.edits({Site::attn_out, layer})) sum += at(Site::attn_out, layer) - attention;
    arrive(Site::resid_mid, layer, stream + at(Site::attn_out, layer));
    arrive(Site::resid_post, layer, stream + parts.mlps[layer]);
  }
  if (plan.edits({Site::ln_final_normalized, 0}))
    sum += product(direction.read, seen.at(Site::ln_final_normalized)) - stream;
  return sum;
}

/// Whether edits act on what a head writes, after the weighted sum of its values.
bool edits_output(const model::Plan* plan, model::HeadIndex head) {
  return plan != nullptr && std::ranges::any_of(plan->edits(), [&](const model::Edit& edit) {
           const model::Site site = model::point_of(edit).site;
           return (site == model::Site::z || site == model::Site::result) && acts_on_head(edit, head);
         });
}

void add_attention_parts(const PromptRun& run, const LogitDirection& direction,
                         const Computation<Attribution>& computation, Attribution& result) {
  const model::Transformer& transformer = *run.model->transformer;
  const auto d_model = static_cast<std::size_t>(transformer.config().n_embd);
  for (int layer = 0; layer < result.layers; ++layer) {
    if (computation.stop.stop_requested()) throw model::Stopped();
    const model::AttentionOutput out =
        transformer.attention_output(*run.run, layer, result.position, computation.workspace);
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
    throw model::RunError("there is no token " + std::to_string(choice.number) +
                          ": the vocabulary has ids 0 to " + std::to_string(vocabulary - 1));
  return choice.number;
}

double Attribution::layer(int layer) const {
  double all = attention_bias[layer] + mlps[layer];
  for (int h = 0; h < n_head(); ++h) all += head(layer, h);
  return all;
}

double Attribution::sum() const {
  double all = token_embedding + position_embedding;
  for (int l = 0; l < layers; ++l) all += layer(l);
  return all + final_bias + edits;
}

Attribution AttributionOf::difference(const Attribution& after, const Attribution& before,
                                      const PromptRun&) const {
  Attribution result = after;
  for (const auto part : {&Attribution::logit, &Attribution::token_embedding,
                          &Attribution::position_embedding, &Attribution::final_bias, &Attribution::edits})
    result.*part -= before.*part;
  for (const auto parts : {&Attribution::heads, &Attribution::attention_bias, &Attribution::mlps})
    std::ranges::transform(result.*parts, before.*parts, (result.*parts).begin(), std::minus());
  result.edited = after.edited || before.edited;
  return result;
}

SourceParts SourcesOf::difference(const SourceParts& after, const SourceParts& before,
                                  const PromptRun& run) const {
  SourceParts result = after;
  result.unmatched = -std::accumulate(before.parts.begin(), before.parts.end(), 0.0);
  result.edits -= before.edits;
  result.edited |= before.edited;
  for (std::size_t key = 0; key < result.parts.size(); ++key) {
    const int there = run.baseline ? run.aligned[key] : static_cast<int>(key);
    if (there < 0 || there >= std::ssize(before.parts)) continue;
    result.unmatched += before.parts[there];
    result.parts[key] -= before.parts[there];
    result.weights[key] -= before.weights[there];
  }
  return result;
}

double SourceParts::sum() const {
  return std::accumulate(parts.begin(), parts.end(), unmatched) + edits;
}

Attribution AttributionOf::compute(const PromptRun& run, const Computation<Attribution>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  std::vector<float> logits(transformer.config().vocab_size);
  transformer.logits(*run.run, position, 1, computation.workspace, logits);
  const auto logit_of = [&](int id) { return static_cast<double>(logits[id]); };
  Attribution result;
  result.position = position;
  result.layers = transformer.config().n_layer;
  result.token = id_of(token, logits);
  result.against = id_of(against, logits);
  result.logit = logit_of(result.token) - (result.against >= 0 ? logit_of(result.against) : 0);
  const model::Plan* plan = run.run->plan.get();
  result.edited = plan != nullptr && edits_outside_parts(*plan, result.layers);
  const WatchedRows seen = watch_stream(run, position, result.layers, result.edited, computation);
  const LogitDirection direction =
      logit_direction(run, position, result.token, result.against, edited_scale(seen));
  result.scale = direction.scale;
  result.final_bias = direction.bias;
  result.token_embedding = product(direction.along, seen.at(model::Site::embed));
  result.position_embedding = product(direction.along, seen.at(model::Site::pos_embed));
  for (int layer = 0; layer < result.layers; ++layer)
    result.mlps.push_back(product(direction.along, seen.at(model::Site::mlp_out, layer)));
  add_attention_parts(run, direction, computation, result);
  if (!result.edited) return result;
  result.edits = edits_on_stream(run, result, direction, seen);
  if (plan->edits({model::Site::logits, 0}))
    result.edits +=
        result.logit - direction.bias - product(direction.read, seen.at(model::Site::ln_final_normalized));
  return result;
}

SourceParts SourcesOf::compute(const PromptRun& run, const Computation<SourceParts>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  WatchedRows seen;
  if (run.run->plan != nullptr && run.run->plan->edits({model::Site::ln_final_scale, 0})) {
    seen.want({model::Site::ln_final_scale, 0});
    seen.watch(run, position, computation.workspace, computation.stop);
  }
  const LogitDirection direction = logit_direction(run, position, token, against, edited_scale(seen));
  const ParameterRows rows = parameter_rows(transformer, "h." + std::to_string(layer) + ".attn.c_proj.weight",
                                            head * config.d_head(), config.d_head());
  std::vector<double> along(config.d_head());  // direction of the head's values
  for (std::size_t i = 0; i < along.size(); ++i)
    along[i] = product(direction.along, rows.row(static_cast<int>(i)));
  SourceParts result;
  result.weights = transformer.attention_row(*run.run, layer, head, position).weights;
  for (int key = 0; key < std::ssize(result.weights); ++key)
    result.parts.push_back(static_cast<double>(result.weights[key]) *
                           product(along, run.run->v(layer, head, key)));
  result.edited = edits_output(run.run->plan.get(), {layer, head});
  if (!result.edited) return result;
  const model::AttentionOutput out =
      transformer.attention_output(*run.run, layer, position, computation.workspace);
  const auto d_model = static_cast<std::size_t>(config.n_embd);
  result.edits =
      product(direction.along, std::span(out.results).subspan(head * d_model, d_model)) - result.sum();
  return result;
}

}  // namespace headscope::app
