#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "system/threads.h"

namespace headscope::model {

/// Threads that share the blocks of one loop at a time and sleep in between. They stay awake for a moment
/// after a loop, since a forward pass is one loop after another. The calling thread works, too.
class ThreadPool {
 public:
  /// `threads` <= 0: as many as there are processors available to this process. Fewer if the system cannot
  /// start more.
  explicit ThreadPool(int threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls body(block, thread) for every block in [0, blocks), in any order, and returns when all are done.
  /// `thread` is in [0, threads()), and no two bodies run concurrently with the same one. An exception from a
  /// body ends the loop early, and the first one is rethrown. Does not allocate. Must not be called from
  /// within a body, or by two threads at once.
  template <class Body>
  void parallel_for(int blocks, const Body& body) {
    run(blocks, std::cref(body));  // to which a std::function refers without allocating
  }

 private:
  using BlockFunction = std::function<void(int block, int thread)>;
  void run(int blocks, const BlockFunction& body);
  void sleep_and_work(int thread);
  void take_blocks(int thread);

  system::Mutex mutex_;
  system::Condition wake_, done_;
  // Written while the mutex is held; awake threads read it without.
  std::atomic<std::uint64_t> generation_ = 0;
  std::atomic<int> working_ = 0;
  // Guarded by the mutex.
  bool open_ = false;  // whether a worker that wakes up may still join the loop
  bool ending_ = false;
  std::exception_ptr error_;
  // Written before the loop opens, constant while it is open.
  const BlockFunction* body_ = nullptr;
  int blocks_ = 0;
  std::atomic<int> next_ = 0;

  int polls_ = 0;  // number of polls for the next loop before going to sleep
  std::vector<std::thread> workers_;
};

}  // namespace headscope::model
