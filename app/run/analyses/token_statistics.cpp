#include "app/run/analyses/token_statistics.h"

#include <algorithm>
#include <iterator>

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

}  // namespace headscope::app
