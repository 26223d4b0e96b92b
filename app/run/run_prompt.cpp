#include "app/run/run_prompt.h"

#include <algorithm>
#include <string>
#include <utility>

#include "app/run/sources/pattern_file.h"
#include "model/files/error.h"
#include "model/pass/edits.h"
#include "model/pass/plan.h"

namespace headscope::app {
namespace {

void require_fits(const PromptTokens& tokens, const PromptToRun& what) {
  if (!what.cut && tokens.run_length < tokens.length())
    throw model::RunError(beyond_context(tokens, *what.model));
}

std::shared_ptr<const model::Plan> plan_of(const PromptToRun& what, const std::vector<int>& tokens,
                                           const RunTools& with) {
  const model::Edits& edits = what.prompt.edits;
  if (edits.empty()) return nullptr;
  KeptPlan made;
  KeptPlan& kept = with.plan != nullptr ? *with.plan : made;
  const bool fits = kept.plan && kept.plan->edits() == edits &&
                    (kept.tokens == tokens || !model::patches_from_own_tokens(edits));
  if (!fits) {
    const model::Transformer* second = what.second_model ? what.second_model->transformer.get() : nullptr;
    kept.plan = what.model->transformer->plan(edits, with.workspace, with.stop, {second, tokens});
    kept.tokens = tokens;
  }
  return kept.plan;
}

std::shared_ptr<const model::Run> pass(PassOfRun pass, const RunTools& with) {
  pass.options.stop = with.stop;
  if (with.pass) return with.pass(std::move(pass));
  return pass.model.transformer->forward(pass.tokens, with.workspace, pass.options);
}

/// The second prompt's run, or that of the same prompt in the second model.
std::shared_ptr<const PromptRun> run_second(const PromptToRun& what, const RunTools& with) try {
  auto run = std::make_shared<PromptRun>();
  run->model = what.second_model ? what.second_model : what.model;
  run->prompt = what.second ? *what.second : what.prompt;
  run->prompt.edits.clear();
  run->tokens = tokenize(*what.model, run->prompt);
  require_fits(run->tokens, what);
  run->tokens.run_length = std::min(run->tokens.length(), run->model->transformer->config().n_ctx);
  run->run = pass({*run->model, run->tokens.ids(), true}, with);
  return run;
} catch (const model::RunError& error) {
  if (!what.second) throw;
  throw model::RunError(std::string("second prompt: ") + error.what());
}

/// Makes another pattern file the baseline of a run, head by head.
void compare_with_patterns(PromptRun& run, std::shared_ptr<const LoadedModel> second, Alignment by) {
  const PatternFile& own = *run.model->patterns;
  if (!second->patterns)
    throw model::RunError(own.name() + " can only be compared with another file of attention patterns");
  const PatternFile& other = *second->patterns;
  if (own.layers() != other.layers() || own.heads() != other.heads())
    throw model::RunError("patterns are compared head by head: " + own.name() + " has " + own.summary() +
                          ", " + other.name() + " has " + other.summary());
  compare_with(run, std::make_shared<const PromptRun>(run_of_patterns(std::move(second))), by);
}

}  // namespace

PromptRun run_prompt(const PromptToRun& what, const RunTools& with) {
  if (what.model->patterns) {
    PromptRun run = run_of_patterns(what.model);
    if (what.second_model) compare_with_patterns(run, what.second_model, what.alignment);
    return run;
  }
  PromptRun run;
  run.model = what.model;
  run.second_model = what.second_model;
  run.prompt = what.prompt;
  run.tokens = tokenize(*what.model, what.prompt);
  require_fits(run.tokens, what);
  PassOfRun own{*what.model, run.tokens.ids()};
  own.options.plan = plan_of(what, own.tokens, with);
  own.options.hooks = with.hooks;
  if (own.options.plan && what.compared_with != ComparedWith::nothing)
    run.unedited = pass({*what.model, own.tokens, true}, with);
  own.options.clean = run.unedited.get();
  run.run = pass(std::move(own), with);
  if (what.compared_with == ComparedWith::second && (what.second || what.second_model))
    compare_with(run, run_second(what, with), what.alignment);
  else if (run.unedited)
    compare_with_unedited(run, run.unedited);
  return run;
}

bool edits_at(const PromptRun& run, model::HookPoint point) {
  return run.run->plan != nullptr && run.run->plan->edits(point);
}

int acting_positions(const PromptRun& run, int position) {
  const bool whole = run.run->plan != nullptr && run.run->plan->needs_whole_run();
  return whole ? run.run->length() : position + 1;
}

void recompute(const PromptRun& run, int first, int end, const model::Hooks& hooks, const Resources& with) {
  const model::Run& kept = *run.run;
  const auto tokens = std::span(kept.tokens).first(acting_positions(run, end - 1));
  run.model->transformer->forward(
      tokens, with.workspace,
      {.base = &kept, .plan = kept.plan, .hooks = &hooks, .hooked_from = first, .stop = with.stop});
}

void Recording::add(model::HookPoint point) {
  if (std::ranges::find(points_, point, &Rows::point) != points_.end()) return;
  Rows& rows = points_.emplace_back(Rows{point, model::column_count(config_, point.site), {}});
  rows.values.resize(count_ * rows.columns);
  hooks_.watch(point, [&rows, first = first_, all = count_ == 0](const model::ConstActivation2d& piece) {
    const int end = piece.first_pos + piece.rows;
    if (all) rows.values.resize(end * rows.columns);
    const auto room = static_cast<int>(std::ssize(rows.values) / rows.columns);
    for (int at = std::max(first, piece.first_pos); at < std::min(end, first + room); ++at)
      std::ranges::copy(piece.row(at - piece.first_pos),
                        rows.values.begin() + (at - first) * rows.columns + piece.head * piece.cols);
  });
}

void Recording::read(const PromptRun& run, const Resources& with) {
  recompute(run, first_, first_ + count_, hooks_, with);
}

std::span<const float> Recording::rows(model::HookPoint point) const {
  const auto found = std::ranges::find(points_, point, &Rows::point);
  return found != points_.end() ? std::span<const float>(found->values) : std::span<const float>();
}

std::span<const float> Recording::row(model::HookPoint point, int position) const {
  const Rows& of = *std::ranges::find(points_, point, &Rows::point);
  return std::span(of.values).subspan((position - first_) * of.columns, of.columns);
}

}  // namespace headscope::app
