#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>

#include "model/kernels/float_memory.h"
#include "model/kernels/kernels.h"
#include "model/kernels/thread_pool.h"
#include "model/kernels/view.h"
#include "model/kernels/workspace.h"

namespace headscope::model {

/// Memory that grows to the largest requested size. Its content is undefined.
class Buffer {
 public:
  /// The number of floats allocated for `size`: whole huge pages once it exceeds a quarter of one.
  static std::size_t room_for(std::size_t size);

  /// Returns at least `size` floats; their address changes when the buffer grows.
  float* reserve(std::size_t size);
  float* data() { return values_.get(); }  ///< null before the first reserve()

  FloatRows rows(int rows, int cols) {
    return {reserve(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols)), rows, cols, cols};
  }

 private:
  FloatMemory values_;
  std::size_t size_ = 0;
};

/// A thread pool, scratch memory for each of its threads, and the inner loops to run.
class Workers {
 public:
  explicit Workers(int threads, const PanelKernels& kernels = fastest_kernels())
      : kernels_(kernels), pool_(threads) {}
  ThreadPool& pool() { return pool_; }
  int threads() const { return pool_.threads(); }
  const PanelKernels& kernels() const { return kernels_; }

  /// Gives every thread at least `size` floats of scratch memory. Must not be called from within a body.
  void reserve_scratch(std::size_t size);

  /// Calls body(block, scratch) for every block in [0, blocks), in parallel; see ThreadPool::parallel_for.
  /// The scratch memory is that of reserve_scratch; null if none was reserved.
  template <class Body>
  void parallel_for(int blocks, const Body& body) {
    pool_.parallel_for(blocks, [&](int block, int thread) { body(block, scratch_of(thread)); });
  }

  /// Calls body(first, count) for groups of at most `group` of the rows [0, rows).
  template <class Body>
  void parallel_for_rows(int rows, int group, const Body& body) {
    pool_.parallel_for(divide_up(rows, group), [&](int block, int) {
      const int first = block * group;
      body(first, std::min(group, rows - first));
    });
  }

  /// Calls body(i) for rows [0, rows), several rows per task.
  template <class Body>
  void for_rows(int rows, const Body& body) {
    constexpr int kGroupsPerThread = 4, kMaxRows = 16;
    const int group = std::clamp(rows / (threads() * kGroupsPerThread), 1, kMaxRows);
    parallel_for_rows(rows, group, [&](int first, int count) {
      for (int i = first; i < first + count; ++i) body(i);
    });
  }

 private:
  float* scratch_of(int thread) { return scratch_.data() + thread * scratch_size_; }

  PanelKernels kernels_;
  ThreadPool pool_;
  Buffer scratch_;                // for all threads
  std::size_t scratch_size_ = 0;  // for each thread
};

struct Workspace::Impl {
  explicit Impl(int threads) : workers(threads) {}

  Workers workers;
  std::shared_ptr<PageMemory> pages = std::make_shared<PageMemory>();
  Buffer activations;  // activations of one chunk of a pass, or a block of statistics
  Buffer gradients;    // derivatives, and what is recomputed for them
  Buffer transposed;   // derivatives, transposed for a product
  Buffer scores;       // of one head, for hooks, or of one block of queries, for derivatives
  Buffer result;       // one head's part of a block's output, or columns of a product
  Buffer logits;       // of a block of positions
};

}  // namespace headscope::model
