#include "model/pass/transformer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>

#include "model/files/error.h"
#include "model/kernels/kernels.h"
#include "model/kernels/product.h"
#include "model/pass/attention.h"
#include "model/pass/transformer_impl.h"

namespace headscope::model {
namespace {

void check_head(const Config& config, int layer, int head) {
  if (layer >= 0 && layer < config.n_layer && head >= 0 && head < config.n_head) return;
  throw RunError("there is no head L" + std::to_string(layer) + " H" + std::to_string(head) +
                 "; the model has layers 0 to " + std::to_string(config.n_layer - 1) + " and heads 0 to " +
                 std::to_string(config.n_head - 1));
}

/// q.k of one query with keys [0, scores.cols).
void score_query(const PanelKernels& kernels, const HeadCache& head, int query, FloatRows scores) {
  const int page = query / Page::kPositions, row = query % Page::kPositions;
  score(kernels, head, head.q(page, row + 1).middle_rows(row, 1), scores);
}

/// Added in the order of the softmax kernels: sixteen partial sums, then these from first to last.
float sum_of_powers(std::span<const float> powers) {
  constexpr std::size_t kLanes = 16;
  std::array<float, kLanes> sums{};
  for (std::size_t i = 0; i < powers.size(); ++i) sums[i % kLanes] += powers[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0F);
}

/// Applies edits to one position's row of a site.
void apply_plan(const Run& run, HookPoint point, int pos, std::span<float> row, int head = 0) {
  const int cols = static_cast<int>(row.size());
  if (run.plan != nullptr) run.plan->apply({point, head, pos, 0, 1, cols, cols, row.data()}, run.means);
}

/// Calls body(kept, first query, rows) for the blocks of a head's queries.
template <class Body>
void visit_blocks(const Run& run, HeadIndex index, const Body& body) {
  const HeadCache kept = head_of(run.config, run.pages, index.layer, index.head);
  for (int first = 0; first < run.length(); first += Page::kPositions) {
    body(kept, first, std::min(Page::kPositions, run.length() - first));
  }
}

/// out [queries, T] = the pattern of queries from `first` on, where a page begins.
void pattern_block(const PanelKernels& kernels, const Run& run, const HeadCache& kept, int first,
                   FloatRows out) {
  const FloatRows seen = out.middle_cols(0, keys_for(run, kept, first + out.rows - 1));
  score(kernels, kept, kept.q(first / Page::kPositions, out.rows), seen);
  pattern_in_run(kernels, run, kept, first, seen);
  for (int i = 0; i < out.rows; ++i) std::ranges::fill(out.row(i).subspan(seen.row(i).size()), 0.0F);
}

}  // namespace

Transformer::Transformer(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Transformer::~Transformer() = default;

std::shared_ptr<const Transformer> Transformer::load(const std::filesystem::path& folder,
                                                     const LoadOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->weights = load_weights(folder, options);
  return std::shared_ptr<const Transformer>(new Transformer(std::move(impl)));
}

const Config& Transformer::config() const {
  return impl_->weights.config;
}
Precision Transformer::precision() const {
  return impl_->weights.precision;
}
std::size_t Transformer::weight_bytes() const {
  std::size_t bytes = 0;
  for (const auto& memory : impl_->weights.memory) bytes += memory->size();
  return bytes;
}
const std::vector<Parameter>& Transformer::parameters() const {
  return impl_->weights.parameters;
}
const std::set<std::string>& Transformer::files() const {
  return impl_->weights.files;
}
const std::vector<std::string>& Transformer::notes() const {
  return impl_->weights.notes;
}
const std::vector<std::string>& Transformer::warnings() const {
  return impl_->weights.warnings;
}
std::vector<float> Transformer::attention_input(const Run& run, int layer, int pos) const {
  check_head(run.config, layer, 0);
  check_positions(run, pos);
  const LayerNormWeights& ln_1 = impl_->weights.h[layer].ln_1;
  const std::span<const float> resid = run.resid(layer, pos);
  std::vector<float> row(resid.size());
  float scale = center(resid, run.config.layer_norm_epsilon, row);
  apply_plan(run, {Site::ln1_scale, layer}, pos, {&scale, 1});
  divide(row, scale);
  apply_plan(run, {Site::ln1_normalized, layer}, pos, row);
  apply_gain_and_bias(ln_1.gain, ln_1.bias, row);
  return row;
}
std::span<const float> Transformer::attention_bias(int layer) const {
  return impl_->weights.h[layer].attn_c_attn.bias;
}
std::span<const float> Transformer::projection_bias(int layer) const {
  return impl_->weights.h[layer].attn_c_proj.bias;
}
AttentionOutput Transformer::attention_output(const Run& run, int layer, int pos,
                                              Workspace& workspace) const {
  check_head(run.config, layer, 0);
  check_positions(run, pos);
  const int n_head = run.config.n_head, d_head = run.config.d_head(), d_model = run.config.n_embd;
  const LinearWeights& projection = impl_->weights.h[layer].attn_c_proj;
  Workers& workers = workspace.impl().workers;
  AttentionOutput output;
  output.z.resize(d_model);
  output.results.resize(static_cast<std::size_t>(n_head) * d_model);
  output.out.resize(d_model);
  const FloatRows z{output.z.data(), 1, d_model, d_model},
      results{output.results.data(), n_head, d_model, d_model};
  std::vector<float> weights(run.length());
  for (int head = 0; head < n_head; ++head) {
    const HeadCache kept = head_of(run.config, run.pages, layer, head);
    const int keys = keys_for(run, kept, pos);
    const FloatRows scores{weights.data(), 1, keys, keys};
    score_query(workers.kernels(), kept, pos, scores);
    pattern_in_run(workers.kernels(), run, kept, pos, scores);
    weigh_values(workers.kernels(), kept, scores, z.middle_cols(head * d_head, d_head));
  }
  apply_plan(run, {Site::z, layer}, pos, output.z);
  for (int head = 0; head < n_head; ++head) {
    const FloatRows result = results.middle_rows(head, 1);
    product_with_slice(z.middle_cols(head * d_head, d_head), projection.weight, head * d_head, workers,
                       result);
    apply_plan(run, {Site::result, layer}, pos, result.row(0), head);
  }
  if (run.plan != nullptr && run.plan->edits({Site::result, layer})) {  // in the same order as the pass
    std::ranges::copy(projection.bias, output.out.begin());
    for (int head = 0; head < n_head; ++head) add(results.row(head), output.out);
  } else {
    linear(z, projection, workers, {output.out.data(), 1, d_model, d_model});
  }
  apply_plan(run, {Site::attn_out, layer}, pos, output.out);
  return output;
}
std::span<const float> Transformer::position_embedding() const {
  return impl_->weights.wpe;
}

AttentionStages Transformer::attention(const Run& run, int layer, int head) const {
  check_head(run.config, layer, head);
  const int length = run.length();
  const auto cells = static_cast<std::size_t>(length) * length;
  AttentionStages stages;
  stages.length = length;
  stages.scores.resize(cells);
  const FloatRows scores{stages.scores.data(), length, length, length};
  const HeadCache kept = head_of(run.config, run.pages, layer, head);
  const PanelKernels kernels = fastest_kernels();
  for (int first = 0; first < length; first += Page::kPositions) {
    const int rows = std::min(Page::kPositions, length - first);
    score(kernels, kept, kept.q(first / Page::kPositions, rows), scores.middle_rows(first, rows));
  }
  stages.scaled = stages.scores;
  scale_scores(run.config.attention_scale(layer), {stages.scaled.data(), length, length, length});
  stages.masked = stages.scaled;
  mask_scores(run, kept, 0, {stages.masked.data(), length, length, length});
  stages.pattern = stages.masked;
  pattern_of_masked(kernels, run, kept, 0, {stages.pattern.data(), length, length, length});
  return stages;
}

AttentionRow Transformer::attention_row(const Run& run, int layer, int head, int query,
                                        int least_keys) const {
  check_head(run.config, layer, head);
  check_positions(run, query);
  const PanelKernels kernels = fastest_kernels();
  const float scale = run.config.attention_scale(layer);
  const HeadCache kept = head_of(run.config, run.pages, layer, head);
  const int keys = std::max(keys_for(run, kept, query), std::min(least_keys, run.length()));
  const auto as_row = [&](std::vector<float>& values) { return FloatRows{values.data(), 1, keys, keys}; };
  AttentionRow result;
  result.scores.resize(keys);
  score_query(kernels, kept, query, as_row(result.scores));
  result.scaled = result.scores;
  scale_scores(scale, as_row(result.scaled));
  result.masked = result.scaled;
  mask_scores(run, kept, query, as_row(result.masked));
  result.largest_key = static_cast<int>(std::ranges::max_element(result.masked) - result.masked.begin());
  result.largest = result.masked[result.largest_key];
  result.powers = result.masked;
  for (float& power : result.powers) power -= result.largest;
  kernels.rows.exp(result.powers.data(), keys);
  result.sum = sum_of_powers(result.powers);
  result.weights = result.scores;
  pattern_in_run(kernels, run, kept, query, as_row(result.weights));
  return result;
}

void Transformer::pattern(const Run& run, int layer, int head, std::span<float> out) const {
  check_head(run.config, layer, head);
  const int length = run.length();
  const FloatRows all{out.data(), length, length, length};
  visit_blocks(run, {layer, head}, [&](const HeadCache& kept, int first, int rows) {
    const FloatRows block = all.middle_rows(first, rows);
    pattern_block(fastest_kernels(), run, kept, first, block);
  });
}

void Transformer::patterns(const Run& run, std::span<const HeadIndex> heads, Workspace& workspace,
                           const PatternVisitor& visit, std::stop_token stop) const {
  for (const auto& [layer, head] : heads) check_head(run.config, layer, head);
  const int length = run.length();
  Workers& workers = workspace.impl().workers;
  workers.reserve_scratch(attention_scratch(run.config));
  workers.parallel_for(static_cast<int>(heads.size()), [&](int index, float* scratch) {
    if (stop.stop_requested()) throw Stopped();
    visit_blocks(run, heads[index], [&](const HeadCache& kept, int first, int rows) {
      const FloatRows block{scratch, rows, length, score_stride(length)};
      pattern_block(workers.kernels(), run, kept, first, block);
      visit(static_cast<std::size_t>(index), first, block);
    });
  });
}

}  // namespace headscope::model
