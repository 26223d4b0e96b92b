#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "system/threads.h"

namespace headscope::app {

/// The number of running tasks of all kinds. While it is not 0, main must not destroy statics, which a task
/// may use.
inline std::atomic<int> running_tasks = 0;

/// Runs tasks that may take long or hang (a dead network folder, another program), each on its own thread;
/// the owning thread collects their results. If the system cannot start a thread, a task runs at once on the
/// owning one. The destructor does not wait: a task that hangs is abandoned, also when the program ends. So a
/// task must hold everything it needs by value and return a failure as its result; if it throws, there is no
/// result.
template <class T>
class Background {
 public:
  /// `wake` is called from another thread when there is a result to take, never after the destructor has
  /// returned. It must be quick, since the destructor waits for it, and must not destroy this object.
  explicit Background(std::function<void()> wake) : shared_(std::make_shared<Shared>()) {
    shared_->wake = std::move(wake);
  }
  ~Background() {
    const std::lock_guard lock(shared_->waking);
    shared_->wake = nullptr;
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Called by a task to report a result before it ends.
  using Report = std::function<void(T)>;

  /// Starts a task. Drops all results of older tasks on the same topic, past and future.
  void run(const std::string& topic, std::function<T()> work) {
    run(topic, [work = std::move(work)](const Report&) { return work(); });
  }
  void run(const std::string& topic, std::function<T(const Report&)> work) {
    std::uint64_t ticket = 0;
    {
      const std::lock_guard lock(shared_->mutex);
      ticket = ++shared_->newest[topic];
      std::erase_if(shared_->results, [&](const Result& result) { return result.topic == topic; });
    }
    start(topic, [shared = shared_, topic, ticket, work = std::move(work)] {
      const auto report = [&](T value) {
        shared->put({topic, std::move(value)}, [&] { return shared->newest[topic] == ticket; });
      };
      report(work(report));
    });
  }

  /// Starts a task once those before it on the same topic have ended, and keeps all their results. A topic
  /// must not be used for `run`, too.
  void run_in_order(const std::string& topic, std::function<T()> work) {
    const auto end = std::make_shared<std::promise<void>>();  // kept by destroying the task
    const auto before = std::exchange(ends_[topic], end->get_future().share());
    start(topic, [shared = shared_, topic, work = std::move(work), before, end] {
      if (before.valid()) before.wait();
      shared->put({topic, work()}, [] { return true; });
    });
  }

  /// Waits until no task on the topic runs, at most for `time`. Returns whether none runs.
  bool wait(const std::string& topic, std::chrono::milliseconds time) {
    std::unique_lock lock(shared_->mutex);
    return shared_->ended.wait_for(lock, time, [&] { return shared_->running[topic] == 0; });
  }

  /// Waits until no task that was started in order runs, at most for `time`. Returns the topics on which one
  /// still does.
  std::vector<std::string> wait_in_order(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    std::vector<std::string> late;
    for (const auto& [topic, ended] : ends_)
      if (ended.wait_until(end) != std::future_status::ready) late.push_back(topic);
    return late;
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
    system::Mutex mutex;                          // held only briefly
    std::map<std::string, std::uint64_t> newest;  // number of the newest task on each topic
    std::map<std::string, int> running;           // how many tasks on each topic
    system::Condition ended;                      // notified when a task ends
    std::vector<Result> results;
    system::Mutex waking;  // held while `wake` runs, so that the destructor can wait for just that
    std::function<void()> wake;

    /// Counts a task on the topic as running until the last copy of the returned pointer is gone.
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

    /// Unless `is_wanted`, called under the mutex, is false.
    template <class IsWanted>
    void put(Result result, IsWanted is_wanted) {
      {
        const std::lock_guard lock(mutex);
        if (!is_wanted()) return;
        results.push_back(std::move(result));
      }
      const std::lock_guard lock(waking);
      if (wake) wake();
    }
  };

  /// What `work` throws is dropped.
  void start(const std::string& topic, std::function<void()> work) {
    // Counts the task until the last copy is gone; what counts must outlive that.
    auto task = [shared = shared_, work = std::move(work),
                 count = shared_->counted(topic)]() mutable noexcept {
      try {
        work();
      } catch (...) {  // nobody to report to
      }
      work = nullptr;
      count.reset();
    };
    try {
      system::start_detached(task);
    } catch (const std::system_error&) {
      task();
    }
  }

  std::map<std::string, std::shared_future<void>> ends_;  // of the last task in order on each topic
  std::shared_ptr<Shared> shared_;
};

}  // namespace headscope::app
