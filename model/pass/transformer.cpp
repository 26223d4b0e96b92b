#include "model/pass/transformer.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "model/files/error.h"
#include "model/kernels/product.h"
#include "model/pass/attention.h"
#include "model/pass/pass.h"
#include "model/pass/shared_steps.h"

namespace headscope::model {
namespace {

void check_head(const Config& config, int layer, int head) {
  if (layer >= 0 && layer < config.n_layer && head >= 0 && head < config.n_head) return;
  throw RunError("there is no head L" + std::to_string(layer) + " H" + std::to_string(head) +
                 "; the model has layers 0 to " + std::to_string(config.n_layer - 1) + " and heads 0 to " +
                 std::to_string(config.n_head - 1));
}

/// The stages of queries from `first` on, all in one page, each [queries, keys].
struct StageRows {
  FloatRows scores, scaled, masked, pattern;
};

void find_stages(const PanelKernels& kernels, const Run& run, const HeadCache& kept, int first,
                 const StageRows& out) {
  const int rows = out.scores.rows;
  scores(kernels, kept, kept.q(first, rows), out.scores);
  const float scale = run.config.attention_scale(kept.layer);
  for (int i = 0; i < rows; ++i)
    std::ranges::transform(out.scores.row(i), out.scaled.row_data(i), [&](float v) { return v * scale; });
  copy(out.scores, out.masked);
  scale_and_mask(run, kept, first, out.masked);
  copy(out.masked, out.pattern);
  softmax_masked(kernels, run, kept, first, out.pattern);
}

/// Added in the order of the softmax kernels: sixteen partial sums, then these from first to last.
float sum_of_powers(std::span<const float> powers) {
  constexpr std::size_t kLanes = 16;
  std::array<float, kLanes> sums{};
  for (std::size_t i = 0; i < powers.size(); ++i) sums[i % kLanes] += powers[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0F);
}

/// Calls body(kept, first query, rows) for the blocks of a head's queries.
template <class Body>
void visit_blocks(const Run& run, HeadIndex index, const Body& body) {
  const HeadCache kept = head_of(run, index.layer, index.head);
  for (int first = 0; first < run.length(); first += Page::kPositions) {
    body(kept, first, std::min(Page::kPositions, run.length() - first));
  }
}

/// out [queries, T] = the pattern of queries from `first` on, where a page begins.
void pattern_block(const PanelKernels& kernels, const Run& run, const HeadCache& kept, int first,
                   FloatRows out) {
  const FloatRows seen = out.middle_cols(0, keys_for(run, kept, first + out.rows - 1));
  scores(kernels, kept, kept.q(first, out.rows), seen);
  find_pattern(kernels, run, kept, first, seen);
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
const LoadReport& Transformer::report() const {
  return impl_->weights;
}
std::vector<float> Transformer::attention_input(const Run& run, int layer, int pos,
                                                Workspace& workspace) const {
  check_head(run.config, layer, 0);
  const std::span<const float> resid = run.resid(layer, pos);
  std::vector<float> row(resid.size());
  layer_norm(impl_->weights.h[layer].ln_1, run.config.layer_norm_epsilon, {Site::ln1_scale, layer},
             {Site::ln1_normalized, layer}, [&](int) { return resid; }, Tap{&run, pos},
             workspace.impl().workers, {row.data(), 1, run.config.n_embd, run.config.n_embd});
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
  AttentionOutput output;
  Hooks hooks;
  for (const auto& [site, into] : {std::pair(Site::z, &output.z), std::pair(Site::result, &output.results),
                                   std::pair(Site::attn_out, &output.out)})
    hooks.watch({site, layer}, [into = into](const ConstActivation2d& piece) {
      into->insert(into->end(), piece.row(0).begin(), piece.row(0).end());
    });
  Lane lane{std::make_shared<Run>(run), pos, 1};
  recompute_block(impl_->weights, lane, layer, false, {.hooks = &hooks}, workspace.impl());
  return output;
}
void Transformer::add_mlp(int layer, FloatRows stream, Workspace& workspace) const {
  Workers& workers = workspace.impl().workers;
  std::vector<float> inner(std::ptrdiff_t{stream.rows} * config().n_inner),
      outer(std::ptrdiff_t{stream.rows} * stream.cols);
  const FloatRows out = rows_of(outer, stream.cols);
  mlp(
      impl_->weights, layer, [&](int i) { return stream.row(i); }, Tap{}, workers,
      rows_of(inner, config().n_inner), out);
  workers.for_rows(out.rows, [&](int i) { add(out.row(i), stream.row(i)); });
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
  for (std::vector<float>* stage : {&stages.scores, &stages.scaled, &stages.masked, &stages.pattern})
    stage->resize(cells);
  visit_blocks(run, {layer, head}, [&](const HeadCache& kept, int first, int rows) {
    const auto block = [&](std::vector<float>& stage) {
      return FloatRows{stage.data(), length, length, length}.middle_rows(first, rows);
    };
    find_stages(fastest_kernels(), run, kept, first,
                {block(stages.scores), block(stages.scaled), block(stages.masked), block(stages.pattern)});
  });
  return stages;
}

AttentionRow Transformer::attention_row(const Run& run, int layer, int head, int query, int min_keys) const {
  check_head(run.config, layer, head);
  check_positions(run, query);
  const PanelKernels kernels = fastest_kernels();
  const HeadCache kept = head_of(run, layer, head);
  const int keys = std::max(keys_for(run, kept, query), std::min(min_keys, run.length()));
  const auto row = [&](std::vector<float>& stage) {
    stage.resize(keys);
    return FloatRows{stage.data(), 1, keys, keys};
  };
  AttentionRow result;
  find_stages(kernels, run, kept, query,
              {row(result.scores), row(result.scaled), row(result.masked), row(result.weights)});
  result.largest_key = static_cast<int>(std::ranges::max_element(result.masked) - result.masked.begin());
  result.largest = result.masked[result.largest_key];
  result.powers = result.masked;
  for (float& power : result.powers) power -= result.largest;
  kernels.rows.exp(result.powers.data(), keys);
  result.sum = sum_of_powers(result.powers);
  return result;
}

void Transformer::pattern(const Run& run, int layer, int head, std::span<float> out) const {
  check_head(run.config, layer, head);
  const int length = run.length();
  const FloatRows all{out.data(), length, length, length};
  visit_blocks(run, {layer, head}, [&](const HeadCache& kept, int first, int rows) {
    pattern_block(fastest_kernels(), run, kept, first, all.middle_rows(first, rows));
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
