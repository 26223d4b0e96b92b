#include "app/run/analyses/next_token.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

#include "model/pass/statistics.h"

namespace headscope::app {
namespace {

constexpr int kTop = 5;
constexpr int kPositionsAtOnce = 128;  // positions between two checks for newer work

/// The number of leading positions whose tokens, including the one after, are the same as in `previous`: the
/// statistics of a position depend on the next token, too.
std::ptrdiff_t common_positions(const Statistics& previous, const std::vector<int>& tokens) {
  const auto ends =
      std::mismatch(tokens.begin(), tokens.end(), previous.tokens.begin(), previous.tokens.end());
  const auto same = ends.first - tokens.begin();
  const bool all = tokens.size() == previous.tokens.size() && ends.first == tokens.end();
  return std::min(all ? same : std::max<std::ptrdiff_t>(same - 1, 0), std::ssize(previous.positions));
}

}  // namespace

std::vector<float> logits_after(const PromptRun& run, int position, model::Workspace& workspace) {
  std::vector<float> logits(static_cast<std::size_t>(run.run->config.vocab_size));
  run.model->transformer->logits(*run.run, position, 1, workspace, logits);
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
  next.logits = logits_after(run, next.position, computation.workspace);
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

Statistics StatisticsOfTokens::difference(const Statistics& after, const Statistics& before,
                                          const PromptRun& run) const {
  Statistics result = after;
  for (int i = 0; i < std::ssize(after.positions); ++i) {
    const int there = counterpart_of(run, i);
    result.before.push_back(there < 0 ? std::nullopt : std::optional(before.positions[there]));
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
  const std::vector<float> first = logits_after(run, run.run->length() - 1, computation.workspace);
  std::vector<float> logits;
  const auto read = [&](const std::vector<DrawnToken>& text, const model::Run& base) {
    std::vector<int> ids = run.run->tokens;
    for (const DrawnToken& token : text) ids.push_back(token.id);
    model::ForwardOptions options;
    options.base = &base;
    options.plan =
        plan_for(ids, base.plan, *run.model, run.second_model.get(), computation.workspace, computation.stop);
    options.stop = computation.stop;
    return transformer.forward(ids, computation.workspace, options);
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

}  // namespace headscope::app
