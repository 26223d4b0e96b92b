#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headscope::model {

/// Of two values, the better one has the smaller `order_of`, a tuple; there are no ties, so that what is kept
/// does not depend on the order in which it came.
template <class T>
bool is_better(const T& a, const T& b) {
  return order_of(a) < order_of(b);
}

/// The best of the values that are added, in memory for no more than are kept, and how many were added.
template <class T>
class Best {
 public:
  explicit Best(std::size_t most) : most_(most) {}
  void add(const T& value) {
    ++count_;
    keep(value);
  }
  void add(const Best& others) {
    count_ += others.count_;
    for (const T& value : others.heap_) keep(value);
  }
  std::int64_t count() const { return count_; }
  /// The worst that is kept, which others must beat; null while there is room.
  const T* worst() const { return heap_.empty() || heap_.size() < most_ ? nullptr : &heap_.front(); }
  /// Best first.
  std::vector<T> sorted() const {
    std::vector<T> sorted = heap_;
    std::ranges::sort(sorted, is_better<T>);
    return sorted;
  }

 private:
  void keep(const T& value) {
    if (most_ == 0) return;
    if (heap_.size() == most_) {
      if (!is_better(value, heap_.front())) return;
      std::ranges::pop_heap(heap_, is_better<T>);
      heap_.back() = value;
    } else {
      heap_.push_back(value);
    }
    std::ranges::push_heap(heap_, is_better<T>);
  }
  std::size_t most_;
  std::int64_t count_ = 0;
  std::vector<T> heap_;  // the worst that is kept is in front
};

}  // namespace headscope::model
