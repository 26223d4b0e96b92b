#include "model/pass/variants.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "model/files/error.h"
#include "model/kernels/kernels.h"
#include "model/kernels/product.h"
#include "model/pass/attention.h"
#include "model/pass/forward.h"
#include "model/pass/pages_of_run.h"
#include "model/pass/pass_steps.h"

namespace headscope::model {
namespace {

/// Positions that are computed together: enough that a weight is read for many of them, few enough that what
/// they need stays in the caches, and that the first answers come soon.
constexpr int kRowsTogether = 512;

/// Most rows whose logits are held.
constexpr int kLogitsTogether = 64;

/// One variant on its way through the layers.
struct Lane {
  std::size_t index = 0;  ///< of its plan
  Run run;                ///< pages: of keys and values of the layer at hand
  Beginning beginning;
  int first = 0;  ///< position of its first row; those before are the clean run's
  int rows = 0;
  int row = 0;  ///< where its rows begin among all
  bool embeds = false;
  bool takes_final_means = false;

  int end() const { return row + rows; }
  const Plan* plan() const { return run.plan.get(); }
  bool edits(HookPoint point) const { return plan() != nullptr && plan()->edits(point); }
};

/// Whether the last block's rows behind its keys and values, or those behind it, are wanted of all positions.
bool needs_all_rows_at_end(const Plan& plan, const Config& config) {
  for (int site = static_cast<int>(Site::q); site <= static_cast<int>(Site::resid_post); ++site) {
    const HookPoint point{static_cast<Site>(site), config.n_layer - 1};
    if (point.site != Site::k && point.site != Site::v && plan.takes_means(point)) return true;
  }
  return false;
}

bool takes_final_means(const Plan& plan) {
  return plan.takes_means({Site::ln_final_scale}) || plan.takes_means({Site::ln_final_normalized});
}

/// When a lane joins the others: lanes of the same layer that need its queries, keys and values first.
int order_of(const Lane& lane) {
  return lane.embeds ? -1 : 2 * lane.beginning.layer + (lane.beginning.at_scores ? 1 : 0);
}

/// The lane of a plan. Positions from `end` on are not asked for.
Lane lane_of(std::size_t index, const std::shared_ptr<const Plan>& plan, const Run& clean, int end) {
  Lane lane;
  lane.index = index;
  lane.run.config = clean.config;
  lane.run.tokens = clean.tokens;
  lane.run.pages = clean.pages;
  lane.beginning.layer = clean.config.n_layer;
  lane.first = clean.length();
  if (plan == nullptr || plan->edits().empty()) return lane;
  lane.run.plan = plan;
  lane.run.means = plan->no_means();
  lane.takes_final_means = takes_final_means(*plan);
  const Beginning beginning = beginning_of(*plan, clean.config);
  const int last = plan->needs_whole_run() ? clean.length() : end;
  if (beginning.layer == clean.config.n_layer || plan->first_position() >= last) return lane;
  lane.beginning = beginning;
  lane.embeds = plan->first_point().site < Site::resid_pre;
  lane.first = plan->first_position();
  lane.rows = last - lane.first;
  return lane;
}

/// Several variants at a time: their rows stand one below the other, those of variants that begin earlier
/// first, so that each step takes those from the top on that have begun.
class Group : PassActivations {
 public:
  Group(const Weights& weights, const Run& clean, int first, int count, Workspace::Impl& workspace,
        const std::shared_ptr<PageMemory>& memory, std::vector<Lane> lanes, const std::stop_token& stop)
      : weights_(weights),
        config_(weights.config),
        clean_(clean),
        asked_first_(first),
        asked_count_(count),
        workspace_(workspace),
        workers_(workspace.workers),
        memory_(memory),
        lanes_(std::move(lanes)),
        stop_(stop) {
    int rows = 0;
    for (Lane& lane : lanes_) {
      lane.row = rows;
      rows += lane.rows;
    }
    workers_.reserve_scratch(attention_scratch(config_));
    lay_out(config_, std::max(rows, clean.length()), workspace_);
  }

  void run(const VariantVisitor& visit) {
    const int begin = lanes_.front().beginning.layer;
    for (int layer = begin; layer < config_.n_layer; ++layer) {
      attention(layer);
      mlp(layer);
    }
    finish(visit);
  }

 private:
  // --- attention ---

  void attention(int layer) {
    throw_if_stopped();
    const BlockWeights& block = weights_.h[layer];
    const int d = config_.n_embd;
    const FloatRows q = qkv_.middle_cols(0, d), k = qkv_.middle_cols(d, d), v = qkv_.middle_cols(2 * d, d);
    const auto begun = [&](bool at_scores) {
      return static_cast<std::size_t>(std::ranges::count_if(
          lanes_, [&](const Lane& lane) { return order_of(lane) <= 2 * layer + (at_scores ? 1 : 0); }));
    };
    active_ = begun(false);
    for (Lane& lane : lanes_)
      if (lane.embeds && layer == 0) {
        embed(lane);
      } else if (lane.beginning.layer == layer && !lane.beginning.at_scores) {
        take_resid(lane, layer);
      }
    edit({Site::resid_pre, layer}, resid_);
    layer_norm(block.ln_1, {Site::ln1_scale, layer}, {Site::ln1_normalized, layer});
    const int first_kv = d / kPanelCols * kPanelCols;
    linear_columns(active(normalized_), block.attn_c_attn, first_kv, workers_,
                   active(qkv_.middle_cols(first_kv, 3 * d - first_kv)));
    edit({Site::k, layer}, k);
    edit({Site::v, layer}, v);
    keep(layer, k, v);
    if (layer + 1 == config_.n_layer) leave_out_what_is_not_asked();
    linear_columns(active(normalized_), block.attn_c_attn, 0, workers_, active(q));
    edit({Site::q, layer}, q);
    for (std::size_t i = active_; i < begun(true); ++i) {
      take_resid(lanes_[i], layer);
      take_queries(lanes_[i], layer, q);
    }
    active_ = begun(true);
    throw_if_stopped();
    attend(layer, q);
    edit({Site::z, layer}, z_);
    linear(active(z_), block.attn_c_proj, workers_, active(branch_));
    for (Lane& lane : active_lanes())
      if (lane.edits({Site::result, layer})) add_up_results(lane, layer, block.attn_c_proj);
    edit({Site::attn_out, layer}, branch_);
    add_branch();
    edit({Site::resid_mid, layer}, resid_);
  }

  void embed(Lane& lane) {
    const FloatRows tokens = rows_of(lane, z_), positions = rows_of(lane, branch_);
    for_rows(workers_, lane.rows, [&](int i) {
      model::embed(weights_, workers_.kernels(), clean_.tokens[lane.first + i],
                   lane.plan()->row_of_wpe(lane.first + i), tokens.row(i), positions.row(i));
    });
    edit_lane(lane, {Site::embed}, tokens);
    edit_lane(lane, {Site::pos_embed}, positions);
    const FloatRows resid = rows_of(lane, resid_);
    for_rows(workers_, lane.rows, [&](int i) {
      std::ranges::copy(tokens.row(i), resid.row_data(i));
      add(positions.row(i), resid.row(i));
    });
  }

  /// What the clean run left where a lane begins.
  void take_resid(const Lane& lane, int layer) {
    const FloatRows resid = rows_of(lane, resid_);
    for_rows(workers_, lane.rows,
             [&](int i) { std::ranges::copy(clean_.resid(layer, lane.first + i), resid.row_data(i)); });
  }
  void take_queries(const Lane& lane, int layer, FloatRows q) {
    const FloatRows rows = rows_of(lane, q);
    const int d_head = config_.d_head();
    for_rows(workers_, lane.rows, [&](int i) {
      for (int head = 0; head < config_.n_head; ++head)
        std::ranges::copy(clean_.q(layer, head, lane.first + i), rows.row_data(i) + head * d_head);
    });
  }

  /// Gives each lane pages of its own with the keys and values of this layer, but for whole pages before its
  /// first position.
  void keep(int layer, ConstFloatRows k, ConstFloatRows v) {
    struct Part {
      Page::ClaimedRows page;
      const Page* clean;  // of the same positions
      int before;         // rows that are the clean run's
      int row;            // where the others begin among all
      int rows;
    };
    Config up_to_here = config_;  // pages of it hold this layer alone
    up_to_here.n_layer = layer + 1;
    std::vector<Part> parts;
    for (Lane& lane : active_lanes()) {
      const int end = lane.first + lane.rows;
      lane.run.pages.resize(Page::count_for(end));
      for (int i = lane.first / Page::kPositions; i < std::ssize(lane.run.pages); ++i) {
        const auto& below = clean_.pages[i];
        const int first = i * Page::kPositions, rows = std::min(Page::kPositions, end - first);
        const auto page = std::make_shared<const Page>(up_to_here, first, memory_, below, layer);
        const int before = std::max(lane.first - first, 0);
        parts.push_back({*page->claim(0, rows), below.get(), before, lane.row + first + before - lane.first,
                         rows - before});
        lane.run.pages[i] = page;
      }
    }
    const int groups = std::min(workers_.threads(), config_.n_head);
    workers_.parallel_for(static_cast<int>(parts.size()) * groups, [&](int task, float*) {
      const Part& part = parts[task / groups];
      const int group = task % groups, d_head = config_.d_head();
      for (int head = group * config_.n_head / groups; head < (group + 1) * config_.n_head / groups; ++head) {
        for (int i = 0; i < d_head; ++i)
          std::copy_n(part.clean->k(layer, head) + std::ptrdiff_t{i} * Page::kPositions, part.before,
                      part.page.k(layer, head) + std::ptrdiff_t{i} * Page::kPositions);
        std::copy_n(part.clean->v(layer, head), std::ptrdiff_t{part.before} * d_head,
                    part.page.v(layer, head));
        const auto mine = [&](ConstFloatRows all) {
          return all.middle_rows(part.row, part.rows).middle_cols(head * d_head, d_head);
        };
        keep_keys_and_values(workers_.kernels(), part.page, layer, head, part.before, mine(k), mine(v));
      }
    });
  }

  /// In the last layer nobody looks at other positions than those whose logits are asked for.
  void leave_out_what_is_not_asked() {
    int row = 0;
    for (Lane& lane : lanes_) {
      const Lane before = lane;
      if (lane.rows > 0 && !lane.takes_final_means && !needs_all_rows_at_end(*lane.plan(), config_)) {
        const int end = std::min(lane.first + lane.rows, asked_first_ + asked_count_);
        lane.first = std::max(lane.first, asked_first_);
        lane.rows = end - lane.first;
      }
      lane.row = row;
      row += lane.rows;
      const int from = before.row + lane.first - before.first;
      if (from == lane.row) continue;
      for (const FloatRows& rows : {resid_, normalized_})
        for (int i = 0; i < lane.rows; ++i)
          std::copy_n(rows.row_data(from + i), rows.cols, rows.row_data(lane.row + i));
    }
  }

  void attend(int layer, ConstFloatRows q) {
    struct Block {
      const Lane* lane;
      int row, rows;  // of the lane's
    };
    std::vector<Block> blocks;
    for (const Lane& lane : active_lanes())
      for (int row = 0; row < lane.rows; row += kQueriesPerBlock)
        blocks.push_back({&lane, row, std::min(kQueriesPerBlock, lane.rows - row)});
    std::ranges::stable_sort(blocks, std::ranges::greater(),
                             [](const Block& block) { return block.lane->first + block.row; });
    const int d_head = config_.d_head();
    workers_.parallel_for(config_.n_head * static_cast<int>(blocks.size()), [&](int task, float* scratch) {
      const auto& [lane, row, rows] = blocks[task / config_.n_head];
      const int head = task % config_.n_head, first = lane->row + row;
      model::attend(workers_.kernels(), lane->run, head_of(config_, lane->run.pages, layer, head),
                    lane->first + row, q.middle_rows(first, rows).middle_cols(head * d_head, d_head), scratch,
                    z_.middle_rows(first, rows).middle_cols(head * d_head, d_head));
    });
  }

  void add_up_results(Lane& lane, int layer, const LinearWeights& projection) {
    sum_of_results(workers_, projection, rows_of(lane, z_), config_.n_head,
                   workspace_.result.rows(lane.rows, config_.n_embd), rows_of(lane, branch_),
                   [&](int head, FloatRows result) {
                     edit_lane(lane, {Site::result, layer}, result, head);
                   });
  }

  // --- MLP ---

  void mlp(int layer) {
    throw_if_stopped();
    const BlockWeights& block = weights_.h[layer];
    layer_norm(block.ln_2, {Site::ln2_scale, layer}, {Site::ln2_normalized, layer});
    linear(active(normalized_), block.mlp_c_fc, workers_, active(mlp_));
    edit({Site::mlp_pre, layer}, mlp_);
    for_rows(workers_, active_rows(),
             [&](int i) { activate(workers_.kernels().rows, config_.activation, mlp_.row(i)); });
    edit({Site::mlp_post, layer}, mlp_);
    throw_if_stopped();
    linear(active(mlp_), block.mlp_c_proj, workers_, active(branch_));
    edit({Site::mlp_out, layer}, branch_);
    add_branch();
    edit({Site::resid_post, layer}, resid_);
  }

  // --- behind the blocks ---

  /// The means of what is behind the blocks are of all positions.
  void find_final_means(Lane& lane) {
    for_rows(workers_, clean_.length(), [&](int i) {
      std::ranges::copy(lane.rows > 0 ? resid_.row(lane.row + i) : clean_.resid(config_.n_layer, i),
                        branch_.row_data(i));
    });
    const int length = clean_.length();
    const FloatRows scale = scale_.middle_rows(0, length), normalized = z_.middle_rows(0, length);
    const auto apply = [&](Site site, FloatRows rows) {
      lane.plan()->apply_to_all({{site}, 0, 0, 0, rows.rows, rows.cols, rows.stride, rows.data},
                                lane.run.means);
    };
    layer_norm_rows(
        workers_, weights_.ln_f, config_.layer_norm_epsilon, branch_.middle_rows(0, length), scale,
        normalized, true, [&] { apply(Site::ln_final_scale, scale); },
        [&] { apply(Site::ln_final_normalized, normalized); });
  }

  void finish(const VariantVisitor& visit) {
    for (Lane& lane : lanes_)
      if (lane.takes_final_means) find_final_means(lane);
    const int d = config_.n_embd, vocabulary = config_.vocab_size, count = asked_count_;
    const auto together = static_cast<std::size_t>(std::max(kLogitsTogether / count, 1));
    for (std::size_t first = 0; first < lanes_.size(); first += together) {
      throw_if_stopped();
      const std::size_t lanes = std::min(together, lanes_.size() - first);
      const int rows = static_cast<int>(lanes) * count;
      const FloatRows out = workspace_.logits.rows(rows, d + d + vocabulary);
      const FloatRows ends = out.middle_cols(0, d), normalized = out.middle_cols(d, d),
                      logits = out.middle_cols(2 * d, vocabulary);
      const auto rows_of_lane = [&](FloatRows all, std::size_t i) {
        return all.middle_rows(static_cast<int>(i) * count, count);
      };
      for (std::size_t i = 0; i < lanes; ++i) {
        const Lane& lane = lanes_[first + i];
        const FloatRows end = rows_of_lane(ends, i);
        for (int j = 0; j < count; ++j) {
          const int row = asked_first_ + j - lane.first;
          std::ranges::copy(row >= 0 && row < lane.rows ? std::span<const float>(resid_.row(lane.row + row))
                                                        : clean_.resid(config_.n_layer, asked_first_ + j),
                            end.row_data(j));
        }
        final_layer_norm(weights_, end, {&lane.run, asked_first_}, workers_, rows_of_lane(normalized, i));
      }
      product_with_columns(normalized, weights_.lm_head, 0, workers_, logits);
      for (std::size_t i = 0; i < lanes; ++i) {
        const Lane& lane = lanes_[first + i];
        EndOfPass{&lane.run, asked_first_}.apply(Site::logits, rows_of_lane(logits, i));
        visit(lane.index, rows_of_lane(logits, i));
      }
    }
  }

  // --- steps that several of the above share ---

  std::span<Lane> active_lanes() { return std::span(lanes_).first(active_); }
  int active_rows() const { return active_ == 0 ? 0 : lanes_[active_ - 1].end(); }
  FloatRows active(FloatRows rows) const { return rows.middle_rows(0, active_rows()); }
  static FloatRows rows_of(const Lane& lane, FloatRows rows) { return rows.middle_rows(lane.row, lane.rows); }

  void layer_norm(const LayerNormWeights& w, HookPoint scale, HookPoint normalized) {
    const bool edited = std::ranges::any_of(
        active_lanes(), [&](const Lane& lane) { return lane.edits(scale) || lane.edits(normalized); });
    layer_norm_rows(
        workers_, w, config_.layer_norm_epsilon, active(resid_), active(scale_), active(normalized_), edited,
        [&] { edit(scale, scale_); }, [&] { edit(normalized, normalized_); });
  }

  void add_branch() {
    for_rows(workers_, active_rows(), [&](int i) { add(branch_.row(i), resid_.row(i)); });
  }

  /// What the plans of all lanes that have begun do to their rows.
  void edit(HookPoint point, FloatRows rows) {
    for (Lane& lane : active_lanes()) edit_lane(lane, point, rows_of(lane, rows));
  }
  void edit_lane(Lane& lane, HookPoint point, FloatRows rows, int head = 0) {
    if (!lane.edits(point) || lane.rows == 0) return;
    const Activation2d piece{point, head, lane.first, 0, rows.rows, rows.cols, rows.stride, rows.data};
    if (rows.rows == clean_.length()) {
      lane.plan()->apply_to_all(piece, lane.run.means);
    } else {
      lane.plan()->apply(piece, lane.run.means);
    }
  }

  void throw_if_stopped() const {
    if (stop_.stop_requested()) throw Stopped();
  }

  const Weights& weights_;
  const Config& config_;
  const Run& clean_;
  int asked_first_, asked_count_;
  Workspace::Impl& workspace_;
  Workers& workers_;
  std::shared_ptr<PageMemory> memory_;
  std::vector<Lane> lanes_;  // in the order in which they begin
  const std::stop_token& stop_;

  std::size_t active_ = 0;  // lanes that have begun
};

}  // namespace

void run_variants(const Weights& weights, const std::shared_ptr<const void>& identity, const Run& clean,
                  std::span<const std::shared_ptr<const Plan>> plans, int first, int count,
                  Workspace::Impl& workspace, const VariantVisitor& visit, const std::stop_token& stop) {
  if (clean.weights != identity || clean.edited || clean.plan != nullptr)
    throw RunError("variants begin with a run of the same model in which nothing is changed");
  check_positions(clean, first, count);
  if (count == 0) return;
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < plans.size(); ++i) lanes.push_back(lane_of(i, plans[i], clean, first + count));
  std::ranges::stable_sort(lanes, {}, order_of);
  const auto memory = std::make_shared<PageMemory>();
  memory->keep_at_most(std::numeric_limits<std::size_t>::max());
  const auto most_lanes = static_cast<std::size_t>(std::max(kLogitsTogether / count, 1));
  std::vector<std::vector<Lane>> groups;
  int rows = 0;
  for (Lane& lane : lanes) {
    if (groups.empty() || groups.back().size() == most_lanes || rows + lane.rows > kRowsTogether) {
      groups.emplace_back();
      rows = 0;
    }
    rows += lane.rows;
    groups.back().push_back(std::move(lane));
  }
  // Late groups first: they have the fewest layers to run, so that half of all variants is there after a
  // quarter of the work.
  for (auto group = groups.rbegin(); group != groups.rend(); ++group)
    Group(weights, clean, first, count, workspace, memory, std::move(*group), stop).run(visit);
}

}  // namespace headscope::model
