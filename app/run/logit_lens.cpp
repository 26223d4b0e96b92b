#include "app/run/logit_lens.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "model/hooks.h"

namespace headscope::app {
namespace {

constexpr int kChunk = 16;  // positions whose rows are held at a time

/// The stream of positions [first, first + count), [count * places, d_model]: what a block begins with is in
/// the run, what it has between its halves is computed again.
std::vector<float> stream_of(const PromptRun& run, int first, int count, const Work<LogitLens>& work) {
  const model::Run& kept = *run.run;
  const int layers = kept.config.n_layer, places = 2 * layers + 1;
  const auto d_model = static_cast<std::size_t>(kept.config.n_embd);
  std::vector<float> rows(static_cast<std::size_t>(count) * static_cast<std::size_t>(places) * d_model);
  const auto put = [&](int position, int place, std::span<const float> row) {
    std::ranges::copy(
        row, rows.begin() + static_cast<std::ptrdiff_t>(d_model) * ((position - first) * places + place));
  };
  for (int position = first; position < first + count; ++position)
    for (int layer = 0; layer <= layers; ++layer) put(position, 2 * layer, kept.resid(layer, position));

  model::Hooks hooks;
  for (int layer = 0; layer < layers; ++layer) {
    hooks.watch({model::Site::resid_mid, layer}, [&, layer](const model::ConstActivation2d& mid) {
      for (int i = std::max(0, first - mid.first_pos); i < mid.rows; ++i)
        put(mid.first_pos + i, 2 * layer + 1, mid.row(i));
    });
  }
  model::ForwardOptions options;
  options.base = &kept;
  options.hooks = &hooks;
  options.hooked_from = first;
  options.stop = work.stop;
  const auto tokens = std::span(kept.tokens).first(static_cast<std::size_t>(first + count));
  run.model->transformer->forward(tokens, work.workspace, options);
  return rows;
}

/// The most probable token after each of the positions.
std::vector<int> answers_of(const PromptRun& run, int first, int count, const Work<LogitLens>& work) {
  std::vector<int> ids;
  for (const model::PositionStatistics& s :
       run.model->transformer->statistics(*run.run, first, count, 1, work.workspace, work.stop))
    ids.push_back(s.top.front().id);
  return ids;
}

}  // namespace

std::size_t LogitLens::bytes() const {
  return tokens.size() * sizeof(int) +
         readings.size() * (sizeof(model::LensReading) + kGuesses * sizeof(model::Guess));
}

LogitLens LensOf::compute(const PromptRun& run, const Work<LogitLens>& work) const {
  const int length = run.run->length();
  LogitLens result;
  result.places = 2 * run.run->config.n_layer + 1;
  result.tokens = run.run->tokens;
  if (const LogitLens* known = work.begun != nullptr ? work.begun : work.former) {
    const auto same = std::ranges::mismatch(known->tokens, result.tokens).in1 - known->tokens.begin();
    const auto positions = std::min<std::ptrdiff_t>(same, known->positions());
    result.readings.assign(known->readings.begin(), known->readings.begin() + positions * known->places);
  }
  for (int first = result.positions(); first < length; first += kChunk) {
    const int count = std::min(kChunk, length - first);
    const std::vector<float> rows = stream_of(run, first, count, work);
    const std::vector<int> answers = answers_of(run, first, count, work);
    auto readings = run.model->transformer->lens(rows, result.places, answers, LogitLens::kGuesses,
                                                 work.workspace, work.stop);
    std::ranges::move(readings, std::back_inserter(result.readings));
    if (first + count < length) work.show(result, static_cast<double>(first + count) / length);
  }
  return result;
}

}  // namespace headscope::app
