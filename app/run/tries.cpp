#include "app/run/tries.h"

#include <cmath>
#include <utility>

#include "model/pass/run.h"

namespace headscope::app {
namespace {

using model::common_tokens;

bool begins_with(std::span<const int> ids, std::span<const int> with) {
  return common_tokens(ids, with) == std::ssize(with);
}

/// Moves the start of a continuation back to fewer tokens; the probabilities of the added ones are not known.
void begin_at(TriedText& tried, int start) {
  tried.probabilities.insert(tried.probabilities.begin(), std::max(tried.start() - start, 0), NAN);
}

/// Takes over another text's probabilities of their common prefix.
void learn(TriedText& tried, const TriedText& from) {
  const int common = common_tokens(tried.ids, from.ids);
  for (int i = std::max(tried.start(), from.start()); i < common; ++i) {
    double& probability = tried.probabilities[i - tried.start()];
    if (std::isnan(probability)) probability = from.probabilities[i - from.start()];
  }
}

void add(Tries& tries, TriedText added) {
  bool there = false;
  for (TriedText& known : tries) {
    const bool holds = begins_with(known.ids, added.ids);
    if (common_tokens(known.ids, added.ids) >= known.start()) begin_at(added, known.start());
    if (holds) begin_at(known, added.start());
    learn(added, known);
    learn(known, added);
    there = there || holds;
  }
  if (there) return;
  std::erase_if(tries, [&](const TriedText& known) { return begins_with(added.ids, known.ids); });
  tries.push_back(std::move(added));
  if (tries.size() > kMaxTries) tries.erase(tries.begin());
}

}  // namespace

Tries with_step(Tries tries, std::span<const int> before, std::span<const int> now,
                std::span<const double> probabilities) {
  const int start = common_tokens(before, now);
  if (start == 0) return tries;
  const auto tried_text = [&](std::span<const int> ids, std::span<const double> known) {
    TriedText tried{{ids.begin(), ids.end()}, {}};
    tried.probabilities.resize(ids.size() - start, NAN);
    const std::size_t count = std::min(known.size(), tried.probabilities.size());
    std::ranges::copy_backward(known.last(count), tried.probabilities.end());
    return tried;
  };
  if (start < std::ssize(before)) add(tries, tried_text(before, {}));
  if (start < std::ssize(now)) add(tries, tried_text(now, probabilities));
  return tries;
}

std::vector<const TriedText*> tries_of(const Tries& tries, std::span<const int> prompt) {
  std::vector<const TriedText*> of;
  for (const TriedText& tried : tries)
    if (common_tokens(tried.ids, prompt) >= tried.start()) of.push_back(&tried);
  return of;
}

}  // namespace headscope::app
