#include "app/run/tries.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace headscope::app {
namespace {

bool begins_with(std::span<const int> ids, std::span<const int> with) {
  return common_tokens(ids, with) == std::ssize(with);
}

void add(Tries& tries, Tried added) {
  // One that is there goes on, and what is known of its tokens stays known.
  for (const Tried& known : tries) {
    const int common = common_tokens(known.ids, added.ids);
    if (common < known.begun) continue;
    if (known.begun < added.begun) {
      const auto more = static_cast<std::size_t>(added.begun - known.begun);
      added.probabilities.insert(added.probabilities.begin(), more, std::numeric_limits<double>::quiet_NaN());
      added.begun = known.begun;
    }
    for (int i = std::max(known.begun, added.begun); i < common; ++i) {
      double& probability = added.probabilities[static_cast<std::size_t>(i - added.begun)];
      if (!(probability >= 0)) probability = known.probabilities[static_cast<std::size_t>(i - known.begun)];
    }
  }
  const bool there =
      std::ranges::any_of(tries, [&](const Tried& known) { return begins_with(known.ids, added.ids); });
  if (there) return;
  std::erase_if(tries, [&](const Tried& known) { return begins_with(added.ids, known.ids); });
  tries.push_back(std::move(added));
  if (tries.size() > kMostTries) tries.erase(tries.begin());
}

}  // namespace

int common_tokens(std::span<const int> a, std::span<const int> b) {
  return static_cast<int>(std::ranges::mismatch(a, b).in1 - a.begin());
}

Tries with_step(Tries tries, std::span<const int> before, std::span<const int> now,
                std::span<const double> probabilities) {
  const int begun = common_tokens(before, now);
  if (begun == 0) return tries;
  const auto way = [&](std::span<const int> ids, std::span<const double> known) {
    Tried tried{{ids.begin(), ids.end()}, begun, {}};
    tried.probabilities.resize(ids.size() - static_cast<std::size_t>(begun),
                               std::numeric_limits<double>::quiet_NaN());
    const std::size_t count = std::min(known.size(), tried.probabilities.size());
    std::copy(known.end() - static_cast<std::ptrdiff_t>(count), known.end(),
              tried.probabilities.end() - static_cast<std::ptrdiff_t>(count));
    return tried;
  };
  if (begun < std::ssize(before)) add(tries, way(before, {}));
  if (begun < std::ssize(now)) add(tries, way(now, probabilities));
  return tries;
}

std::vector<const Tried*> tries_of(const Tries& tries, std::span<const int> prompt) {
  std::vector<const Tried*> of;
  for (const Tried& tried : tries)
    if (common_tokens(tried.ids, prompt) >= tried.begun) of.push_back(&tried);
  return of;
}

}  // namespace headscope::app
