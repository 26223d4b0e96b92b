#include "model/kernels/thread_pool.h"

#include <algorithm>
#include <utility>

#include "system/machine.h"

namespace headscope::model {
namespace {

/// How often a thread polls before it sleeps: about 50 us. Waking a thread takes about as long, and the gap
/// between loops of a pass is rarely longer.
constexpr int kPolls = 1000;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Waits until happened(), or until it has polled `polls` times.
template <class Condition>
void poll_until(int polls, const Condition& happened) {
  for (int i = 0; i < polls && !happened(); ++i) pause();
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  constexpr int kMax = 256;
  const int processors = system::available_processors();
  if (threads <= 0) threads = processors;
  threads = std::clamp(threads, 1, kMax);
  // With fewer processors than threads, polling would keep the others from working.
  if (threads <= processors) polls_ = kPolls;
  workers_.reserve(threads - 1);
  try {
    for (int thread = 1; thread < threads; ++thread)
      workers_.emplace_back([this, thread] { sleep_and_work(thread); });
  } catch (const std::exception&) {  // out of threads or memory: continues with fewer threads
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(int blocks, const BlockFunction& body) {
  if (workers_.empty() || blocks <= 1) {
    for (int block = 0; block < blocks; ++block) body(block, 0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    blocks_ = blocks;
    next_ = 0;
    error_ = nullptr;
    open_ = true;
    ++generation_;
  }
  wake_.notify_all();
  take_blocks(0);

  {
    const std::lock_guard lock(mutex_);
    open_ = false;  // sleeping threads are not waited for, since there is nothing left to do
  }
  poll_until(polls_, [this] { return working_ == 0; });
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return working_ == 0; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadPool::sleep_and_work(int thread) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    lock.unlock();
    poll_until(polls_, [&] { return generation_ != seen; });
    lock.lock();
    wake_.wait(lock, [&] { return ending_ || (open_ && generation_ != seen); });
    if (ending_) return;
    seen = generation_;
    ++working_;
    lock.unlock();
    take_blocks(thread);
    lock.lock();
    if (--working_ == 0) done_.notify_one();
  }
}

void ThreadPool::take_blocks(int thread) {
  try {
    for (int block; (block = next_.fetch_add(1, std::memory_order_relaxed)) < blocks_;)
      (*body_)(block, thread);
  } catch (...) {
    next_ = blocks_;
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

}  // namespace headscope::model
