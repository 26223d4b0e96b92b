#include "app/run/analyses/predictions.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

#include "app/run/run_prompt.h"
#include "model/pass/hooks.h"
#include "model/pass/statistics.h"

namespace headscope::app {
namespace {

constexpr int kTop = 5;
constexpr int kPositionsAtOnce = 128;  // positions between two checks for newer work

/// The number of leading positions whose tokens, including the one after, are the same as in `previous`: the
/// statistics of a position depend on the next token, too.
std::ptrdiff_t common_positions(const Statistics& previous, const std::vector<int>& tokens) {
  const auto same = std::ranges::mismatch(tokens, previous.tokens).in1 - tokens.begin();
  const bool all = tokens == previous.tokens;
  return std::min(all ? same : std::max<std::ptrdiff_t>(same - 1, 0), std::ssize(previous.positions));
}

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

  Recording middle(kept.config, first, count);
  for (int layer = 0; layer < layers; ++layer) middle.add({model::Site::resid_mid, layer});
  middle.read(run, computation);
  for (int position = first; position < first + count; ++position)
    for (int layer = 0; layer < layers; ++layer)
      put(position, 2 * layer + 1, middle.row({model::Site::resid_mid, layer}, position));
  return rows;
}

/// The token that is read after each of the positions.
std::vector<int> targets_of(const TokenRef& token, const PromptRun& run, int first, int count,
                            const Computation<LogitLens>& computation) {
  if (token.by == TokenRef::By::id) return std::vector<int>(count, token.number);
  const int rank = std::min(token.number, run.run->config.vocab_size);
  std::vector<int> ids;
  for (const model::PositionStatistics& s : run.model->transformer->statistics(
           *run.run, first, count, rank, computation.workspace, computation.stop))
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

/// How many positions from `first` on, up to `most`, have consecutive counterparts, or none.
int stretch_at(const PromptRun& run, int first, int most) {
  const int there = counterpart_of(run, first), step = there >= 0 ? 1 : 0;
  int count = 1;
  while (count < most && counterpart_of(run, first + count) == there + step * count) ++count;
  return count;
}

/// Reads the rest of the block; with a baseline, of both runs.
LogitLens read_on(LogitLens result, const PromptRun& run, const PromptRun* baseline,
                  const Computation<LogitLens>& computation) {
  const auto end = static_cast<int>(result.tokens.size());
  for (int first = result.first + result.positions(); first < end;) {
    const int most = std::min(kChunk, end - first), count = baseline ? stretch_at(run, first, most) : most;
    const int there = baseline ? counterpart_of(run, first) : -1;
    const std::vector<int> targets = targets_of(result.token, there >= 0 ? *baseline : run,
                                                there >= 0 ? there : first, count, computation);
    if (baseline)
      std::ranges::move(there >= 0 ? readings_of(*baseline, there, targets, computation)
                                   : std::vector<model::LensReading>(result.places * count),
                        std::back_inserter(result.before));
    std::ranges::move(readings_of(run, first, targets, computation), std::back_inserter(result.readings));
    std::ranges::copy(targets, std::back_inserter(result.targets));
    first += count;
    if (first < end) computation.show(result, static_cast<double>(result.positions()) / (end - result.first));
  }
  return result;
}

}  // namespace

std::vector<float> logits_after(const PromptRun& run, int position, const Resources& with) {
  std::vector<float> logits(static_cast<std::size_t>(run.run->config.vocab_size));
  run.model->transformer->logits(*run.run, position, 1, with.workspace, logits);
  return logits;
}

double divergence(std::span<const double> p, std::span<const double> q) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    if (p[i] > 0) sum += p[i] * std::log(p[i] / q[i]);
  return sum;
}

NextToken NextAfter::compute(const PromptRun& run, const Computation<NextToken>& computation) const {
  const int last = run.run->length() - 1;
  NextToken next{position < 0 ? last : std::min(position, last), {}, {}};
  next.logits = logits_after(run, next.position, computation);
  next.not_finite = not_finite_note(*run.run, next.position, next.logits);
  return next;
}

std::size_t Statistics::bytes() const {
  return tokens.size() * sizeof(int) + (positions.size() + before.size()) *
                                           (sizeof(model::PositionStatistics) + kTop * sizeof(model::Guess));
}

Statistics StatisticsOfTokens::compute(const PromptRun& run,
                                       const Computation<Statistics>& computation) const {
  Statistics result;
  result.tokens = run.run->tokens;
  const Statistics* known = computation.partial != nullptr ? computation.partial : computation.previous;
  if (known != nullptr)
    result.positions.assign(known->positions.begin(),
                            known->positions.begin() + common_positions(*known, result.tokens));
  const int length = run.run->length();
  for (int first = static_cast<int>(result.positions.size()); first < length; first += kPositionsAtOnce) {
    const int count = std::min(kPositionsAtOnce, length - first);
    auto block = run.model->transformer->statistics(*run.run, first, count, kTop, computation.workspace,
                                                    computation.stop);
    std::ranges::move(block, std::back_inserter(result.positions));
    if (first + count < length) computation.show(result, static_cast<double>(first + count) / length);
  }
  return result;
}

Statistics Statistics::minus(const Statistics& of_baseline, const PromptRun& run) const {
  Statistics result = *this;
  for (int i = 0; i < std::ssize(positions); ++i) {
    const int there = counterpart_of(run, i);
    result.before.push_back(there < 0 ? std::nullopt : std::optional(of_baseline.positions[there]));
  }
  return result;
}

std::size_t Continuations::bytes() const {
  std::size_t sum = 0;
  for (const auto& text : texts) sum += sizeof(text) + bytes_of(text);
  return sum;
}

Continuations ContinuationsOf::compute(const PromptRun& run,
                                       const Computation<Continuations>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::SamplingOptions sampling{temperature, top_k, top_p};
  const auto end = run.model->tokenizer->end_of_text();
  const int n_ctx = run.run->config.n_ctx;
  const std::vector<float> first = logits_after(run, run.run->length() - 1, computation);
  std::vector<float> logits;
  const auto read = [&](const std::vector<DrawnToken>& text, const model::Run& base) {
    std::vector<int> ids = run.run->tokens;
    for (const DrawnToken& token : text) ids.push_back(token.id);
    const auto plan = plan_for(ids, base.plan, *run.model, run.second_model.get(), computation);
    return transformer.forward(ids, computation.workspace,
                               {.base = &base, .plan = plan, .stop = computation.stop});
  };
  Continuations result = computation.partial != nullptr ? *computation.partial : Continuations();
  if (result.texts.empty()) result.texts.emplace_back();
  while (true) {
    std::vector<DrawnToken>& text = result.texts.back();
    const std::uint64_t of_text = seed + result.texts.size() - 1;
    std::shared_ptr<const model::Run> now = text.empty() ? run.run : read(text, *run.run);
    while (std::ssize(text) < tokens && now->length() < n_ctx && (text.empty() || text.back().id != end)) {
      logits = first;
      if (!text.empty()) transformer.logits(*now, now->length() - 1, 1, computation.workspace, logits);
      DrawnToken token;
      token.id = model::draw_token(logits, sampling, of_text, now->length());
      token.probability = std::exp(static_cast<double>(logits[token.id]) - model::log_sum_exp(logits));
      text.push_back(token);
      if (std::ssize(text) < tokens || read_last) {
        now = read(text, *now);
        text.back().kept = now->length() - now->computed_positions;
        text.back().computed = now->computed_positions;
      }
      const int done = static_cast<int>(result.texts.size() - 1) * tokens + static_cast<int>(text.size());
      computation.show(result, static_cast<double>(done) / (texts * tokens));
    }
    if (std::ssize(result.texts) >= texts) return result;
    result.texts.emplace_back();
  }
}

std::size_t LogitLens::bytes() const {
  return (tokens.size() + targets.size()) * sizeof(int) +
         (readings.size() + before.size()) * (sizeof(model::LensReading) + kGuesses * sizeof(model::Guess));
}

std::optional<LogitLens> LensOf::reusable_part(const LogitLens& previous, const PromptRun& run) const {
  LogitLens kept = first_part(*this, previous, run);
  return kept.readings.empty() ? std::nullopt : std::optional(std::move(kept));
}

LogitLens LensOf::compute(const PromptRun& run, const Computation<LogitLens>& computation) const {
  const LogitLens nothing;
  const LogitLens* known = computation.partial != nullptr ? computation.partial : computation.previous;
  return read_on(first_part(*this, known != nullptr ? *known : nothing, run), run, nullptr, computation);
}

LogitLens LensOf::compute_difference(const PromptRun& run, const PromptRun& baseline,
                                     const Computation<LogitLens>& computation) const {
  return read_on(computation.partial != nullptr ? *computation.partial : first_part(*this, {}, run), run,
                 &baseline, computation);
}

}  // namespace headscope::app
