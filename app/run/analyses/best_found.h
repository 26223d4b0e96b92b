#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headscope::app {

/// The best of what was found, and how much there was, in memory for no more than are kept. `is_better(a, b)`
/// is a strict order without ties, so that the result does not depend on the order of insertion.
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

}  // namespace headscope::app
