#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "model/files/error.h"
#include "model/kernels/product.h"
#include "model/pass/pass.h"
#include "model/pass/shared_steps.h"

namespace headscope::model {
namespace {

/// Positions computed together: enough to reuse each weight that is read, few enough that their data stays in
/// the caches and the first answers arrive soon.
constexpr int kRowsTogether = 512;

/// The lane of a plan. Positions from `end` on are not requested.
Lane lane_of(std::size_t index, const std::shared_ptr<const Plan>& plan, const Run& clean, int end) {
  const int length = clean.length();
  Lane lane{.run = std::make_shared<Run>(), .first = length, .start = {Site::ln_final_scale}, .index = index};
  lane.run->config = clean.config;
  lane.run->tokens = clean.tokens;
  lane.run->pages = clean.pages;
  if (plan == nullptr || plan->edits().empty()) return lane;
  lane.run->plan = plan;
  lane.run->means = plan->no_means();
  const int last = plan->needs_whole_run() ? length : end;
  const HookPoint start = pass_start(*plan);
  if (plan->first_position() >= last || (start == lane.start && !plan->needs_whole_run())) return lane;
  lane.start = start;
  lane.first = plan->first_position();
  lane.rows = last - lane.first;
  return lane;
}

/// Calls visit for lanes, given the ends of their residual streams `resid`, [rows of all lanes, d_model].
void visit_logits(const Weights& weights, std::span<const Lane> lanes, ConstFloatRows resid,
                  const ForwardOptions& options, const Positions& asked, Workspace::Impl& workspace,
                  const VariantVisitor& visit) {
  if (options.stop.stop_requested()) throw Stopped();
  const int d = weights.config.n_embd, vocabulary = weights.config.vocab_size, count = asked.count;
  const FloatRows out = workspace.logits.rows(static_cast<int>(lanes.size()) * count, d + vocabulary);
  const FloatRows normalized = out.middle_cols(0, d), logits = out.middle_cols(d, vocabulary);
  const auto rows_of_lane = [&](FloatRows all, std::size_t i) {
    return all.middle_rows(static_cast<int>(i) * count, count);
  };
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = lanes[i];
    const auto end_of_stream = [&](int j) {
      const int row = asked.first + j - lane.first;
      return row >= 0 && row < lane.rows ? resid.row(lane.row + row)
                                         : options.clean->resid(weights.config.n_layer, asked.first + j);
    };
    final_layer_norm(weights, end_of_stream, Tap{lane.run.get(), asked.first}, workspace.workers,
                     rows_of_lane(normalized, i));
  }
  product(normalized, weights.lm_head, {}, workspace.workers, logits);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    Tap{lanes[i].run.get(), asked.first}.at({Site::logits}, rows_of_lane(logits, i));
    visit(lanes[i].index, rows_of_lane(logits, i));
  }
}

}  // namespace

void Transformer::variants(const Run& clean, std::span<const std::shared_ptr<const Plan>> plans, int first,
                           int count, Workspace& workspace, const VariantVisitor& visit,
                           std::stop_token stop) const {
  if (clean.weights != impl_->identity || clean.plan != nullptr)
    throw RunError("variants need an unedited run of the same model");
  check_positions(clean, first, count);
  if (count == 0) return;
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < plans.size(); ++i) lanes.push_back(lane_of(i, plans[i], clean, first + count));
  std::ranges::stable_sort(lanes, {}, &Lane::start);
  const int most_lanes = std::max(kRowsOfLogits / count, 1);
  const ForwardOptions options{.clean = &clean, .stop = std::move(stop)};
  const Positions asked{first, count};
  workspace.impl().pages->keep_at_most(3 * Run::max_bytes(clean.config));  // two runs and the variants' pages
  // Late groups first: they have the fewest layers to run, so that half of all variants are ready after a
  // quarter of the work.
  while (!lanes.empty()) {
    auto begin = lanes.end() - 1;
    for (int rows = begin->rows; begin != lanes.begin() && lanes.end() - begin < most_lanes; --begin) {
      rows += std::prev(begin)->rows;
      if (rows > kRowsTogether) break;
    }
    const std::span<Lane> group(begin, lanes.end());
    const FloatRows resid = run_pass(impl_->weights, group, options, &asked, workspace.impl());
    visit_logits(impl_->weights, group, resid, options, asked, workspace.impl(), visit);
    lanes.erase(begin, lanes.end());
  }
}

}  // namespace headscope::model
