#include "model/pass/pass.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/files/error.h"
#include "model/kernels/product.h"
#include "model/pass/attention.h"
#include "model/pass/shared_steps.h"

namespace headscope::model {
namespace {

void check_tokens(const Config& config, std::span<const int> tokens) {
  if (tokens.empty()) throw RunError("the prompt has no tokens; the model needs at least one");
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

/// Whether means need all rows after the last block's keys and values.
bool needs_all_rows_at_end(const Plan& plan, const Config& config) {
  return std::ranges::any_of(plan.edits(), [last = config.n_layer - 1](const Edit& edit) {
    const HookPoint point = point_of(edit);
    return std::holds_alternative<SetMean>(edit) && point >= HookPoint{Site::q, last} &&
           point.site != Site::k && point.site != Site::v;
  });
}

/// See run_pass. Activations without a comment are [rows of all lanes, d_model].
class Pass {
 public:
  Pass(const Weights& weights, std::span<Lane> lanes, const ForwardOptions& options, const Positions* asked,
       Workspace::Impl& workspace)
      : weights_(weights), options_(options), asked_(asked), workspace_(workspace), lanes_(lanes) {
    int rows = 0;
    for (Lane& lane : lanes_) {
      lane.row = rows;
      rows += lane.rows;
    }
    workers_.reserve_scratch(attention_scratch(config_));
    lay_out(std::max(rows, 1));
  }

  // --- the stream of all active lanes; the pass is their tap, see layer_norm ---

  auto stream() const {
    return [this](int i) { return resid_.row(i); };
  }

  bool wants(HookPoint point) const {
    return std::ranges::any_of(active_lanes(), [&](Lane& lane) { return tap(lane).wants(point); });
  }
  void at(HookPoint point, FloatRows rows) const {
    for (Lane& lane : active_lanes()) tap(lane).at(point, rows_of(lane, rows));
  }

  FloatRows run() {
    embed_or_resume({Site::embed});
    const HookPoint start = lanes_.front().start;
    for (int layer = start.layer; start.site < Site::ln_final_scale && layer < config_.n_layer; ++layer) {
      report_progress(layer);
      attention(layer);
      mlp(layer);
    }
    keep_resid(config_.n_layer);
    embed_or_resume({Site::ln_final_scale});
    final_steps();
    return resid_;
  }

  /// See recompute_block.
  RecomputedBlock recompute(int layer, bool with_mlp) {
    active_ = 1;
    const Lane& lane = lanes_.front();
    take_resid(*lane.run, lane, layer);
    take_queries(*lane.run, lane, layer);
    attend_lanes(layer);
    add_attention(layer);
    if (with_mlp) mlp_units(weights_, layer, stream(), *this, workers_, active(normalized_), active(mlp_));
    return {resid_, mlp_};
  }

 private:
  Tap tap(Lane& lane) const {
    const bool is_whole = lane.rows == lane.run->length();
    return {lane.run.get(), lane.first, 1, is_whole ? &lane.run->means : nullptr, options_.hooks};
  }

  /// Allocates the activations in one block, so that they share huge pages.
  void lay_out(int rows) {
    const int d = config_.n_embd;
    float* next = workspace_.activations.reserve(static_cast<std::size_t>(rows) * (7 * d + config_.n_inner));
    const auto take = [&](int cols) {
      return FloatRows{std::exchange(next, next + std::ptrdiff_t{rows} * cols), rows, cols, cols};
    };
    mlp_ = take(config_.n_inner);
    qkv_ = take(3 * d);
    q_ = qkv_.middle_cols(0, d);
    k_ = qkv_.middle_cols(d, d);
    v_ = qkv_.middle_cols(2 * d, d);
    resid_ = take(d);
    normalized_ = take(d);
    z_ = take(d);
    branch_ = take(d);
  }

  // --- where lanes begin ---

  /// Adds the lanes that begin here, with the embedding or the unedited run's activations.
  void embed_or_resume(HookPoint here) {
    for (; active_ < lanes_.size() && lanes_[active_].start == here; ++active_) {
      Lane& lane = lanes_[active_];
      if (here.site == Site::embed) {
        embed(lane);
      } else {
        take_resid(*options_.clean, lane, in_block(here.site) ? here.layer : config_.n_layer);
      }
      if (here.site == Site::attn_scores) take_queries(*options_.clean, lane, here.layer);
    }
  }

  /// The two summands at the start of the residual stream: the tokens' rows of wte, and rows of wpe or zeros.
  void embed(Lane& lane) {
    const FloatRows tokens = rows_of(lane, z_), positions = rows_of(lane, branch_);  // buffers not in use yet
    workers_.for_rows(lane.rows, [&](int i) {
      const int position = lane.first + i;
      weights_.wte.column(workers_.kernels(), lane.run->tokens[position], tokens.row(i));
      const int row = lane.plan() != nullptr ? lane.plan()->row_of_wpe(position) : position;
      if (row < 0) {
        std::ranges::fill(positions.row(i), 0.0F);
      } else {
        const std::size_t width = positions.row(i).size();
        std::ranges::copy(weights_.wpe.subspan(row * width, width), positions.row_data(i));
      }
    });
    tap(lane).at({Site::embed}, tokens);
    tap(lane).at({Site::pos_embed}, positions);
    const FloatRows resid = rows_of(lane, resid_);
    workers_.for_rows(lane.rows, [&](int i) {
      std::ranges::copy(tokens.row(i), resid.row_data(i));
      add(positions.row(i), resid.row(i));
    });
  }

  void take_resid(const Run& from, const Lane& lane, int layer) {
    const FloatRows resid = rows_of(lane, resid_);
    workers_.for_rows(
        lane.rows, [&](int i) { std::ranges::copy(from.resid(layer, lane.first + i), resid.row_data(i)); });
  }
  void take_queries(const Run& from, const Lane& lane, int layer) {
    const FloatRows q = rows_of(lane, q_);
    workers_.for_rows(lane.rows, [&](int i) {
      for (int head = 0; head < config_.n_head; ++head)
        std::ranges::copy(from.q(layer, head, lane.first + i), columns_of(q, head).row_data(i));
    });
  }

  // --- attention ---

  void attention(int layer) {
    throw_if_stopped();
    embed_or_resume({Site::resid_pre, layer});
    at({Site::resid_pre, layer}, resid_);
    keep_resid(layer);
    normalize(weights_.h[layer].ln_1, {Site::ln1_scale, layer}, {Site::ln1_normalized, layer});
    project(layer);
    embed_or_resume({Site::attn_scores, layer});
    throw_if_stopped();
    attend_lanes(layer);
    add_attention(layer);
  }

  /// From z_ to the stream after attention.
  void add_attention(int layer) {
    at({Site::z, layer}, z_);
    linear(active(z_), weights_.h[layer].attn_c_proj, workers_, active(branch_));
    for (Lane& lane : active_lanes())
      tap_results(weights_, layer, tap(lane), rows_of(lane, z_), workspace_, rows_of(lane, branch_));
    at({Site::attn_out, layer}, branch_);
    add_branch();
    at({Site::resid_mid, layer}, resid_);
  }

  /// Computes q_, k_ and v_ from normalized_, and stores them in pages. In the last layer of variants, all
  /// rows need keys and values, which later queries see, but only the requested ones need queries. Products
  /// begin at a whole panel, so that some columns of the queries are computed twice there.
  void project(int layer) {
    const LinearWeights& c_attn = weights_.h[layer].attn_c_attn;
    const bool queries_later = !keeps_run() && layer + 1 == config_.n_layer;
    const int d = config_.n_embd, first = queries_later ? d / kPanelCols * kPanelCols : 0;
    if (!keeps_run()) give_pages(layer);
    linear(active(normalized_), c_attn, workers_, active(qkv_.middle_cols(first, 3 * d - first)), first);
    if (!queries_later) at({Site::q, layer}, q_);
    at({Site::k, layer}, k_);
    at({Site::v, layer}, v_);
    keep_heads(layer);
    if (!queries_later) return;
    leave_out_other_positions();
    linear(active(normalized_), c_attn, workers_, active(q_));
    at({Site::q, layer}, q_);
  }

  /// From here on, the last layer computes only the positions whose logits are requested.
  void leave_out_other_positions() {
    int row = 0;
    for (Lane& lane : lanes_) {
      const int previous_row = lane.row, previous_first = lane.first;
      if (lane.rows > 0 && !needs_all_rows_at_end(*lane.plan(), config_)) {
        const int end = std::min(lane.first + lane.rows, asked_->first + asked_->count);
        lane.first = std::max(lane.first, asked_->first);
        lane.rows = end - lane.first;
      }
      lane.row = row;
      row += lane.rows;
      const int from = previous_row + lane.first - previous_first;
      if (from == lane.row) continue;
      for (const FloatRows& rows : {resid_, normalized_})
        for (int i = 0; i < lane.rows; ++i)
          std::copy_n(rows.row_data(from + i), rows.cols, rows.row_data(lane.row + i));
    }
  }

  /// Computes z of all heads, one block of queries and one head at a time, those with the most keys first.
  /// Reads only the keys that some query of the block may see.
  void attend_lanes(int layer) {
    if (hooks_want({Site::attn_scores, layer}) || hooks_want({Site::pattern, layer}))
      return attend_with_hooks(layer);
    const std::span<Part> parts = split_lanes(kQueriesPerBlock);
    std::ranges::sort(parts, std::ranges::greater(),
                      [](const Part& part) { return part.lane->first + part.row; });
    workers_.parallel_for(config_.n_head * static_cast<int>(parts.size()), [&](int task, float* scratch) {
      const auto& [lane, row, rows] = parts[task / config_.n_head];
      const int head = task % config_.n_head;
      model::attend(workers_.kernels(), *lane->run, head_of(*lane->run, layer, head), lane->first + row,
                    columns_of(q_, head).middle_rows(lane->row + row, rows), scratch,
                    columns_of(z_, head).middle_rows(lane->row + row, rows));
    });
  }

  /// The same for the only lane, one head at a time, calling hooks after each.
  void attend_with_hooks(int layer) {
    const Lane& lane = lanes_.front();
    const Run& run = *lane.run;
    for (int head = 0; head < config_.n_head; ++head) {
      const HeadCache kept = head_of(run, layer, head);
      const int keys = keys_for(run, kept, lane.first + lane.rows - 1);
      const FloatRows masked = workspace_.scores.rows(2 * lane.rows, keys).middle_rows(0, lane.rows),
                      pattern = masked.middle_rows(lane.rows, lane.rows);
      workers_.parallel_for_rows(lane.rows, kQueriesPerBlock, [&](int row, int rows) {
        const FloatRows block = pattern.middle_rows(row, rows);
        scores(workers_.kernels(), kept, columns_of(q_, head).middle_rows(row, rows), block);
        scale_and_mask(run, kept, lane.first + row, block);
        copy(block, masked.middle_rows(row, rows));
        softmax_masked(workers_.kernels(), run, kept, lane.first + row, block);
        weigh_values(workers_.kernels(), kept, block, columns_of(z_, head).middle_rows(row, rows));
      });
      options_.hooks->call(piece_of({Site::attn_scores, layer}, masked, lane.first, head));
      options_.hooks->call(piece_of({Site::pattern, layer}, pattern, lane.first, head));
    }
  }

  // --- MLP ---

  void mlp(int layer) {
    throw_if_stopped();
    model::mlp(weights_, layer, stream(), *this, workers_, active(mlp_), active(branch_));
    add_branch();
    at({Site::resid_post, layer}, resid_);
  }

  // --- after the last block, only for edits (of which means are kept) and hooks ---

  void final_steps() {
    const HookPoint scale{Site::ln_final_scale}, normalized{Site::ln_final_normalized}, logits{Site::logits};
    if (!wants(scale) && !wants(normalized) && !hooks_want(logits)) return;
    normalize(weights_.ln_f, scale, normalized);
    if (!hooks_want(logits)) return;
    const Tap own = tap(lanes_.front());
    for (int done = 0; done < active_rows(); done += kRowsOfLogits) {
      throw_if_stopped();
      const int rows = std::min(kRowsOfLogits, active_rows() - done);
      const FloatRows block = workspace_.logits.rows(rows, config_.vocab_size);
      product(normalized_.middle_rows(done, rows), weights_.lm_head, {}, workers_, block);
      Tap{own.run, own.first + done, 1, nullptr, own.hooks}.at(logits, block);
    }
  }

  // --- what is kept ---

  void keep_resid(int layer) {
    if (!keeps_run()) return;
    for (const Lane& lane : active_lanes()) {
      const FloatRows resid = rows_of(lane, resid_);
      workers_.for_rows(lane.rows, [&](int i) {
        const int position = lane.first + i;
        std::ranges::copy(resid.row(i), lane.claimed[position / Page::kPositions]->resid(layer) +
                                            position % Page::kPositions * resid.stride);
      });
    }
  }

  /// Gives the active variants their own pages for this layer. Whole pages before their first position, and
  /// rows before it, are the clean run's.
  void give_pages(int layer) {
    Config up_to_here = config_;  // a page that holds only this layer
    up_to_here.n_layer = layer + 1;
    for (Lane& lane : active_lanes()) {
      const int end = lane.first + lane.rows, count = Page::count_for(end);
      lane.run->pages.resize(count);
      lane.claimed.resize(count);
      for (int i = lane.first / Page::kPositions; i < count; ++i) {
        const int first = i * Page::kPositions;
        const auto page =
            std::make_shared<Page>(up_to_here, workspace_.pages, options_.clean->pages[i], layer);
        lane.claimed[i] = page->claim(0, std::min(Page::kPositions, end - first));
        lane.run->pages[i] = page;
      }
    }
    const int heads = config_.n_head;
    workers_.parallel_for(static_cast<int>(active_) * heads, [&](int task, float*) {
      const Lane& lane = lanes_[task / heads];
      const int page = lane.first / Page::kPositions;
      lane.claimed[page]->copy_keys_and_values(*options_.clean->pages[page], layer, task % heads,
                                               lane.first % Page::kPositions);
    });
  }

  void keep_heads(int layer) {
    constexpr int kRows = 16;  // rows at a time: a cache line in each row of the transposed keys
    const std::span<const Part> parts = split_lanes(kRows);
    const int heads = config_.n_head;
    workers_.parallel_for(static_cast<int>(parts.size()) * heads, [&](int task, float*) {
      const auto& [lane, row, rows] = parts[task / heads];
      keep_head(layer, task % heads, *lane, row, rows);
    });
  }

  /// Stores rows [begin, begin + count) of a lane, all in one page; variants need no queries.
  void keep_head(int layer, int head, const Lane& lane, int begin, int count) {
    const Page::ClaimedRows& page = *lane.claimed[(lane.first + begin) / Page::kPositions];
    const int row = (lane.first + begin) % Page::kPositions, d_head = config_.d_head();
    const auto part_of = [&](FloatRows all) {
      return columns_of(all, head).middle_rows(lane.row + begin, count);
    };
    const auto rows_of_page = [&](float* rows) {
      return FloatRows{rows, Page::kPositions, d_head, d_head}.middle_rows(row, count);
    };
    if (keeps_run()) copy(part_of(q_), rows_of_page(page.q(layer, head)));
    copy(part_of(v_), rows_of_page(page.v(layer, head)));
    const FloatRows k = part_of(k_);
    workers_.kernels().transpose(k.data, k.stride, count, d_head, page.k(layer, head) + row,
                                 Page::kPositions);
  }

  bool keeps_run() const { return asked_ == nullptr; }  // else the lanes are variants

  // --- steps shared by several of the above ---

  /// Some rows of a lane.
  struct Part {
    const Lane* lane;
    int row, rows;  // within the lane
  };
  /// All rows of the active lanes, divided where a position is a multiple of `most`; until the next call.
  std::span<Part> split_lanes(int most) {
    parts_.clear();
    for (const Lane& lane : active_lanes())
      for (int row = 0, rows = 0; row < lane.rows; row += rows) {
        rows = std::min(most - (lane.first + row) % most, lane.rows - row);
        parts_.push_back({&lane, row, rows});
      }
    return parts_;
  }

  std::span<Lane> active_lanes() const { return lanes_.first(active_); }
  int active_rows() const { return active_ == 0 ? 0 : lanes_[active_ - 1].row + lanes_[active_ - 1].rows; }
  FloatRows active(FloatRows rows) const { return rows.middle_rows(0, active_rows()); }
  static FloatRows rows_of(const Lane& lane, FloatRows rows) { return rows.middle_rows(lane.row, lane.rows); }
  FloatRows columns_of(FloatRows rows, int head) const {
    return rows.middle_cols(head * config_.d_head(), config_.d_head());
  }

  /// normalized_ = layer norm of resid_.
  void normalize(const LayerNormWeights& w, HookPoint scale, HookPoint normalized) {
    layer_norm(w, config_.layer_norm_epsilon, scale, normalized, stream(), *this, workers_,
               active(normalized_));
  }

  void add_branch() {
    workers_.for_rows(active_rows(), [&](int i) { add(branch_.row(i), resid_.row(i)); });
  }

  bool hooks_want(HookPoint point) const { return options_.hooks != nullptr && options_.hooks->wants(point); }

  void throw_if_stopped() const {
    if (options_.stop.stop_requested()) throw Stopped();
  }

  void report_progress(int layer) const {
    if (!options_.progress) return;
    const Lane& lane = lanes_.front();
    const int computed = lane.run->computed_positions;
    const double done = lane.first - (lane.run->length() - computed) +
                        static_cast<double>(lane.rows) * layer / config_.n_layer;
    options_.progress(done / computed, "running the model");
  }

  const Weights& weights_;
  const Config& config_ = weights_.config;
  const ForwardOptions& options_;
  const Positions* asked_;
  Workspace::Impl& workspace_;
  Workers& workers_ = workspace_.workers;
  std::span<Lane> lanes_;
  std::size_t active_ = 0;   // number of lanes that have begun
  std::vector<Part> parts_;  // see split_lanes

  FloatRows resid_, normalized_, z_, branch_, q_, k_, v_;
  FloatRows qkv_;  // [rows, 3 d_model]
  FloatRows mlp_;  // [rows, n_inner]
};

}  // namespace

RecomputedBlock recompute_block(const Weights& weights, Lane& lane, int layer, bool with_mlp,
                                const ForwardOptions& options, Workspace::Impl& workspace) {
  return Pass(weights, {&lane, 1}, options, nullptr, workspace).recompute(layer, with_mlp);
}

FloatRows run_pass(const Weights& weights, std::span<Lane> lanes, const ForwardOptions& options,
                   const Positions* asked, Workspace::Impl& workspace) {
  return Pass(weights, lanes, options, asked, workspace).run();
}

std::shared_ptr<const Run> Transformer::forward(std::span<const int> tokens, Workspace& workspace,
                                                const ForwardOptions& options) const {
  const Weights& weights = impl_->weights;
  Workspace::Impl& memory = workspace.impl();
  check_tokens(weights.config, tokens);
  const bool hooked = options.hooks != nullptr && !options.hooks->empty();
  const int length = static_cast<int>(tokens.size());
  const auto run = std::make_shared<Run>();
  run->config = weights.config;
  run->tokens.assign(tokens.begin(), tokens.end());
  run->weights = impl_->identity;
  if (options.plan != nullptr && !options.plan->edits().empty()) run->plan = options.plan;
  memory.pages->keep_at_most(2 * Run::max_bytes(weights.config));  // for the shown run and the next one
  Lane lane{run};
  begin_run(lane, options, hooked ? std::max(options.hooked_from, 0) : length, memory.pages);

  const bool whole = run->plan != nullptr && run->plan->needs_whole_run();
  const int chunk = whole ? length : std::max(options.chunk, 1), common = lane.first;
  for (; lane.first < length; lane.first += chunk) {
    lane.rows = std::min(chunk, length - lane.first);
    try {
      run_pass(weights, {&lane, 1}, options, nullptr, memory);
    } catch (const Stopped&) {
      if (options.partial != nullptr && lane.first > common) *options.partial = shortened(*run, lane.first);
      throw;
    }
  }
  if (options.progress) options.progress(1.0, "running the model");
  return run;
}

void Transformer::logits(const Run& run, int first, int count, Workspace& workspace,
                         std::span<float> out) const {
  check_positions(run, first, count);
  const int vocabulary = config().vocab_size;
  const FloatRows rows{out.data(), count, vocabulary, vocabulary};
  find_logits(impl_->weights, {&run, first}, workspace.impl().workers,
              workspace.impl().activations.rows(count, config().n_embd), rows);
}

void Transformer::unembed(std::span<const float> vector, Workspace& workspace, std::span<float> out) const {
  const int d = config().n_embd, vocabulary = config().vocab_size;
  product({vector.data(), 1, d, d}, impl_->weights.lm_head, {}, workspace.impl().workers,
          {out.data(), 1, vocabulary, vocabulary});
}

}  // namespace headscope::model
