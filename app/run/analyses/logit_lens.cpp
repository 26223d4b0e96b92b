#include "app/run/analyses/logit_lens.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "app/run/recompute.h"
#include "model/pass/hooks.h"

namespace headscope::app {
namespace {

constexpr int kChunk = 16;  // positions whose rows are in memory at a time

int places_of(const PromptRun& run) {
  return 2 * run.run->config.n_layer + 1;
}

/// The residual stream at positions [first, first + count), [count * places, d_model]: block inputs are in
/// the run, the values between attention and MLP are recomputed.
std::vector<float> stream_of(const PromptRun& run, int first, int count,
                             const Computation<LogitLens>& computation) {
  const model::Run& kept = *run.run;
  const int layers = kept.config.n_layer, places = places_of(run), d_model = kept.config.n_embd;
  std::vector<float> rows(std::ptrdiff_t{count} * places * d_model);
  const auto put = [&](int position, int place, std::span<const float> row) {
    std::ranges::copy(row, rows.begin() + std::ptrdiff_t{d_model} * ((position - first) * places + place));
  };
  for (int position = first; position < first + count; ++position)
    for (int layer = 0; layer <= layers; ++layer) put(position, 2 * layer, kept.resid(layer, position));

  model::Hooks hooks;
  for (int layer = 0; layer < layers; ++layer) {
    hooks.watch({model::Site::resid_mid, layer}, [&, layer](const model::ConstActivation2d& mid) {
      for (int position = first; position < first + count; ++position)
        if (const auto row = row_of(mid, position); !row.empty()) put(position, 2 * layer + 1, row);
    });
  }
  recompute(run, first, first + count, hooks, computation.workspace, computation.stop);
  return rows;
}

/// The token that is read after each of the positions.
std::vector<int> targets_of(const TokenChoice& token, const PromptRun& run, int first, int count,
                            const Computation<LogitLens>& computation) {
  if (token.by == TokenChoice::By::id) return std::vector<int>(count, token.number);
  const int rank = std::min(token.number, run.run->config.vocab_size - 1);
  std::vector<int> ids;
  for (const model::PositionStatistics& s : run.model->transformer->statistics(
           *run.run, first, count, rank + 1, computation.workspace, computation.stop))
    ids.push_back(s.top.back().id);
  return ids;
}

/// What each place of the stream predicts at positions [first, first + targets.size()).
std::vector<model::LensReading> readings_of(const PromptRun& run, int first, const std::vector<int>& targets,
                                            const Computation<LogitLens>& computation) {
  const std::vector<float> rows = stream_of(run, first, static_cast<int>(targets.size()), computation);
  return run.model->transformer->lens(rows, places_of(run), targets, LogitLens::kGuesses,
                                      computation.workspace, computation.stop, run.run.get(), first);
}

void append(std::vector<model::LensReading>& to, std::vector<model::LensReading> readings) {
  std::ranges::move(readings, std::back_inserter(to));
}

/// The leading positions of the block that the other answer has with the same tokens; nothing is computed.
LogitLens first_part(const LensOf& question, const LogitLens& previous, const PromptRun& run) {
  const std::vector<int>& tokens = run.run->tokens;
  LogitLens kept;
  kept.first = LensOf::kPositions * question.block;
  kept.places = places_of(run);
  const auto end = std::min<std::ptrdiff_t>(kept.first + LensOf::kPositions, std::ssize(tokens));
  kept.tokens.assign(tokens.begin(), tokens.begin() + end);
  kept.token = question.token;
  if (previous.token != question.token) return kept;
  const auto same = std::ranges::mismatch(previous.tokens, kept.tokens).in1 - previous.tokens.begin();
  const auto positions = std::clamp<std::ptrdiff_t>(same - kept.first, 0, previous.positions());
  kept.readings.assign(previous.readings.begin(), previous.readings.begin() + positions * previous.places);
  kept.targets.assign(previous.targets.begin(), previous.targets.begin() + positions);
  return kept;
}

}  // namespace

std::size_t LogitLens::bytes() const {
  return (tokens.size() + targets.size()) * sizeof(int) +
         (readings.size() + before.size()) * (sizeof(model::LensReading) + kGuesses * sizeof(model::Guess));
}

std::string lens_place_name(int place, int n_layer) {
  const auto [layer, mid] = lens_place(place);
  if (layer == n_layer) return std::to_string(layer - 1) + " post";
  return std::to_string(layer) + (mid ? " mid" : " pre");
}

std::string lens_hook_name(int place, int n_layer) {
  const auto [layer, mid] = lens_place(place);
  if (layer == n_layer) return model::hook_name({model::Site::resid_post, layer - 1});
  return model::hook_name({mid ? model::Site::resid_mid : model::Site::resid_pre, layer});
}

std::optional<LogitLens> LensOf::reusable_part(const LogitLens& previous, const PromptRun& run) const {
  LogitLens kept = first_part(*this, previous, run);
  if (kept.readings.empty()) return std::nullopt;
  return kept;
}

LogitLens LensOf::compute(const PromptRun& run, const Computation<LogitLens>& computation) const {
  const LogitLens nothing;
  const LogitLens* known = computation.partial != nullptr ? computation.partial : computation.previous;
  LogitLens result = first_part(*this, known != nullptr ? *known : nothing, run);
  const auto end = static_cast<int>(result.tokens.size());
  for (int first = result.first + result.positions(); first < end; first += kChunk) {
    const int count = std::min(kChunk, end - first);
    const std::vector<int> targets = targets_of(token, run, first, count, computation);
    append(result.readings, readings_of(run, first, targets, computation));
    std::ranges::copy(targets, std::back_inserter(result.targets));
    if (first + count < end)
      computation.show(result, static_cast<double>(result.positions()) / (end - result.first));
  }
  return result;
}

namespace {

/// A range of positions whose counterparts are consecutive, or that have none.
struct Stretch {
  int there = -1;  ///< counterpart of the first; -1: none has one
  int count = 0;
};
Stretch stretch_at(const PromptRun& run, int first, int most) {
  const auto at = [&](int i) { return run.baseline ? run.aligned[first + i] : first + i; };
  Stretch stretch{at(0), 1};
  const int step = stretch.there >= 0 ? 1 : 0;
  while (stretch.count < most && at(stretch.count) == stretch.there + step * stretch.count) ++stretch.count;
  return stretch;
}

}  // namespace

LogitLens LensOf::compute_difference(const PromptRun& run, const Computation<LogitLens>& computation) const {
  const PromptRun& baseline = run.baseline ? *run.baseline : run;
  LogitLens result = computation.partial != nullptr ? *computation.partial : first_part(*this, {}, run);
  const auto end = static_cast<int>(result.tokens.size());
  for (int first = result.first + result.positions(); first < end;) {
    const auto [there, count] = stretch_at(run, first, std::min(kChunk, end - first));
    const std::vector<int> targets =
        targets_of(token, there >= 0 ? baseline : run, there >= 0 ? there : first, count, computation);
    append(result.before, there >= 0 ? readings_of(baseline, there, targets, computation)
                                     : std::vector<model::LensReading>(result.places * count));
    append(result.readings, readings_of(run, first, targets, computation));
    std::ranges::copy(targets, std::back_inserter(result.targets));
    first += count;
    if (first < end) computation.show(result, static_cast<double>(result.positions()) / (end - result.first));
  }
  return result;
}

}  // namespace headscope::app
