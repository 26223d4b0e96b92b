#include "model/pass/forward.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "model/files/error.h"
#include "model/kernels/kernels.h"
#include "model/kernels/product.h"
#include "model/pass/attention.h"
#include "model/pass/pages_of_run.h"
#include "model/pass/pass_steps.h"

namespace headscope::model {
namespace {

constexpr int kColumnsPerLogitsBlock = 4096;  // of logits handed to hooks at a time

void check_tokens(const Config& config, std::span<const int> tokens) {
  if (tokens.empty()) throw RunError("there are no tokens to run; the model needs at least one");
  if (tokens.size() > static_cast<std::size_t>(config.n_ctx)) {
    throw RunError("the prompt has " + std::to_string(tokens.size()) +
                   " tokens, but the model takes at most " + std::to_string(config.n_ctx));
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] >= 0 && tokens[i] < config.vocab_size) continue;
    throw RunError("token " + std::to_string(i) + " has the id " + std::to_string(tokens[i]) +
                   ", but the model's vocabulary has the ids 0 to " + std::to_string(config.vocab_size - 1));
  }
}

/// One forward pass over a run's pages, chunk after chunk of positions. Members without a comment are [rows
/// of the chunk, d_model].
class Pass : PassActivations {
 public:
  /// workspace.claimed: of the run's pages.
  Pass(const Weights& weights, Workspace::Impl& workspace, const ForwardOptions& options, Run& run,
       Beginning beginning)
      : weights_(weights),
        config_(weights.config),
        workspace_(workspace),
        workers_(workspace.workers),
        options_(options),
        run_(run),
        plan_(run.plan.get()),
        beginning_(beginning) {
    workers_.reserve_scratch(attention_scratch(config_));
  }

  /// Computes positions [first, first + rows); those before must be in the pages.
  void run_chunk(int first, int rows) {
    first_ = first;
    rows_ = rows;
    lay_out(config_, rows_, workspace_);
    const int begin = beginning_.layer;
    if (begin == 0 && !beginning_.at_scores) {
      embed();
    } else {
      take_resid(begin);
    }
    for (int layer = begin; layer < config_.n_layer; ++layer) {
      report_progress(layer);
      attention(layer);
      mlp(layer);
    }
    if (begin < config_.n_layer) keep_resid(config_.n_layer);
    if (wants_head()) head();
  }

 private:
  // --- embedding ---

  void embed() {
    const FloatRows tokens = z_, positions = branch_;  // nobody needs those yet
    for_rows([&](int i) {
      model::embed(weights_, workers_.kernels(), run_.tokens[first_ + i],
                   plan_ != nullptr ? plan_->row_of_wpe(first_ + i) : first_ + i, tokens.row(i),
                   positions.row(i));
    });
    call_hooks({Site::embed}, tokens);
    call_hooks({Site::pos_embed}, positions);
    for_rows([&](int i) {
      std::copy_n(tokens.row_data(i), config_.n_embd, resid_.row_data(i));
      add(positions.row(i), resid_.row(i));
    });
  }

  // --- attention ---

  void attention(int layer) {
    throw_if_stopped();
    const BlockWeights& block = weights_.h[layer];
    const int d = config_.n_embd;
    const FloatRows q = qkv_.middle_cols(0, d), k = qkv_.middle_cols(d, d), v = qkv_.middle_cols(2 * d, d);
    const bool kept = beginning_.at_scores && layer == beginning_.layer;
    if (kept) {
      take_queries(layer, q);
    } else {
      call_hooks({Site::resid_pre, layer}, resid_);
      keep_resid(layer);
      layer_norm(block.ln_1, {Site::ln1_scale, layer}, {Site::ln1_normalized, layer});
      linear(normalized_, block.attn_c_attn, workers_, qkv_);
      call_hooks({Site::q, layer}, q);
      call_hooks({Site::k, layer}, k);
      call_hooks({Site::v, layer}, v);
    }
    const bool hooked = hooks_want({Site::attn_scores, layer}) || hooks_want({Site::pattern, layer});
    if (rows_ == 1 && !hooked && !kept && !(plan_ != nullptr && plan_->edits_cells(layer))) {
      keep_and_attend_one_query(layer, q, k, v);
    } else {
      if (!kept) keep_heads(layer, q, k, v);
      throw_if_stopped();
      if (hooked) {
        attend_with_hooks(layer, q);
      } else {
        attend(layer, q);
      }
    }
    call_hooks({Site::z, layer}, z_);
    if (wants({Site::result, layer})) {
      sum_of_results(workers_, block.attn_c_proj, z_, config_.n_head,
                     workspace_.result.rows(rows_, config_.n_embd), branch_, [&](int head, FloatRows result) {
                       call_hooks({Site::result, layer}, result, head);
                     });
    }
    if (!edits({Site::result, layer})) linear(z_, block.attn_c_proj, workers_, branch_);
    call_hooks({Site::attn_out, layer}, branch_);
    add_branch();
    call_hooks({Site::resid_mid, layer}, resid_);
  }

  struct HeadRange {
    int first, end;
  };
  HeadRange group_of_heads(int group, int groups) const {
    return {group * config_.n_head / groups, (group + 1) * config_.n_head / groups};
  }

  FloatRows columns_of(FloatRows rows, int head) const {
    return rows.middle_cols(head * config_.d_head(), config_.d_head());
  }

  /// z of all heads, one block of queries and one head at a time; only the keys that some query of the block
  /// may see.
  void attend(int layer, FloatRows q) {
    const int blocks = (rows_ + kQueriesPerBlock - 1) / kQueriesPerBlock;
    workers_.parallel_for(config_.n_head * blocks, [&](int task, float* scratch) {
      const int head = task % config_.n_head;
      const int row = (blocks - 1 - task / config_.n_head) * kQueriesPerBlock;  // the longest rows first
      const int rows = std::min(kQueriesPerBlock, rows_ - row);
      model::attend(workers_.kernels(), run_, head_of(config_, run_.pages, layer, head), first_ + row,
                    columns_of(q, head).middle_rows(row, rows), scratch,
                    columns_of(z_, head).middle_rows(row, rows));
    });
  }

  /// keep_heads and attend for a chunk of one query: neighbouring heads, whose keys and values lie side by
  /// side. What is kept goes to as many lines of cold memory as a key has elements, which two threads wait
  /// for half as long.
  void keep_and_attend_one_query(int layer, FloatRows q, FloatRows k, FloatRows v) {
    const int groups = std::max(std::min(workers_.threads(), config_.n_head),
                                (config_.n_head + kHeadsPerQuery - 1) / kHeadsPerQuery);
    workers_.parallel_for(groups, [&](int group, float* scratch) {
      const HeadRange heads = group_of_heads(group, groups);
      for (int head = heads.first; head < heads.end; ++head) keep_head(layer, head, 0, 1, q, k, v);
      const auto heads_of = [&](FloatRows rows) {
        const int d_head = config_.d_head();
        return FloatRows{rows.data + static_cast<std::ptrdiff_t>(heads.first) * d_head,
                         heads.end - heads.first, d_head, d_head};
      };
      model::attend_one_query(workers_.kernels(), head_of(config_, run_.pages, layer, heads.first),
                              first_ + 1, config_.attention_scale(layer), heads_of(q), scratch, heads_of(z_));
    });
  }

  /// The same steps with every key of the chunk, head after head, the hooks in between.
  void attend_with_hooks(int layer, FloatRows q) {
    const float scale = config_.attention_scale(layer);
    for (int head = 0; head < config_.n_head; ++head) {
      const KeptHead kept = head_of(config_, run_.pages, layer, head);
      const FloatRows scores = workspace_.scores.rows(rows_, keys_for(run_, kept, first_ + rows_ - 1));
      parallel_for_queries([&](int row, int rows) {
        const FloatRows part = scores.middle_rows(row, rows);
        score(workers_.kernels(), kept, columns_of(q, head).middle_rows(row, rows), part);
        scale_scores(scale, part);
        mask_scores(run_, kept, first_ + row, part);
      });
      show({Site::attn_scores, layer}, scores, head);
      parallel_for_queries([&](int row, int rows) {
        pattern_of_masked(workers_.kernels(), run_, kept, first_ + row, scores.middle_rows(row, rows));
      });
      show({Site::pattern, layer}, scores, head);
      parallel_for_queries([&](int row, int rows) {
        weigh_values(workers_.kernels(), kept, scores.middle_rows(row, rows),
                     columns_of(z_, head).middle_rows(row, rows));
      });
    }
  }

  /// Calls body(first, count) for blocks of the chunk's rows.
  template <class Body>
  void parallel_for_queries(const Body& body) {
    workers_.parallel_for_rows(rows_, kQueriesPerBlock, body);
  }

  // --- MLP ---

  void mlp(int layer) {
    throw_if_stopped();
    const BlockWeights& block = weights_.h[layer];
    layer_norm(block.ln_2, {Site::ln2_scale, layer}, {Site::ln2_normalized, layer});
    linear(normalized_, block.mlp_c_fc, workers_, mlp_);
    call_hooks({Site::mlp_pre, layer}, mlp_);
    for_rows([&](int i) { activate(workers_.kernels().rows, config_.activation, mlp_.row(i)); });
    call_hooks({Site::mlp_post, layer}, mlp_);
    throw_if_stopped();
    linear(mlp_, block.mlp_c_proj, workers_, branch_);
    call_hooks({Site::mlp_out, layer}, branch_);
    add_branch();
    call_hooks({Site::resid_post, layer}, resid_);
  }

  // --- logits, for hooks only ---

  bool wants_head() const {
    constexpr HookPoint kScale{Site::ln_final_scale}, kNormalized{Site::ln_final_normalized};
    return hooks_want(kScale) || hooks_want(kNormalized) || hooks_want({Site::logits}) ||
           (plan_ != nullptr && (plan_->takes_means(kScale) || plan_->takes_means(kNormalized)));
  }

  void head() {
    layer_norm(weights_.ln_f, {Site::ln_final_scale}, {Site::ln_final_normalized});
    if (!hooks_want({Site::logits})) return;
    for (int col = 0; col < config_.vocab_size; col += kColumnsPerLogitsBlock) {
      throw_if_stopped();
      const int cols = std::min(kColumnsPerLogitsBlock, config_.vocab_size - col);
      const FloatRows logits = workspace_.logits.rows(rows_, cols);
      product_with_columns(normalized_, weights_.lm_head, col, workers_, logits);
      call_hooks({Site::logits}, logits, 0, col);
    }
  }

  // --- steps that several of the above share ---

  /// Calls body(i) for every row of the chunk.
  template <class Body>
  void for_rows(const Body& body) {
    model::for_rows(workers_, rows_, body);
  }

  /// normalized_ = layer norm of resid_.
  void layer_norm(const LayerNormWeights& w, HookPoint scale_point, HookPoint normalized_point) {
    layer_norm_rows(
        workers_, w, config_.layer_norm_epsilon, resid_, scale_, normalized_,
        wants(scale_point) || wants(normalized_point), [&] { call_hooks(scale_point, scale_); },
        [&] { call_hooks(normalized_point, normalized_); });
  }

  void add_branch() {
    for_rows([&](int i) { add(branch_.row(i), resid_.row(i)); });
  }

  /// The page of the chunk's row i.
  const Page::ClaimedRows& page_of(int i) const {
    return *workspace_.claimed[(first_ + i) / Page::kPositions];
  }
  std::ptrdiff_t row_in_page(int i) const { return (first_ + i) % Page::kPositions; }

  /// What the clean run left, where the pass begins behind the embedding.
  void take_resid(int layer) {
    for_rows([&](int i) { std::ranges::copy(options_.clean->resid(layer, first_ + i), resid_.row_data(i)); });
  }
  void take_queries(int layer, FloatRows q) {
    for_rows([&](int i) {
      for (int head = 0; head < config_.n_head; ++head)
        std::ranges::copy(options_.clean->q(layer, head, first_ + i), columns_of(q, head).row_data(i));
    });
  }

  void keep_resid(int layer) {
    for_rows([&](int i) {
      std::copy_n(resid_.row_data(i), config_.n_embd,
                  page_of(i).resid(layer) + row_in_page(i) * config_.n_embd);
    });
  }

  void keep_heads(int layer, ConstFloatRows q, ConstFloatRows k, ConstFloatRows v) {
    constexpr int kRows = 16;  // at a time: a line of each of a key's transposed rows
    const int first_block = first_ / kRows, blocks = (first_ + rows_ - 1) / kRows - first_block + 1;
    const int groups = std::min(workers_.threads(), config_.n_head);  // of heads
    workers_.parallel_for(blocks * groups, [&](int task, float*) {
      const int block = task / groups, group = task % groups;
      const int begin = std::max((first_block + block) * kRows, first_) - first_;
      const int count = std::min((first_block + block + 1) * kRows - first_, rows_) - begin;
      const HeadRange heads = group_of_heads(group, groups);
      for (int head = heads.first; head < heads.end; ++head) keep_head(layer, head, begin, count, q, k, v);
    });
  }

  /// Rows [begin, begin + count) of the chunk, all of one page.
  void keep_head(int layer, int head, int begin, int count, ConstFloatRows q, ConstFloatRows k,
                 ConstFloatRows v) {
    const Page::ClaimedRows& page = page_of(begin);
    const std::ptrdiff_t row = row_in_page(begin);
    const int d_head = config_.d_head(), col = head * d_head;
    for (int i = 0; i < count; ++i)
      std::copy_n(q.row_data(begin + i) + col, d_head, page.q(layer, head) + (row + i) * d_head);
    const auto rows_of = [&](ConstFloatRows all) {
      return all.middle_rows(begin, count).middle_cols(col, d_head);
    };
    keep_keys_and_values(workers_.kernels(), page, layer, head, row, rows_of(k), rows_of(v));
  }

  bool hooks_want(HookPoint point) const { return options_.hooks != nullptr && options_.hooks->wants(point); }
  bool edits(HookPoint point) const {
    return (options_.hooks != nullptr && options_.hooks->edits(point)) ||
           (plan_ != nullptr && plan_->edits(point));
  }
  bool wants(HookPoint point) const { return hooks_want(point) || edits(point); }

  /// The plan's edits, then the hooks.
  void call_hooks(HookPoint point, FloatRows rows, int head = 0, int first_col = 0) {
    if (plan_ != nullptr && plan_->edits(point)) {
      const Activation2d piece = piece_of(point, rows, head, first_col);
      if (rows_ == run_.length()) {
        plan_->apply_to_all(piece, run_.means);
      } else {
        plan_->apply(piece, run_.means);
      }
    }
    show(point, rows, head, first_col);
  }
  void show(HookPoint point, FloatRows rows, int head = 0, int first_col = 0) const {
    if (options_.hooks != nullptr) options_.hooks->call(piece_of(point, rows, head, first_col));
  }
  Activation2d piece_of(HookPoint point, FloatRows rows, int head, int first_col) const {
    return {point, head, first_, first_col, rows.rows, rows.cols, rows.stride, rows.data};
  }

  void throw_if_stopped() const {
    if (options_.stop.stop_requested()) throw Stopped();
  }

  void report_progress(int layer) const {
    if (!options_.progress) return;
    const int computed = run_.computed_positions;
    const double done =
        first_ - (run_.length() - computed) + static_cast<double>(rows_) * layer / config_.n_layer;
    options_.progress(done / computed, "running the model");
  }

  const Weights& weights_;
  const Config& config_;
  Workspace::Impl& workspace_;
  Workers& workers_;
  const ForwardOptions& options_;
  Run& run_;
  const Plan* plan_;  // null: nothing is changed
  Beginning beginning_;

  int first_ = 0, rows_ = 0;
};

}  // namespace

std::shared_ptr<const Run> forward_pass(const Weights& weights, const std::shared_ptr<const void>& identity,
                                        std::span<const int> tokens, Workspace::Impl& workspace,
                                        const ForwardOptions& options) {
  check_tokens(weights.config, tokens);
  const bool hooked = options.hooks != nullptr && !options.hooks->empty();
  const int length = static_cast<int>(tokens.size());
  const auto run = std::make_shared<Run>();
  run->config = weights.config;
  run->tokens.assign(tokens.begin(), tokens.end());
  run->weights = identity;
  run->edited = hooked && options.hooks->edits();
  if (options.plan != nullptr && !options.plan->edits().empty()) run->plan = options.plan;
  run->pages.reserve(Page::count_for(length));
  workspace.pages->keep_at_most(2 * Run::most_bytes(weights.config));  // what is shown, what is computed next
  workspace.claimed.clear();
  workspace.claimed.reserve(Page::count_for(weights.config.n_ctx));  // once for all runs
  const Beginning beginning = begin_run(*run, options, hooked ? std::max(options.hooked_from, 0) : length,
                                        workspace.pages, workspace.claimed);

  Pass pass(weights, workspace, options, *run, beginning);
  const bool whole = run->plan != nullptr && run->plan->needs_whole_run();
  const int chunk = whole ? length : std::max(options.chunk, 1), common = beginning.position;
  for (int first = common; first < length; first += chunk) {
    try {
      pass.run_chunk(first, std::min(chunk, length - first));
    } catch (const Stopped&) {
      if (options.partial != nullptr && first > common) *options.partial = shortened(*run, first);
      throw;
    }
  }
  if (options.progress) options.progress(1.0, "running the model");
  return run;
}

void EndOfPass::apply(Site site, FloatRows rows, int row, int first_col) const {
  if (run == nullptr || run->plan == nullptr || !run->plan->edits({site})) return;
  for (int i = 0; i < rows.rows; ++i)
    run->plan->apply(
        {{site}, 0, first + (row + i) / depth, first_col, 1, rows.cols, rows.stride, rows.row_data(i)},
        run->means);
}

void PassActivations::lay_out(const Config& config, int rows, Workspace::Impl& workspace) {
  const int d = config.n_embd;
  const auto floats = static_cast<std::size_t>(rows) * static_cast<std::size_t>(7 * d + config.n_inner + 1);
  float* next = workspace.activations.reserve(floats);
  const auto take = [&](int cols) {
    const FloatRows taken{next, rows, cols, cols};
    next += static_cast<std::ptrdiff_t>(rows) * cols;
    return taken;
  };
  mlp_ = take(config.n_inner);
  qkv_ = take(3 * d);
  resid_ = take(d);
  normalized_ = take(d);
  z_ = take(d);
  branch_ = take(d);
  scale_ = take(1);
}

void embed(const Weights& weights, const PanelKernels& kernels, int token, int row_of_wpe,
           std::span<float> token_part, std::span<float> position_part) {
  weights.wte.column(kernels, token, token_part);
  const std::size_t width = position_part.size();
  if (row_of_wpe < 0) {
    std::ranges::fill(position_part, 0.0F);
    return;
  }
  std::ranges::copy(weights.wpe.subspan(static_cast<std::size_t>(row_of_wpe) * width, width),
                    position_part.begin());
}

namespace {

/// The final layer norm of rows that `row_of` an index gives. No std::function: it would allocate.
template <class RowOf>
void normalize_rows(const Weights& weights, const RowOf& row_of, const EndOfPass& end, Workers& workers,
                    FloatRows out) {
  constexpr int kRowsPerGroup = 4;
  workers.parallel_for_rows(out.rows, kRowsPerGroup, [&](int row, int count) {
    for (int i = row; i < row + count; ++i) {
      float scale = center(row_of(i), weights.config.layer_norm_epsilon, out.row(i));
      end.apply(Site::ln_final_scale, {&scale, 1, 1, 1}, i);
      divide(out.row(i), scale);
      end.apply(Site::ln_final_normalized, out.middle_rows(i, 1), i);
      apply_gain_and_bias(weights.ln_f.gain, weights.ln_f.bias, out.row(i));
    }
  });
}

}  // namespace

void final_layer_norm(const Weights& weights, ConstFloatRows rows, const EndOfPass& end, Workers& workers,
                      FloatRows out) {
  normalize_rows(
      weights, [&](int i) { return rows.row(i); }, end, workers, out);
}

void final_layer_norm(const Weights& weights, const Run& run, int first, Workers& workers, FloatRows out) {
  normalize_rows(
      weights, [&](int i) { return run.resid(weights.config.n_layer, first + i); }, {&run, first}, workers,
      out);
}

}  // namespace headscope::model
