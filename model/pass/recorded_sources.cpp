#include <algorithm>
#include <limits>
#include <map>
#include <ranges>
#include <string>
#include <utility>

#include "model/files/error.h"
#include "model/kernels/product.h"
#include "model/pass/shared_steps.h"

/// Plans (Transformer::plans, at the end), with the activations that patches copy: of other runs, recorded,
/// or of a direct path, computed here.
namespace headscope::model {
namespace {

/// The edits of the run that a path patch, edit `i` of a list, is on top of: those that act before it.
Edits edits_under_path(const Edits& list, std::size_t i) {
  const HookPoint receiver = point_of(list[i]);
  Edits under;
  for (std::size_t j = 0; j < list.size(); ++j) {
    const HookPoint point = point_of(list[j]);
    if (path_patch(list[j]) != nullptr) continue;
    if (point < receiver || (j < i && point == receiver)) under.push_back(list[j]);
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

using Values = std::vector<float>;  // [T, columns]

/// The layers whose heads and MLPs write to the stream before a receiver reads it.
int layers_before(HookPoint receiver) {
  return receiver.site == Site::resid_post ? receiver.layer + 1 : receiver.layer;
}

int first_layer(const Edits& senders) {
  return std::ranges::min(senders | std::views::transform(point_of)).layer;
}

/// A run that is patched from, and its activations as its edits left them.
struct SourceRun {
  bool second = false;  ///< in the second model
  std::vector<int> tokens;
  Edits edits;
  std::map<HookPoint, std::shared_ptr<Plan::Source>> sources = {};
  std::shared_ptr<const Plan> plan = nullptr;  ///< of its edits

  int length() const { return static_cast<int>(tokens.size()); }
};

/// Path patching (Wang et al. 2022, "Interpretability in the Wild", section 3.1), for PatchFrom::direct: the
/// steps of the pass, in its order, that are not the run's. Only the stream between senders and receiver is
/// computed, the receiver's layer norm and its product with c_attn. Bit-identical to a pass with patches that
/// hold all other heads and MLPs.
class DirectPath {
 public:
  /// `senders`: edits of z and mlp_out, all before the receiver.
  DirectPath(const Weights& weights, const SourceRun& run, const std::shared_ptr<const Plan>& senders,
             HookPoint receiver, Workspace::Impl& workspace)
      : weights_(weights),
        run_(run),
        receiver_(receiver),
        workspace_(workspace),
        edits_(edited_by(run.plan)),
        senders_(edited_by(senders)) {}

  /// The receiver's values, [T, d_model], if the senders are edited while all other heads and MLPs write what
  /// they write in the run.
  Values received() {
    const int first = first_layer(senders_.plan->edits()), end = layers_before(receiver_);
    stream_ = recorded({Site::resid_pre, first});
    for (int layer = first; layer < end; ++layer) {
      write(attention(layer));
      at(edits_, {Site::resid_mid, layer}, stream_);
      Values mlp = recorded({Site::mlp_out, layer});
      at(senders_, {Site::mlp_out, layer}, mlp);
      write(mlp);
      at(edits_, {Site::resid_post, layer}, stream_);
      if (layer + 1 < weights_.config.n_layer) at(edits_, {Site::resid_pre, layer + 1}, stream_);
    }
    return receiver_.site == Site::resid_post ? std::move(stream_) : read();
  }

 private:
  /// A run for its edits and their means alone.
  static Run edited_by(const std::shared_ptr<const Plan>& plan) {
    Run run;
    run.plan = plan;
    if (plan != nullptr) run.means = plan->no_means();
    return run;
  }
  static Tap tap(Run& run) { return {&run, 0, 1, &run.means}; }
  void at(Run& by, HookPoint point, Values& values) const { tap(by).at(point, rows(values)); }

  FloatRows rows(Values& values) const { return rows_of(values, weights_.config.n_embd); }
  Values recorded(HookPoint point) const { return run_.sources.at(point)->values; }

  void write(const Values& branch) { add(branch, stream_); }

  /// What the heads of a layer write.
  Values attention(int layer) {
    const HookPoint point{Site::z, layer};
    if (!senders_.plan->edits(point)) return recorded({Site::attn_out, layer});
    Values z = recorded(point), out(stream_.size());
    at(senders_, point, z);
    linear(rows(z), weights_.h[layer].attn_c_proj, workspace_.workers, rows(out));
    tap_results(weights_, layer, tap(edits_), rows(z), workspace_, rows(out));
    at(edits_, {Site::attn_out, layer}, out);
    return out;
  }

  /// The receiver's q, k or v of the stream.
  Values read() {
    const auto [site, layer] = receiver_;
    const BlockWeights& block = weights_.h[layer];
    Values normalized(stream_.size()), received(stream_.size());
    layer_norm(
        block.ln_1, weights_.config.layer_norm_epsilon, {Site::ln1_scale, layer},
        {Site::ln1_normalized, layer}, [&](int i) { return rows(stream_).row(i); }, tap(edits_),
        workspace_.workers, rows(normalized));
    const int part = static_cast<int>(site) - static_cast<int>(Site::q);  // of c_attn's columns
    linear_columns(rows(normalized), block.attn_c_attn, part * weights_.config.n_embd, workspace_,
                   rows(received));
    at(edits_, receiver_, received);
    return received;
  }

  const Weights& weights_;
  const SourceRun& run_;
  HookPoint receiver_;
  Workspace::Impl& workspace_;
  Values stream_;
  Run edits_, senders_;
};

/// The points of the run that a direct path reads.
std::vector<HookPoint> points_on_path(const Edits& senders, HookPoint receiver) {
  const int first = first_layer(senders);
  std::vector<HookPoint> points{{Site::resid_pre, first}};
  for (int layer = first; layer < layers_before(receiver); ++layer) {
    const HookPoint z{Site::z, layer};
    const bool sends = std::ranges::count(senders, z, point_of) > 0;
    points.push_back(sends ? z : HookPoint{Site::attn_out, layer});
    points.push_back({Site::mlp_out, layer});
  }
  return points;
}

/// Activations of the runs that are patched from, at each of the sources' sites; each is run once.
class RecordedSources {
 public:
  RecordedSources(const Transformer& transformer, const Weights& weights, const SecondModel& second)
      : transformer_(transformer),
        weights_(weights),
        second_(second.model),
        own_(second.tokens.begin(), second.tokens.end()),
        own_of_second_(own_) {
    if (second_ != nullptr)
      own_of_second_.resize(std::min(own_.size(), static_cast<std::size_t>(second_->config().n_ctx)));
  }

  /// The source of a list's edit, a PatchFrom; its values come with record().
  std::shared_ptr<const Plan::Source> want(const Edits& list, std::size_t i) {
    const PatchFrom& patch = std::get<PatchFrom>(list[i]);
    if (patch.direct) return want_path(edits_under_path(list, i), senders_of_path(list, i), patch.at.point);
    if (patch.second) check_second(patch.at.point);
    const std::vector<int>& own = patch.second ? own_of_second_ : own_;
    return want_at(run_of(patch.second, patch.tokens.empty() ? own : patch.tokens, patch.edits),
                   patch.at.point);
  }

  void record(Workspace& workspace, const std::stop_token& stop) {
    for (SourceRun& run : runs_)
      if (!run.tokens.empty()) record_run(run, workspace, stop);  // else its plan is created with the tokens
    if (own_.empty() || paths_.empty()) return;
    std::vector<Edits> lists;
    for (const Path& path : paths_) lists.push_back(path.senders);
    const auto plans = transformer_.plans(std::move(lists), workspace, stop, {second_, own_});
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (stop.stop_requested()) throw Stopped();
      const Path& path = paths_[i];
      const SourceRun& run = runs_[path.run];
      path.source->values = DirectPath(weights_, run, plans[i], path.receiver, workspace.impl()).received();
      path.source->depends_on_later =
          plans[i]->needs_whole_run() || (run.plan && run.plan->needs_whole_run());
    }
  }

 private:
  using Source = std::shared_ptr<Plan::Source>;
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
    Source& source = runs_[index].sources[point];
    if (source == nullptr) source = source_at(point, runs_[index].length());
    return source;
  }

  Source want_path(const Edits& under, const Edits& senders, HookPoint receiver) {
    const std::size_t run = run_of(false, own_, under);
    for (const Path& path : paths_)
      if (path.run == run && path.receiver == receiver && path.senders == senders) return path.source;
    for (const HookPoint point : points_on_path(senders, receiver)) want_at(run, point);
    return paths_.emplace_back(run, senders, receiver, source_at(receiver, runs_[run].length())).source;
  }

  /// A source without values yet.
  Source source_at(HookPoint point, int length) const {
    const Config& config = transformer_.config();
    auto source = std::make_shared<Plan::Source>();
    source->rows = length;
    source->columns = has_cells(point.site) ? config.n_head * length : column_count(config, point.site);
    source->values.resize(static_cast<std::size_t>(length) * source->columns,
                          point.site == Site::attn_scores ? -std::numeric_limits<float>::infinity() : 0.0F);
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
      hooks.record(point, rows_of(source->values, source->columns));
    }
    from.forward(run.tokens, workspace, {.plan = run.plan, .hooks = &hooks, .stop = stop});
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

std::shared_ptr<const Plan> Transformer::plan(Edits edits, Workspace& workspace, std::stop_token stop,
                                              const SecondModel& second) const {
  return plans({std::move(edits)}, workspace, std::move(stop), second).front();
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

}  // namespace headscope::model
