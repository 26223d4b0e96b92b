#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "model/files/error.h"
#include "model/gradient/steps.h"
#include "model/gradient/transposed_product.h"
#include "model/kernels/product.h"
#include "model/pass/attention.h"
#include "model/pass/pass.h"
#include "model/pass/shared_steps.h"

namespace headscope::model {
namespace {

/// Positions whose MLP is processed at a time.
constexpr int kPositionsOfMlp = 128;

/// The derivatives with respect to one head's activations, each [T, d_head].
struct HeadGradients {
  ConstFloatRows z;   ///< from here
  FloatRows q, k, v;  ///< to these, which are overwritten
};

/// The derivatives of one head's attention in a run, for blocks of queries in ascending order; the head's
/// pattern is recomputed block by block, and nothing of the size T x T is kept. Edits of its scores and
/// pattern count as in Plan::apply_gradient.
class HeadBackward {
 public:
  /// Scratch memory for it, in floats.
  static std::size_t scratch_size(const Config& config) {
    const std::size_t page = std::size_t{kPage} * std::max(kPage, config.d_head());
    return 3 * kQueriesPerBlock * static_cast<std::size_t>(score_stride(config.n_ctx)) + page;
  }

  /// `hooks` (null: none) see the pattern's derivatives before the scores', block by block, for all keys of
  /// the run; those of a pattern exist for keys that the query does not see as well, since a weight there
  /// would act.
  HeadBackward(const PanelKernels& kernels, const Run& run, const HeadCache& head, const Hooks* hooks,
               float* scratch)
      : kernels_(kernels), run_(run), head_(head), hooks_(hooks), scratch_(scratch) {}

  void go(const HeadGradients& gradients) {
    for (const FloatRows& rows : {gradients.q, gradients.k, gradients.v})
      for (int i = 0; i < rows.rows; ++i) std::ranges::fill(rows.row(i), 0.0F);
    for (first_ = 0; first_ < run_.length(); first_ += kQueriesPerBlock) {
      lay_out(std::min(kQueriesPerBlock, run_.length() - first_));
      compute(gradients);
    }
  }

 private:
  void lay_out(int rows) {
    const int keys = hooks_ != nullptr ? run_.length() : keys_for(run_, head_, first_ + rows - 1);
    transposed_ = scratch_;
    for (FloatRows* block : {&weights_, &pattern_, &gradient_}) {
      *block = {transposed_, rows, keys, score_stride(keys)};
      transposed_ += kQueriesPerBlock * score_stride(run_.config.n_ctx);
    }
  }

  /// For the queries of a block. With s = scale * q k^T, p = softmax(s) and z = p v: dp = dz v^T,
  /// dv += p^T dz, ds = p (dp - the sum of p dp over the row), dq = scale * ds k, dk += scale * ds^T q.
  void compute(const HeadGradients& gradients) {
    const ConstFloatRows z = gradients.z.middle_rows(first_, gradient_.rows),
                         q = head_.q(first_, gradient_.rows);
    find_weights(q);
    for_pages(gradient_.cols, [&](int page, int key, int count) {
      multiply(kernels_, z, transposed(head_.v(page, count)), false, gradient_.middle_cols(key, count));
      multiply(kernels_, transposed(pattern_.middle_cols(key, count)), z, true,
               gradients.v.middle_rows(key, count));
    });
    back_through(Site::pattern);
    for (int i = 0; i < gradient_.rows; ++i) softmax_gradient(weights_.row(i), gradient_.row(i));
    back_through(Site::attn_scores);
    const float scale = run_.config.attention_scale(head_.layer);
    for (int i = 0; i < gradient_.rows; ++i)
      for (float& value : gradient_.row(i)) value *= scale;
    for_pages(gradient_.cols, [&](int page, int key, int count) {
      const FloatRows scores = gradient_.middle_cols(key, count);
      multiply(kernels_, scores, transposed(head_.k(page, count)), key > 0,
               gradients.q.middle_rows(first_, gradient_.rows));
      multiply(kernels_, transposed(scores), q, true, gradients.k.middle_rows(key, count));
    });
  }

  /// weights_: the softmax; pattern_: the same, as edits left it.
  void find_weights(ConstFloatRows q) {
    scores(kernels_, head_, q, weights_);
    scale_and_mask(run_, head_, first_, weights_);
    for (int i = 0; i < weights_.rows; ++i) kernels_.rows.softmax(1, weights_.row_data(i), weights_.cols);
    copy(weights_, pattern_);
    if (is_edited())
      run_.plan->apply(piece_of({Site::pattern, head_.layer}, pattern_, first_, head_.head), run_.means);
  }

  /// Valid until the next call.
  FloatRows transposed(ConstFloatRows x) const {
    const FloatRows result{transposed_, x.cols, x.rows, x.rows};
    kernels_.transpose(x.data, x.stride, x.rows, x.cols, result.data, result.stride);
    return result;
  }

  /// From the derivatives after the site's edits to those before.
  void back_through(Site site) const {
    const Activation2d piece = piece_of({site, head_.layer}, gradient_, first_, head_.head);
    if (hooks_ != nullptr) hooks_->call(piece);
    if (is_edited()) run_.plan->apply_gradient(piece, run_.means, weights_);
  }

  bool is_edited() const { return run_.plan && run_.plan->edits_cells(head_.layer, head_.head); }

  static constexpr int kPage = Page::kPositions;

  const PanelKernels& kernels_;
  const Run& run_;
  const HeadCache head_;
  const Hooks* hooks_;
  float* scratch_;
  int first_ = 0;                           // of the block's queries
  FloatRows weights_, pattern_, gradient_;  // [queries, keys]
  float* transposed_ = nullptr;             // memory for a transposed block
};

/// Layer by layer from the last: the stream after attention and the MLP's hidden units, which a run does not
/// keep, are recomputed by the pass, for up to 128 positions; each head's pattern is recomputed in blocks of
/// 64 queries, of which a thread holds three. That is about half of a pass. The derivatives take one more: as
/// many products, each with the weights transposed.
///
/// Rows without a comment are [T, d_model]. `d_` begins the names of derivatives.
class Backward {
 public:
  Backward(const Weights& weights, const Run& run, const Metric& metric, Workspace::Impl& workspace,
           const GradientOptions& options)
      : weights_(weights), run_(run), metric_(metric), workspace_(workspace), options_(options) {
    workers_.reserve_scratch(std::max({attention_scratch(config_), HeadBackward::scratch_size(config_),
                                       product_scratch(), transposed_product_scratch()}));
    lay_out();
  }

  double go() {
    const double value = end_of_pass();
    const HookPoint first = options_.hooks != nullptr ? options_.hooks->first() : HookPoint{Site::logits};
    for (int layer = config_.n_layer - 1; layer >= 0 && HookPoint{Site::resid_post, layer} >= first;
         --layer) {
      report_progress(layer + 1);
      mlp(layer);
      attention(layer);
    }
    for (const Site site : {Site::pos_embed, Site::embed})
      if (first <= HookPoint{site}) {
        copy(d_resid_, d_branch_);
        back_through({site}, 0, d_branch_);
      }
    report_progress(0);
    return value;
  }

 private:
  void lay_out() {
    const int d = config_.n_embd;
    mlp_rows_ = run_.plan && run_.plan->needs_whole_run() ? length_ : std::min(length_, kPositionsOfMlp);
    const auto floats = static_cast<std::size_t>(length_) * 7 * static_cast<std::size_t>(d) +
                        static_cast<std::size_t>(mlp_rows_) * config_.n_inner;
    float* next = workspace_.gradients.reserve(floats);
    const auto take = [&](int rows, int cols) {
      return FloatRows{std::exchange(next, next + std::ptrdiff_t{rows} * cols), rows, cols, cols};
    };
    d_resid_ = take(length_, d);
    d_branch_ = take(length_, d);
    d_qkv_ = take(length_, 3 * d);
    d_z_ = normalized_ = take(length_, d);
    centered_ = take(length_, d);
    d_mlp_ = take(mlp_rows_, config_.n_inner);
  }

  // --- from the metric to the end of the residual stream ---

  /// Returns the metric's value.
  double end_of_pass() {
    for (const FloatRows& rows : {d_resid_, d_branch_})
      workers_.for_rows(length_, [&](int i) { std::ranges::fill(rows.row(i), 0.0F); });
    const Positions measured = positions_of(metric_, length_);
    const bool all = hooks_want({Site::logits}) || hooks_want({Site::ln_final_normalized}) ||
                     hooks_want({Site::ln_final_scale}) || (run_.plan && run_.plan->needs_whole_run());
    const Positions range = all ? Positions{0, length_} : measured;
    const std::vector<LogitWeight> weights = logit_weights(metric_);
    double value = 0;
    if (!weights.empty() && !hooks_want({Site::logits}) && !edits({Site::logits})) {
      value = single_logits(measured.first, weights);
    } else {
      const Positions of_logits = hooks_want({Site::logits}) ? range : measured;
      for (int done = 0; done < of_logits.count; done += kRowsOfLogits) {
        throw_if_stopped();
        value += block_of_logits(of_logits.first + done, std::min(kRowsOfLogits, of_logits.count - done),
                                 measured);
      }
    }
    before_layer_norm(weights_.ln_f, {Site::ln_final_scale}, {Site::ln_final_normalized}, range.first,
                      d_branch_.middle_rows(range.first, range.count),
                      [&](int position) { return run_.resid(config_.n_layer, position); });
    return value;
  }

  /// A sum of a few weighted logits of one position, which edits leave: the whole unembedding is not needed.
  double single_logits(int position, const std::vector<LogitWeight>& weights) {
    const FloatRows row = normalized_.middle_rows(0, 1);
    std::vector<float> of_token(config_.n_embd);
    const Tap tap{&run_, position};
    final_layer_norm(weights_, tap.stream(), tap, workers_, row);
    double value = 0;
    for (const LogitWeight& of : weights) {
      const float logit =
          product_with_column(workers_.kernels(), row.row(0), weights_.lm_head, of.token, of_token);
      value += static_cast<double>(of.weight) * logit;
      const std::span<float> sum = d_branch_.row(position);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += of.weight * of_token[i];
    }
    return value;
  }

  /// Positions [first, first + count), of which some may be measured; the derivatives of others are 0.
  double block_of_logits(int first, int count, Positions measured) {
    const FloatRows logits = workspace_.logits.rows(count, config_.vocab_size);
    const int end = measured.first + measured.count;
    const bool any = first < end && first + count > measured.first;
    if (any) find_logits(weights_, {&run_, first}, workers_, normalized_.middle_rows(first, count), logits);
    std::vector<double> values(static_cast<std::size_t>(count));
    workers_.for_rows(count, [&](int i) {
      if (first + i >= measured.first && first + i < end) {
        values[i] = differentiate(metric_, run_.tokens, first + i, logits.row(i));
      } else {
        std::ranges::fill(logits.row(i), 0.0F);
      }
    });
    back_through({Site::logits}, first, logits);
    if (any)  // else d_branch_ is 0, too
      product_with_transposed(logits, weights_.lm_head, {}, workers_, workspace_.transposed,
                              d_branch_.middle_rows(first, count));
    return std::accumulate(values.begin(), values.end(), 0.0);
  }

  // --- MLP ---

  void mlp(int layer) {
    throw_if_stopped();
    back_through({Site::resid_post, layer}, 0, d_resid_);
    for (int first = 0; first < length_; first += mlp_rows_) {
      throw_if_stopped();
      mlp_of(layer, first, std::min(mlp_rows_, length_ - first));
    }
    back_through({Site::resid_mid, layer}, 0, d_resid_);
  }

  void mlp_of(int layer, int first, int count) {
    const BlockWeights& block = weights_.h[layer];
    const FloatRows d_mlp = d_mlp_.middle_rows(0, count), d_branch = d_branch_.middle_rows(first, count);
    lane_.first = first;
    lane_.rows = count;
    const auto [resid, pre] = recompute_block(weights_, lane_, layer, true, again_, workspace_);
    workers_.for_rows(count, [&](int i) {
      activation_slopes(workers_.kernels().rows, config_.activation, pre.row(i));
      std::ranges::copy(d_resid_.row(first + i), d_branch.row_data(i));
    });
    back_through({Site::mlp_out, layer}, first, d_branch);
    product_with_transposed(d_branch, block.mlp_c_proj.weight, {}, workers_, workspace_.transposed, d_mlp);
    back_through({Site::mlp_post, layer}, first, d_mlp);
    workers_.for_rows(count, [&](int i) { multiply_terms(pre.row(i), d_mlp.row(i)); });
    back_through({Site::mlp_pre, layer}, first, d_mlp);
    product_with_transposed(d_mlp, block.mlp_c_fc.weight, {}, workers_, workspace_.transposed, d_branch);
    before_layer_norm(block.ln_2, {Site::ln2_scale, layer}, {Site::ln2_normalized, layer}, first, d_branch,
                      [&, &rows = resid](int position) { return rows.row(position - first); });
  }

  // --- attention ---

  void attention(int layer) {
    throw_if_stopped();
    const BlockWeights& block = weights_.h[layer];
    copy(d_resid_, d_branch_);
    back_through({Site::attn_out, layer}, 0, d_branch_);
    split_among_heads(layer, block.attn_c_proj.weight);
    back_through({Site::z, layer}, 0, d_z_);
    throw_if_stopped();
    heads(layer);
    const int d = config_.n_embd;
    back_through({Site::v, layer}, 0, d_qkv_.middle_cols(2 * d, d));
    back_through({Site::k, layer}, 0, d_qkv_.middle_cols(d, d));
    back_through({Site::q, layer}, 0, d_qkv_.middle_cols(0, d));
    throw_if_stopped();
    product_with_transposed(d_qkv_, block.attn_c_attn.weight, {}, workers_, workspace_.transposed, d_branch_);
    before_layer_norm(block.ln_1, {Site::ln1_scale, layer}, {Site::ln1_normalized, layer}, 0, d_branch_,
                      [&](int position) { return run_.resid(layer, position); });
    back_through({Site::resid_pre, layer}, 0, d_resid_);
  }

  /// d_z_ = the derivatives of the heads' outputs, from those of their sum in d_branch_, which each head's
  /// result has.
  void split_among_heads(int layer, const PanelMatrix& projection) {
    const HookPoint point{Site::result, layer};
    if (!hooks_want(point) && !edits(point))
      return product_with_transposed(d_branch_, projection, {}, workers_, workspace_.transposed, d_z_);
    const FloatRows result = workspace_.result.rows(length_, config_.n_embd);
    for (int head = 0; head < config_.n_head; ++head) {
      copy(d_branch_, result);
      back_through(point, 0, result, head);
      product_with_transposed(result, projection, {head * config_.d_head(), 0}, workers_,
                              workspace_.transposed, columns_of(d_z_, head));
    }
  }

  /// d_qkv_ from the derivatives in d_z_. Callbacks are called on this thread, and then the heads are
  /// processed one after another.
  void heads(int layer) {
    const int d = config_.n_embd;
    const auto of_head = [&](int head, const Hooks* hooks, float* scratch) {
      HeadBackward(workers_.kernels(), run_, head_of(run_, layer, head), hooks, scratch)
          .go({columns_of(d_z_, head), columns_of(d_qkv_.middle_cols(0, d), head),
               columns_of(d_qkv_.middle_cols(d, d), head), columns_of(d_qkv_.middle_cols(2 * d, d), head)});
    };
    if (!hooks_want({Site::attn_scores, layer}) && !hooks_want({Site::pattern, layer})) {
      workers_.parallel_for(config_.n_head,
                            [&](int head, float* scratch) { of_head(head, nullptr, scratch); });
      return;
    }
    float* scratch = workspace_.scores.reserve(HeadBackward::scratch_size(config_));
    for (int head = 0; head < config_.n_head; ++head) {
      throw_if_stopped();
      of_head(head, options_.hooks, scratch);
    }
  }

  // --- steps shared by several of the above ---

  /// Adds to d_resid_, from `first` on, the derivatives with respect to a layer norm's input,
  /// row_of(position); d_out: those with respect to its output, which are overwritten.
  template <class RowOf>
  void before_layer_norm(const LayerNormWeights& w, HookPoint scale_point, HookPoint normalized_point,
                         int first, FloatRows d_out, const RowOf& row_of) {
    const int count = d_out.rows;
    const FloatRows centered = centered_.middle_rows(first, count);
    std::vector<float> computed(count), d_scale(count);
    workers_.for_rows(count, [&](int i) {
      computed[i] = center(row_of(first + i), config_.layer_norm_epsilon, centered.row(i));
      multiply_terms(w.gain, d_out.row(i));
    });
    std::vector<float> used = computed;
    Tap{&run_, first}.at(scale_point, rows_of(used, 1));
    back_through(normalized_point, first, d_out);
    workers_.for_rows(count,
                      [&](int i) { d_scale[i] = scale_gradient(d_out.row(i), centered.row(i), used[i]); });
    back_through(scale_point, first, rows_of(d_scale, 1));
    workers_.for_rows(count, [&](int i) {
      layer_norm_gradient(centered.row(i), {computed[i], used[i]}, d_scale[i], d_out.row(i));
      add(d_out.row(i), d_resid_.row(first + i));
    });
  }

  /// From derivatives after a site's edits, which the callbacks see, to those before them.
  void back_through(HookPoint point, int first, FloatRows rows, int head = 0) const {
    const Activation2d piece = piece_of(point, rows, first, head);
    if (options_.hooks != nullptr) options_.hooks->call(piece);
    if (edits(point)) run_.plan->apply_gradient(piece, run_.means);
  }

  bool edits(HookPoint point) const { return run_.plan && run_.plan->edits(point); }
  bool hooks_want(HookPoint point) const { return options_.hooks != nullptr && options_.hooks->wants(point); }

  FloatRows columns_of(FloatRows rows, int head) const {
    return rows.middle_cols(head * config_.d_head(), config_.d_head());
  }

  void throw_if_stopped() const {
    if (options_.stop.stop_requested()) throw Stopped();
  }

  void report_progress(int layers_left) const {
    if (options_.progress)
      options_.progress(1 - static_cast<double>(layers_left) / config_.n_layer, "computing gradients");
  }

  const Weights& weights_;
  const Config& config_ = weights_.config;
  const Run& run_;
  const Metric& metric_;
  Workspace::Impl& workspace_;
  Workers& workers_ = workspace_.workers;
  const GradientOptions& options_;
  int length_ = run_.length();
  int mlp_rows_ = 0;                        // positions of the MLP at a time
  Lane lane_{std::make_shared<Run>(run_)};  // what is recomputed
  const ForwardOptions again_{.stop = options_.stop};

  FloatRows d_resid_, d_branch_;
  FloatRows d_qkv_;             // [T, 3 d_model]
  FloatRows d_z_, normalized_;  // the same memory: the final norm's rows are needed before the heads begin
  FloatRows centered_;
  FloatRows d_mlp_;  // [mlp_rows_, n_inner]
};

}  // namespace

double Transformer::gradients(const Run& run, const Metric& metric, Workspace& workspace,
                              const GradientOptions& options) const {
  if (run.weights != impl_->identity)
    throw RunError("the run whose gradients are asked for is another model's");
  check(config(), run.length(), metric);
  return Backward(impl_->weights, run, metric, workspace.impl(), options).go();
}

}  // namespace headscope::model
