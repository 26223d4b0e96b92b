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

#include "model/circuit/cut_pass.h"
#include "model/circuit/edge_attribution.h"
#include "model/files/error.h"
#include "model/files/weights.h"
#include "model/gradient/backward.h"
#include "model/kernels/kernels.h"
#include "model/kernels/product.h"
#include "model/kernels/workspace.h"
#include "model/pass/attention.h"
#include "model/pass/direct_path.h"
#include "model/pass/forward.h"
#include "model/pass/parameters.h"
#include "model/pass/statistics.h"
#include "model/pass/variants.h"

namespace headscope::model {
namespace {

/// Transformer::stream_writes.
StreamWrites read_stream_writes(const Weights& weights, const std::shared_ptr<const void>& identity,
                                const Run& run, Workspace::Impl& workspace, const std::stop_token& stop) {
  const Config& config = weights.config;
  const std::vector<float> rows(static_cast<std::size_t>(run.length()) * config.n_embd);
  StreamWrites writes{run.length(), rows, {}, {}};
  writes.z.assign(config.n_layer, rows);
  writes.mlp.assign(config.n_layer, rows);
  Hooks hooks;
  const auto add_to = [&](std::vector<float>& sum, HookPoint point) {
    hooks.watch(point, [&sum, width = config.n_embd](const ConstActivation2d& piece) {
      for (int i = 0; i < piece.rows; ++i)
        add(piece.row(i), std::span(sum).subspan(static_cast<std::size_t>(piece.first_pos + i) * width,
                                                 static_cast<std::size_t>(width)));
    });
  };
  add_to(writes.embedding, {Site::embed});
  add_to(writes.embedding, {Site::pos_embed});
  for (int layer = 0; layer < config.n_layer; ++layer) {
    add_to(writes.z[layer], {Site::z, layer});
    add_to(writes.mlp[layer], {Site::mlp_out, layer});
  }
  ForwardOptions options;
  options.base = &run;
  options.plan = run.plan;
  options.hooks = &hooks;
  options.stop = stop;
  forward_pass(weights, identity, run.tokens, workspace, options);
  return writes;
}

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

/// The edits of the run that a path patch, edit `i` of a list, is on top of: those that act before it.
Edits edits_under_path(const Config& config, const Edits& list, std::size_t i) {
  const HookPoint receiver = point_of(list[i]);
  Edits under;
  for (std::size_t j = 0; j < list.size(); ++j) {
    const HookPoint point = point_of(list[j]);
    if (path_patch(list[j]) != nullptr) continue;
    if (comes_before(config, point, receiver) || (j < i && point == receiver)) under.push_back(list[j]);
  }
  return under;
}

/// The edit of a path patch's sender, after those of earlier paths to the same receiver.
Edits senders_of_path(const Edits& list, std::size_t i) {
  const EditSite& receiver = path_patch(list[i])->at;
  Edits senders;
  for (std::size_t j = 0; j <= i; ++j)
    if (const PatchFrom* path = path_patch(list[j]); path != nullptr && path->at == receiver)
      senders.push_back(path->edits.front());
  return senders;
}

/// Throws RunError for paths into receivers that have parts in common but are not the same: each would
/// replace the other's there.
void check_receivers(const Edits& list) {
  const auto meet = [](const auto& a, const auto& b) {
    return a.empty() || b.empty() ||
           std::ranges::any_of(a, [&](int x) { return std::ranges::count(b, x) > 0; });
  };
  for (std::size_t i = 0; i < list.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const PatchFrom *path = path_patch(list[i]), *other = path_patch(list[j]);
      if (path == nullptr || other == nullptr || path->at == other->at || path->at.point != other->at.point)
        continue;
      const EditSite &a = path->at, &b = other->at;
      if ((!a.head || !b.head || a.head == b.head) && meet(a.positions, b.positions) &&
          meet(a.units, b.units))
        throw RunError("two paths into " + hook_name(a.point) +
                       " have receivers that overlap but are not the same, so that they would not add up");
    }
}

/// Activations of the runs that are patched from, at each of the sources' sites; each is run once.
class RecordedSources {
 public:
  RecordedSources(const Transformer& transformer, const Weights& weights, const SecondModel& second)
      : transformer_(transformer), weights_(weights), second_(second.model) {
    own_.assign(second.tokens.begin(), second.tokens.end());
    own_of_second_ = own_;
    if (second_ != nullptr)
      own_of_second_.resize(std::min(own_.size(), static_cast<std::size_t>(second_->config().n_ctx)));
  }

  /// The source of a list's edit, a PatchFrom; its values come with record().
  std::shared_ptr<const Plan::Source> want(const Edits& list, std::size_t i) {
    const PatchFrom& patch = std::get<PatchFrom>(list[i]);
    if (patch.direct)
      return want_path(edits_under_path(transformer_.config(), list, i), senders_of_path(list, i),
                       patch.at.point);
    if (patch.second) check_second(patch.at.point);
    const std::vector<int>& own = patch.second ? own_of_second_ : own_;
    return want_at(run_of(patch.second, patch.tokens.empty() ? own : patch.tokens, patch.edits),
                   patch.at.point);
  }

  void record(Workspace& workspace, const std::stop_token& stop) {
    for (SourceRun& run : runs_)
      if (!run.tokens.empty()) record_run(run, workspace, stop);  // else its plan is created with the tokens
    if (own_.empty() || paths_.empty()) return;
    std::vector<Edits> senders;
    for (const Path& path : paths_) senders.push_back(path.senders);
    const auto plans = transformer_.plans(std::move(senders), workspace, stop, {second_, own_});
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (stop.stop_requested()) throw Stopped();
      follow(paths_[i], *plans[i], workspace);
    }
  }

 private:
  using Source = std::shared_ptr<Plan::Source>;
  struct SourceRun {
    bool second = false;  ///< in the second model
    std::vector<int> tokens;
    Edits edits;
    std::vector<std::pair<HookPoint, Source>> sources = {};
    std::shared_ptr<const Plan> plan = nullptr;  ///< of its edits
  };
  /// What a receiver has with edited senders, in one of the runs.
  struct Path {
    std::size_t run = 0;
    Edits senders;
    HookPoint receiver;
    Source source;
  };

  void check_second(HookPoint point) const {
    const std::string patches = "the edit of " + hook_name(point) + " patches from a second model, but ";
    if (second_ == nullptr) throw RunError(patches + "there is none");
    const std::string why = difference_of_shapes(transformer_.config(), second_->config());
    if (!why.empty()) throw RunError(patches + why);
  }

  /// The index of a run, which is added if it is new.
  std::size_t run_of(bool second, const std::vector<int>& tokens, const Edits& edits) {
    auto run = std::ranges::find_if(runs_, [&](const SourceRun& known) {
      return known.second == second && known.tokens == tokens && known.edits == edits;
    });
    if (run == runs_.end()) run = runs_.insert(runs_.end(), {second, tokens, edits});
    return static_cast<std::size_t>(run - runs_.begin());
  }

  Source want_at(std::size_t index, HookPoint point) {
    SourceRun& run = runs_[index];
    for (const auto& [known, source] : run.sources)
      if (known == point) return source;
    return run.sources.emplace_back(point, source_at(point, static_cast<int>(run.tokens.size()))).second;
  }

  Source want_path(const Edits& under, const Edits& senders, HookPoint receiver) {
    const std::size_t run = run_of(false, own_, under);
    for (const Path& path : paths_)
      if (path.run == run && path.receiver == receiver && path.senders == senders) return path.source;
    for (const HookPoint point : points_on_path(senders, receiver)) want_at(run, point);
    return paths_.emplace_back(run, senders, receiver, source_at(receiver, static_cast<int>(own_.size())))
        .source;
  }

  /// A source without values yet.
  Source source_at(HookPoint point, int length) const {
    const Config& config = transformer_.config();
    const Site site = point.site;
    const bool by_head = has_cells(site) || site == Site::result;
    auto source = std::make_shared<Plan::Source>();
    source->rows = length;
    source->columns = has_cells(site)
                          ? source->rows
                          : unit_count(config, site) * (has_heads(site) && !by_head ? config.n_head : 1);
    source->parts.resize(by_head ? config.n_head : 1);
    for (std::vector<float>& part : source->parts)
      part.resize(static_cast<std::size_t>(source->rows) * source->columns,
                  site == Site::attn_scores ? -std::numeric_limits<float>::infinity() : 0.0F);
    return source;
  }

  void record_run(SourceRun& run, Workspace& workspace, const std::stop_token& stop) const {
    const Transformer& from = run.second ? *second_ : transformer_;
    if (!run.edits.empty())
      run.plan = from.plan(run.edits, workspace, stop, {run.second ? nullptr : second_, run.tokens});
    const bool grows = run.tokens == own_ || run.tokens == own_of_second_;  // with the patched run
    Hooks hooks;
    for (const auto& [point, source] : run.sources) {
      source->depends_on_later = grows && run.plan != nullptr && run.plan->needs_whole_run();
      hooks.watch(point, [&into = *source](const ConstActivation2d& piece) { put(piece, into); });
    }
    ForwardOptions options;
    options.hooks = &hooks;
    options.stop = stop;
    options.plan = run.plan;
    from.forward(run.tokens, workspace, options);
  }

  void follow(const Path& path, const Plan& senders, Workspace& workspace) {
    const Plan* edits = runs_[path.run].plan.get();
    path.source->parts.front() = receive(
        weights_, {&senders, edits, path.receiver},
        [&](HookPoint point) -> std::span<const float> { return want_at(path.run, point)->parts.front(); },
        static_cast<int>(own_.size()), workspace.impl().workers);
    path.source->depends_on_later =
        senders.needs_whole_run() || (edits != nullptr && edits->needs_whole_run());
  }

  static void put(const ConstActivation2d& piece, Plan::Source& into) {
    std::vector<float>& part = into.parts[into.parts.size() > 1 ? piece.head : 0];
    for (int i = 0; i < piece.rows; ++i)
      std::ranges::copy(
          piece.row(i),
          part.begin() + static_cast<std::ptrdiff_t>(piece.first_pos + i) * into.columns + piece.first_col);
  }

  const Transformer& transformer_;
  const Weights& weights_;
  const Transformer* second_;
  std::vector<int> own_;            // the tokens of the patched run
  std::vector<int> own_of_second_;  // up to the second model's context length
  std::vector<SourceRun> runs_;
  std::vector<Path> paths_;
};

}  // namespace

struct Transformer::Impl {
  Weights weights;
  std::shared_ptr<const void> identity = std::make_shared<char>();
};

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

std::int64_t Transformer::parameter_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters()) count += value_count(parameter);
  return count;
}

void Transformer::parameter_rows(std::size_t index, int first, int count, std::span<float> out) const {
  read_parameter_rows(impl_->weights, index, first, count, out);
}

void Transformer::compare_embeddings(std::span<const float> vector, Workspace& workspace,
                                     std::span<float> dots, std::span<float> norms) const {
  model::compare_embeddings(impl_->weights, vector, workspace.impl(), dots, norms);
}

std::shared_ptr<const Plan> Transformer::plan(Edits edits, Workspace& workspace, std::stop_token stop,
                                              const SecondModel& second) const {
  std::vector<Edits> lists;
  lists.push_back(std::move(edits));
  return plans(std::move(lists), workspace, std::move(stop), second).front();
}

std::vector<std::shared_ptr<const Plan>> Transformer::plans(std::vector<Edits> lists, Workspace& workspace,
                                                            std::stop_token stop,
                                                            const SecondModel& second) const {
  RecordedSources sources(*this, impl_->weights, second);
  std::vector<std::vector<std::shared_ptr<const Plan::Source>>> sources_of_lists;
  for (const Edits& list : lists) {
    for (const Edit& edit : list) check(config(), edit);
    check_receivers(list);
    auto& of = sources_of_lists.emplace_back(list.size());
    for (std::size_t i = 0; i < list.size(); ++i)
      if (std::holds_alternative<PatchFrom>(list[i])) of[i] = sources.want(list, i);
  }
  sources.record(workspace, stop);
  std::vector<std::shared_ptr<const Plan>> result;
  for (std::size_t i = 0; i < lists.size(); ++i)
    result.push_back(
        std::make_shared<const Plan>(config(), std::move(lists[i]), std::move(sources_of_lists[i])));
  return result;
}

std::shared_ptr<const Run> Transformer::forward(std::span<const int> tokens, Workspace& workspace,
                                                const ForwardOptions& options) const {
  return forward_pass(impl_->weights, impl_->identity, tokens, workspace.impl(), options);
}

void Transformer::variants(const Run& clean, std::span<const std::shared_ptr<const Plan>> plans, int first,
                           int count, Workspace& workspace, const VariantVisitor& visit,
                           std::stop_token stop) const {
  run_variants(impl_->weights, impl_->identity, clean, plans, first, count, workspace.impl(), visit, stop);
}

double Transformer::gradients(const Run& run, const Metric& metric, Workspace& workspace,
                              const GradientOptions& options) const {
  return backward_pass(impl_->weights, impl_->identity, run, metric, workspace.impl(), options);
}

StreamWrites Transformer::stream_writes(const Run& run, Workspace& workspace, std::stop_token stop) const {
  return read_stream_writes(impl_->weights, impl_->identity, run, workspace.impl(), stop);
}

double Transformer::attribute_edges(const Run& run, const Metric& metric, const StreamWrites& changes,
                                    double factor, Rows<double> sums, Workspace& workspace,
                                    std::stop_token stop) const {
  return model::attribute_edges(impl_->weights, impl_->identity, run, metric, changes, factor, sums,
                                workspace.impl(), stop);
}

double Transformer::cut_pass(const Run& run, std::span<const float> embedding, const StreamWrites& cut,
                             const KeptEdges& kept, const Metric& metric, Workspace& workspace,
                             std::stop_token stop) const {
  return model::cut_pass(impl_->weights, run.tokens, embedding, cut, kept, metric, workspace.impl(), stop);
}

void Transformer::logits(const Run& run, int first, int count, Workspace& workspace,
                         std::span<float> out) const {
  compute_logits(impl_->weights, run, first, count, workspace.impl(), out);
}

void Transformer::unembed(std::span<const float> vector, Workspace& workspace, std::span<float> out) const {
  model::unembed(impl_->weights, vector, workspace.impl(), out);
}

std::vector<LensReading> Transformer::lens(std::span<const float> rows, int depth,
                                           std::span<const int> targets, int top, Workspace& workspace,
                                           std::stop_token stop, const Run* of, int first) const {
  return read_lens(impl_->weights, rows, {of, first, depth}, targets, top, workspace.impl(), stop);
}

std::vector<PositionStatistics> Transformer::statistics(const Run& run, int first, int count, int top,
                                                        Workspace& workspace, std::stop_token stop) const {
  return compute_statistics(impl_->weights, run, first, count, top, workspace.impl(), stop);
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
