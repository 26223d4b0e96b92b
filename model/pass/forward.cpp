#include <algorithm>
#include <string>
#include <utility>

#include "model/files/error.h"
#include "model/pass/pass.h"
#include "model/pass/transformer_impl.h"

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

}  // namespace

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
  run->pages.reserve(Page::count_for(length));
  memory.pages->keep_at_most(
      2 * Run::most_bytes(weights.config));  // for the run that is shown and the one computed next
  Lane lane{run, {}, 0, 0, std::move(memory.claimed)};
  lane.claimed.clear();
  lane.claimed.reserve(Page::count_for(weights.config.n_ctx));  // once, large enough for any run
  lane.start = begin_run(*run, options, hooked ? std::max(options.hooked_from, 0) : length, memory.pages,
                         lane.claimed);

  const bool whole = run->plan != nullptr && run->plan->needs_whole_run();
  const int chunk = whole ? length : std::max(options.chunk, 1), common = lane.start.position;
  for (lane.first = common; lane.first < length; lane.first += chunk) {
    lane.rows = std::min(chunk, length - lane.first);
    try {
      run_pass(weights, {&lane, 1}, options, nullptr, memory);
    } catch (const Stopped&) {
      memory.claimed = std::move(lane.claimed);
      if (options.partial != nullptr && lane.first > common) *options.partial = shortened(*run, lane.first);
      throw;
    }
  }
  memory.claimed = std::move(lane.claimed);
  if (options.progress) options.progress(1.0, "running the model");
  return run;
}

}  // namespace headscope::model
