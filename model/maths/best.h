#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headscope::model {

/// The best of the values that are added, in memory for no more than are kept, and how many were added. The
/// better of two has the smaller kOrder(value), a tuple; there are no ties, so that what is kept does not
/// depend on the order in which it came.
template <class T, auto kOrder>
class Best {
 public:
  static bool is_better(const T& a, const T& b) { return kOrder(a) < kOrder(b); }

  explicit Best(std::size_t max) : max_(max) {}
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
  const T* worst() const { return heap_.empty() || heap_.size() < max_ ? nullptr : &heap_.front(); }
  /// Best first.
  std::vector<T> sorted() const {
    std::vector<T> sorted = heap_;
    std::ranges::sort(sorted, is_better);
    return sorted;
  }

 private:
  void keep(const T& value) {
    if (max_ == 0) return;
    if (heap_.size() == max_) {
      if (!is_better(value, heap_.front())) return;
      std::ranges::pop_heap(heap_, is_better);
      heap_.back() = value;
    } else {
      heap_.push_back(value);
    }
    std::ranges::push_heap(heap_, is_better);
  }
  std::size_t max_;
  std::int64_t count_ = 0;
  std::vector<T> heap_;  // the worst that is kept is in front
};

}  // namespace headscope::model
