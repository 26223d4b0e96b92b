#include "model/pass/pass.h"

#include <algorithm>
#include <utility>

namespace headscope::model {
namespace {

/// The number of leading positions whose kept activations the run can share with `other` (null: none).
int reusable_positions(const Run& run, const Run* other) {
  if (other == nullptr || other->weights != run.weights) return 0;
  const int common = common_tokens(run.tokens, other->tokens);
  if (same_edits(run.plan.get(), other->plan.get())) {
    const bool whole = run.plan != nullptr && run.plan->needs_whole_run();
    return whole && run.tokens != other->tokens ? 0 : common;
  }
  const auto unchanged = [&](const Run& of) { return of.plan ? of.plan->first_position() : common; };
  return std::min({common, unchanged(run), unchanged(*other)});
}

/// Whether the run can share the layers before the first edited one with `clean`.
bool has_layers_for(const Run* clean, const Run& run) {
  return clean != nullptr && run.plan != nullptr && clean->plan == nullptr && clean->weights == run.weights &&
         common_tokens(run.tokens, clean->tokens) == run.length();
}

/// Where a run's pages come from: positions before `common` from `from`, and layers before `first_layer` from
/// `below` (null: first_layer is 0).
struct Sources {
  const Run* from = nullptr;
  int common = 0;
  const Run* below = nullptr;
  int first_layer = 0;
};

/// The run's page for `rows` positions from `first` on, and its rows that the pass may write: nothing if all
/// of it is reused.
std::pair<std::shared_ptr<Page>, std::optional<Page::ClaimedRows>> page_for(
    const Config& config, const std::shared_ptr<PageMemory>& memory, const Sources& sources, int first,
    int rows) {
  const auto page_of = [&](const Run& run) { return run.pages[first / Page::kPositions]; };
  const std::shared_ptr<const Page> below = sources.below != nullptr ? page_of(*sources.below) : nullptr;
  const int reused = std::clamp(sources.common - first, 0, rows);
  std::shared_ptr<Page> old;
  if (reused > 0) {
    old = page_of(*sources.from);
    if (reused == rows) return {old, std::nullopt};
    // Rows after the other run's last may be free: then this pass claims them, and nobody else can.
    if (old->first_layer() == sources.first_layer && old->below() == below)
      if (const auto free = old->claim(reused, rows)) return {old, free};
  }
  const auto page = std::make_shared<Page>(config, memory, below, sources.first_layer);
  const auto claimed = page->claim(0, rows);
  if (old != nullptr) claimed->copy_from(*old, reused);
  return {page, claimed};
}

}  // namespace

HookPoint pass_start(const Plan& plan) {
  const auto [site, layer] = plan.first_point();
  if (site < Site::resid_pre) return {Site::embed};
  if (!in_block(site)) return {Site::ln_final_scale};
  return {site < Site::attn_scores ? Site::resid_pre : Site::attn_scores, layer};
}

void begin_run(Lane& lane, const ForwardOptions& options, int reusable,
               const std::shared_ptr<PageMemory>& memory) {
  Run& run = *lane.run;
  const int length = run.length();
  const auto at_most = [&](const Run* other) { return std::min(reusable, reusable_positions(run, other)); };
  const Run* from = std::ranges::max(options.base, options.clean, {}, at_most);
  Sources sources{from, at_most(from), nullptr, 0};
  if ((options.hooks == nullptr || options.hooks->empty()) && has_layers_for(options.clean, run)) {
    lane.start = pass_start(*run.plan);
    sources.first_layer = lane.start.layer + (lane.start.site == Site::attn_scores ? 1 : 0);
    if (sources.first_layer > 0) sources.below = options.clean;
  }
  lane.first = sources.common;
  if (lane.start.site == Site::ln_final_scale) {  // no kept activation is edited
    sources.from = options.clean;
    sources.common = length;
    lane.first = run.plan->needs_whole_run() ? 0 : length;  // a mean is over all positions
  }
  for (int first = 0; first < length; first += Page::kPositions) {
    const int rows = std::min(Page::kPositions, length - first);
    const auto& [page, own] = page_for(run.config, memory, sources, first, rows);
    run.pages.push_back(page);
    lane.claimed.push_back(own);
  }
  run.computed_positions = length - sources.common;
  if (run.plan == nullptr) return;
  const bool known = sources.common > 0 && sources.from->plan != nullptr &&
                     same_edits(run.plan.get(), sources.from->plan.get());
  run.means = known ? sources.from->means : run.plan->no_means();
}

}  // namespace headscope::model
