#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace headscope::app {

/// The system has no thread left for a task.
struct NoThread : std::runtime_error {
  NoThread() : std::runtime_error("Could not start a thread: close other programs and try again.") {}
};

/// How many tasks of all kinds run. While one does, main must not destroy statics, which it may use.
inline std::atomic<int> running_tasks = 0;

/// Tasks that may take long or hang forever (a dead network folder, another program), each on a thread of its
/// own; the thread that owns this collects their results. Nothing here waits for a task: one that hangs is
/// left behind, also when the program ends. So a task holds all it needs by value, and returns its failure as
/// its result; what it throws is dropped, and then there is no result.
template <class T>
class Background {
 public:
  /// `wake` is called from another thread when there is a result to take, never after the destructor has
  /// returned. It has to be quick, as the destructor waits for it, and may not destroy this.
  explicit Background(std::function<void()> wake) : shared_(std::make_shared<Shared>()) {
    shared_->wake = std::move(wake);
  }
  ~Background() {
    const std::lock_guard lock(shared_->waking);
    shared_->wake = nullptr;
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// A task can call it to report a result before it ends.
  using Report = std::function<void(T)>;

  /// Starts a task. All results of older ones of the same topic are dropped, past and future. Throws NoThread
  /// if the system has no thread left.
  void run(std::string topic, std::function<T()> work) {
    run(std::move(topic), [work = std::move(work)](const Report&) { return work(); });
  }
  void run(std::string topic, std::function<T(const Report&)> work) {
    std::uint64_t ticket = 0;
    {
      const std::lock_guard lock(shared_->mutex);
      ticket = ++shared_->tickets;
      shared_->newest[topic] = ticket;
      std::erase_if(shared_->results, [&](const Result& result) { return result.topic == topic; });
    }
    // Counted as long as the thread has it: also where no thread takes it.
    std::shared_ptr<void> count = shared_->counted(topic);
    try {
      std::thread([shared = shared_, topic = std::move(topic), ticket, work = std::move(work),
                   count = std::move(count)]() mutable noexcept {
        try {
          const auto report = [&](T value) { shared->put({topic, std::move(value)}, ticket); };
          report(work(report));
        } catch (...) {  // there is nobody to tell
        }
        work = nullptr;
        count.reset();
      }).detach();
    } catch (const std::system_error&) {
      throw NoThread();
    }
  }

  /// Waits until no task of the topic runs, at most for `time`. Whether none runs.
  bool wait(const std::string& topic, std::chrono::milliseconds time) {
    std::unique_lock lock(shared_->mutex);
    return shared_->ended.wait_for(lock, time, [&] { return shared_->running[topic] == 0; });
  }

  /// The results since the last call, in order.
  std::vector<T> take() {
    std::vector<Result> results;
    {
      const std::lock_guard lock(shared_->mutex);
      results.swap(shared_->results);
    }
    std::vector<T> values;
    values.reserve(results.size());
    for (Result& result : results) values.push_back(std::move(result.value));
    return values;
  }

 private:
  struct Result {
    std::string topic;
    T value;
  };

  struct Shared {
    std::mutex mutex;  // held for moments only
    std::uint64_t tickets = 0;
    std::map<std::string, std::uint64_t> newest;  // of each topic
    std::map<std::string, int> running;           // tasks of each topic
    std::condition_variable ended;                // one of them
    std::vector<Result> results;
    std::mutex waking;  // held while `wake` runs, so that the destructor can wait for that and for no more
    std::function<void()> wake;

    /// Counts a task of the topic as running until the last copy of the result is gone.
    std::shared_ptr<void> counted(const std::string& topic) {
      {
        const std::lock_guard lock(mutex);
        ++running[topic];
      }
      ++running_tasks;
      return {nullptr, [this, topic](void*) {
                {
                  const std::lock_guard lock(mutex);
                  --running[topic];
                  ended.notify_all();
                }
                --running_tasks;
              }};
    }

    void put(Result result, std::uint64_t ticket) {
      {
        const std::lock_guard lock(mutex);
        if (newest[result.topic] != ticket) return;
        results.push_back(std::move(result));
      }
      const std::lock_guard lock(waking);
      if (wake) wake();
    }
  };

  std::shared_ptr<Shared> shared_;
};

}  // namespace headscope::app
