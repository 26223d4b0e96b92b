#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "app/run/analyses/excerpt.h"

// The best results of a search over any number of prompts, in memory for no more than are kept.
namespace headscope::app {

/// The best of what was found, and how much there was. `is_better(a, b)` is a strict order without ties, so
/// that the result does not depend on the order of insertion.
template <class Found>
class BestFound {
 public:
  explicit BestFound(std::size_t most) : most_(most) {}
  void add(const Found& found) {
    ++count_;
    keep(found);
  }
  void add(const BestFound& others) {
    count_ += others.count_;
    for (const Found& found : others.heap_) keep(found);
  }
  BestFound none() const { return BestFound(most_); }  ///< an empty list with the same limit
  std::int64_t count() const { return count_; }
  /// Best first.
  std::vector<Found> best() const {
    std::vector<Found> sorted = heap_;
    std::ranges::sort(sorted, kBetter);
    return sorted;
  }

 private:
  static constexpr auto kBetter = [](const Found& a, const Found& b) { return is_better(a, b); };
  void keep(const Found& found) {
    if (most_ == 0) return;
    if (heap_.size() == most_) {
      if (!is_better(found, heap_.front())) return;
      std::ranges::pop_heap(heap_, kBetter);
      heap_.back() = found;
    } else {
      heap_.push_back(found);
    }
    std::ranges::push_heap(heap_, kBetter);
  }
  std::size_t most_;
  std::int64_t count_ = 0;
  std::vector<Found> heap_;  // the worst that is kept is in front
};

/// Adds what was found in one more prompt to an answer with `best`, best first and at most `most`, an excerpt
/// for each of them, and the `count` of all. `excerpt(found)` makes that of a place in the prompt.
template <class Answer, class Found, class MakeExcerpt>
void join_found(Answer& all, const BestFound<Found>& found, int prompt, std::size_t most,
                const MakeExcerpt& excerpt) {
  const std::vector<Found> candidates = found.best();
  const bool is_full = all.best.size() == most;
  if (candidates.empty() || (is_full && !is_better(candidates.front(), all.best.back()))) {
    all.count += found.count();
    return;
  }
  std::vector<Found> kept;
  std::ranges::merge(all.best, candidates, std::back_inserter(kept),
                     [](const Found& a, const Found& b) { return is_better(a, b); });
  kept.resize(std::min(kept.size(), most));
  std::vector<Excerpt> excerpts(kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (kept[i].prompt == prompt) excerpts[i] = excerpt(kept[i]);
  // Nothing throws from here on, so that an answer is whole whatever happens.
  std::size_t before = 0;  // what is kept of the former ones is in the same order
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i].prompt == prompt) continue;
    while (!(all.best[before] == kept[i])) ++before;
    excerpts[i] = std::move(all.excerpts[before]);
  }
  all.best = std::move(kept);
  all.excerpts = std::move(excerpts);
  all.count += found.count();
}

}  // namespace headscope::app
