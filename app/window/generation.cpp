#include "app/window/generation.h"

#include <cmath>
#include <utility>

#include "app/run/analyses/predictions.h"
#include "app/views/output/continuation.h"
#include "model/files/error.h"
#include "model/pass/statistics.h"

namespace headscope::app {
namespace {

/// The run whose text goes on: the shown side's. Null while there is none of what is typed.
std::shared_ptr<const PromptRun> continued(const UiState& state, const Snapshot& snapshot) {
  const auto& run = snapshot.run;
  if (!run || run->prompt != prompt_of(state)) return nullptr;
  if (continues_second(state))
    return run->baseline && run->baseline->prompt.text == state.second.text.edit.text ? run->baseline
                                                                                      : nullptr;
  return state.side == Side::baseline && run->baseline ? run->baseline : run;
}

std::vector<Action> stop(std::string why, bool is_error) {
  return {Generate{false}, ShowMessage{std::move(why), is_error}};
}

}  // namespace

Question next_token_question(const UiState& state, const Snapshot& snapshot) {
  const Question next = NextAfter{-1};
  const auto run = continued(state, snapshot);
  return run && run != snapshot.run ? next.on_baseline() : next;
}

std::vector<Action> generation_actions(const UiState& state, const Snapshot& snapshot) {
  const auto shown = state.generation.running ? continued(state, snapshot) : nullptr;
  if (!shown) return {};
  const auto known = snapshot.answers->find(next_token_question(state, snapshot));
  if (!known) return {};
  if (!known->value) return stop(known->failure, true);
  const auto& next = *std::static_pointer_cast<const NextToken>(known->value);
  const int n_ctx = shown->run->config.n_ctx;
  if (shown->tokens.length() >= n_ctx)
    return stop(
        "Context full: generation stopped at this model's limit of " + std::to_string(n_ctx) + " tokens.",
        false);
  int id = 0;
  try {
    id = model::draw_token(next.logits, sampling_of(state.options), seed_of(state.options),
                           shown->run->length());
  } catch (const model::RunError& e) {
    return stop(e.what(), true);
  }
  if (id == shown->model->tokenizer->end_of_text())
    return stop("The model ended the text (<|endoftext|>): generation stopped.", false);
  const auto logit = static_cast<double>(next.logits[id]);
  return {AppendToken{id, -1, std::exp(logit - model::log_sum_exp(next.logits)), shown}};
}

}  // namespace headscope::app
