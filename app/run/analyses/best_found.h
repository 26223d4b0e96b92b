#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headscope::app {

/// Of two that were found, the better one has the smaller `order_of`, a tuple; there are no ties, so that
/// what is kept does not depend on the order in which it was found.
template <class Found>
bool is_better(const Found& a, const Found& b) {
  return order_of(a) < order_of(b);
}

/// The best of what was found, and how much there was, in memory for no more than are kept.
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
    std::ranges::sort(sorted, is_better<Found>);
    return sorted;
  }

 private:
  void keep(const Found& found) {
    if (most_ == 0) return;
    if (heap_.size() == most_) {
      if (!is_better(found, heap_.front())) return;
      std::ranges::pop_heap(heap_, is_better<Found>);
      heap_.back() = found;
    } else {
      heap_.push_back(found);
    }
    std::ranges::push_heap(heap_, is_better<Found>);
  }
  std::size_t most_;
  std::int64_t count_ = 0;
  std::vector<Found> heap_;  // the worst that is kept is in front
};

}  // namespace headscope::app
