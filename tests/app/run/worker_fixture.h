#pragma once
#include <condition_variable>
#include <mutex>
#include <new>

#include "app/run/analyses/predictions.h"
#include "app/run/worker.h"
#include "model/files/error.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/source_folders.h"

namespace headscope::testing {

/// The answer that a snapshot has for a question about its run; null: none.
template <class Q>
std::shared_ptr<const app::AnswerOf<Q>> answer_of(const app::Snapshot& snapshot, const Q& question) {
  const auto known = snapshot.answers.find(question);
  return known ? std::static_pointer_cast<const app::AnswerOf<Q>>(known->value) : nullptr;
}

}  // namespace headscope::testing

namespace headscope::app {

/// Records what a test's questions do on the worker's thread.
class Log {
 public:
  void note(const std::string& name) {
    const std::lock_guard lock(mutex_);
    names_.push_back(name);
    changed_.notify_all();
  }
  std::vector<std::string> names() const {
    const std::lock_guard lock(mutex_);
    return names_;
  }
  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return names_.size() >= count; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  /// Returns false if it is stopped before the gate opens.
  bool wait_at_gate(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    return changed_.wait(lock, stop, [&] { return open_; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::string> names_;  // names of the questions, in the order in which they were started
  bool open_ = false;
};

struct Word {
  std::string text;
  int tries = 1;
  std::size_t bytes() const { return text.size(); }
};

/// Answers with a word; "fails" throws, "grows" exceeds the memory, "waits" shows a part and waits until it
/// is stopped or the gate opens.
template <bool quick>
struct SayWord {
  static constexpr std::string_view kName = "a word";
  static constexpr bool kQuick = quick;
  std::string name;
  std::shared_ptr<Log> log;
  bool operator==(const SayWord& other) const { return name == other.name; }
  Word compute(const PromptRun& run, const Computation<Word>& computation) const {
    const int tries = computation.partial != nullptr ? computation.partial->tries + 1 : 1;
    if (name == "waits") computation.show({"part", tries}, 0.5);
    log->note(name);
    if (name == "fails") throw std::runtime_error("The word cannot be said.");
    if (name == "grows") throw std::bad_alloc();
    if (name == "waits" && !log->wait_at_gate(computation.stop)) throw model::Stopped();
    return {name + " of " + run.prompt.text, tries};
  }
};

/// The same, but independent of the prompt.
struct SayOfModel : SayWord<false> {
  static constexpr bool kModelOnly = true;
};

/// Its answer for the previous prompt is reused as the first part of the next one's.
struct SayOn : SayWord<false> {
  std::optional<Word> reusable_part(const Word& previous, const PromptRun& run) const {
    if (run.prompt.text == "Apart") return std::nullopt;
    return Word{"kept from " + previous.text, previous.tries};
  }
};

using Say = SayWord<false>;
using SayQuickly = SayWord<true>;

/// The worker with the bundled model; work is counted in positions.
class WorkerOfTales : public ::testing::Test {
 protected:
  WorkerOfTales() {
    want_.model = headscope::testing::source_dir() / "assets" / "models" / "tales";
    want_.load_request = 1;
  }

  /// The answers of a new worker.
  static std::shared_ptr<const Snapshot> afresh(const WorkerRequest& want) {
    Worker fresh({.threads = 1, .wake = nullptr});
    fresh.want(want);
    return fresh.settle();
  }
  std::shared_ptr<const Snapshot> show(const std::string& text) {
    want_.prompt.text = text;
    return settled();
  }
  std::shared_ptr<const Snapshot> settled() {
    worker_.want(want_);
    return worker_.settle();
  }
  /// Waits until that number of questions has been started.
  void want_until(std::size_t count) {
    worker_.want(want_);
    log_->wait_for(count);
  }
  std::shared_ptr<const Snapshot> open(const std::filesystem::path& model) {
    want_.model = model;
    ++want_.load_request;
    return settled();
  }
  WorkerRequest wanting(const std::string& text) const {
    WorkerRequest want = want_;
    want.prompt.text = text;
    return want;
  }
  /// Makes these requests, one after the other, from within the next pass on the worker's thread.
  void interrupt_with(std::vector<WorkerRequest> wishes) {
    on_snapshot_ = [this, wishes = std::move(wishes)](const Snapshot& shown) mutable {
      if (shown.run) shown_prompts_.push_back(shown.run->prompt.text);
      if (shown.busy != Busy::running || shown.fraction == 0) return;
      for (const WorkerRequest& wish : std::exchange(wishes, {})) worker_.want(wish);
    };
  }
  Say say(const std::string& name) const { return {name, log_}; }

  std::shared_ptr<Log> log_ = std::make_shared<Log>();
  WorkerRequest want_;
  std::function<void(const Snapshot&)> on_snapshot_;  // on the worker's thread; set only while it is idle
  std::vector<std::string> shown_prompts_;
  Worker worker_{{.threads = 2, .wake = [this] {
                    if (on_snapshot_) on_snapshot_(*worker_.snapshot());
                  }}};  // last: its thread calls the members above
};

inline const model::Edits kHeadOff{model::ScaleValues{{{model::Site::z, 3}, 2, {}, {}}, 0}};

}  // namespace headscope::app
