#include "app/run/worker.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "app/run/run_prompt.h"
#include "app/run/sources/pattern_file.h"
#include "app/run/sources/weights_hash.h"
#include "model/files/error.h"
#include "model/pass/plan.h"
#include "system/file.h"
#include "system/memory.h"
#include "system/path_text.h"
#include "system/threads.h"

namespace headscope::app {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kShowEvery = std::chrono::milliseconds(40);  // parts of an answer, progress of a load

/// Whether to stop work on `question`: it is no longer asked, or a question that was not asked before now
/// comes first.
bool should_yield(const Question& question, const std::vector<Question>& before,
                  const std::vector<Question>& now) {
  const QuestionSet old(before.begin(), before.end());
  for (const Question& other : now) {
    if (other == question) return false;
    if (!old.contains(other)) return true;
  }
  return true;
}

bool runs_the_same(const WorkerRequest& a, const WorkerRequest& b) {
  return a.prompt == b.prompt && a.second == b.second && a.alignment == b.alignment &&
         a.second_model == b.second_model && a.second_request == b.second_request;
}

}  // namespace

struct Worker::Impl {
  explicit Impl(WorkerOptions o) : options(std::move(o)), workspace(options.threads) {}

  WorkerOptions options;
  model::Workspace workspace;  // the worker's thread only

  mutable system::Mutex mutex;
  system::Condition wakeup;
  WorkerRequest wanted;
  WorkerRequest want;         // the newest one that the worker's thread, which alone writes it, has seen
  std::uint64_t version = 1;  // version of `wanted`
  std::uint64_t settled = 0;  // the version with nothing left to do
  std::shared_ptr<const Snapshot> shown = std::make_shared<const Snapshot>();
  std::stop_source step_stop;         // stops the current step
  std::optional<Question> answering;  // the question being computed, if any

  // State of the worker's thread. Failures are not retried until an input changes.
  std::stop_token ending;
  const char* lacked_memory = nullptr;  // what failed and is not said yet
  Clock::time_point last_published;
  std::uint64_t loaded_request = 0;
  std::optional<WorkerRequest> tried;  // without its questions
  Memo memo;
  KeptPlan newest_plan;                                // newest plan of the shown model
  std::shared_ptr<const LoadedModel> second_patterns;  // the last pattern file used as a baseline
  struct SecondLoad {
    std::filesystem::path folder;
    std::uint64_t request = 0;
    std::shared_ptr<const LoadedModel> first;  // the first model at that time; of an empty folder null
    bool operator==(const SecondLoad&) const = default;
  };
  SecondLoad second;  // the second model loaded last, successfully or not
  Memo second_memo;   // for the second model's runs

  std::jthread thread;  // last member: starts after all others are built, ends first

  void publish(const std::function<void(Snapshot&)>& update) {
    // Only this thread writes `shown`: nothing slow happens under the lock, and the old snapshot is freed
    // outside of it.
    last_published = Clock::now();
    auto next = std::make_shared<Snapshot>(*shown);
    update(*next);
    std::shared_ptr<const Snapshot> shared = std::move(next);
    {
      const std::lock_guard lock(mutex);
      shown.swap(shared);
    }
    shared.reset();
    if (options.wake) options.wake();
  }

  void fail(const std::string& sentence) {
    publish([&](Snapshot& s) {
      s.error = sentence;
      ++s.error_count;
      if (std::exchange(s.busy, Busy::settled) == Busy::loading)
        s.load_ended = loaded_request, s.load_problem = sentence;
    });
  }

  /// Whether the current step is no longer wanted. The mutex is held.
  bool is_over() const {
    if (wanted.load_request != want.load_request) return true;
    if (shown->busy == Busy::loading) return wanted.load_cancel >= want.load_request;
    return !runs_the_same(wanted, want) ||
           (answering && should_yield(*answering, want.questions, wanted.questions));
  }

  /// A stop token for a step that begins now; that it is busy with it is already published.
  std::stop_token begin() {
    const std::lock_guard lock(mutex);
    step_stop = {};
    if (ending.stop_requested() || is_over()) step_stop.request_stop();
    return step_stop.get_token();
  }

  void work(const std::stop_token& end) {
    ending = end;
    while (!end.stop_requested()) {
      try {
        turn(end);
      } catch (const std::bad_alloc&) {  // there is not even enough for a sentence: it is said later
        workspace.free_scratch();
        system::return_freed_memory();
        constexpr std::chrono::milliseconds kPause(100);
        std::unique_lock lock(mutex);
        wakeup.wait_for(lock, kPause, [&] { return end.stop_requested(); });
      }
    }
  }

  /// Works until something is finished, or waits until there is something to do. Throws std::bad_alloc.
  void turn(const std::stop_token& end) {
    std::uint64_t now = 0;
    say_what_lacked_memory();
    {
      const std::lock_guard lock(mutex);
      want = wanted;
      now = version;
      answering.reset();
    }
    bool worked = true;
    // A load or a run that failed is marked as tried, and the next step follows. A question's failure is its
    // answer; if even that could not be kept, nothing is tried until the request changes.
    try {
      worked = step();
    } catch (const model::Stopped&) {  // the request has changed
      if (!answering) tried.reset();
    } catch (const std::bad_alloc&) {
      worked = !answering;
      lacked_memory = shown->busy == Busy::loading ? "loading the model" : "running the prompt";
    } catch (const std::exception& e) {
      worked = !answering;
      fail(e.what());
    }
    say_what_lacked_memory();
    if (worked) return;
    if (shown->busy != Busy::settled) publish([](Snapshot& s) { s.busy = Busy::settled; });
    std::unique_lock lock(mutex);
    if (version != now) return;
    settled = now;
    wakeup.notify_all();
    const auto asked = [&] { return end.stop_requested() || version != now; };
    constexpr std::chrono::seconds kRest(1);
    if (wakeup.wait_for(lock, kRest, asked)) return;
    lock.unlock();
    workspace.free_scratch();
    system::return_freed_memory();
    lock.lock();
    wakeup.wait(lock, asked);
  }

  void say_what_lacked_memory() {
    if (lacked_memory == nullptr) return;
    fail(not_enough_memory(lacked_memory));
    lacked_memory = nullptr;
  }

  /// Performs the most urgent step; false if there is nothing to do.
  bool step() {
    memo.want(want.questions);
    if (want.load_request != loaded_request) {
      loaded_request = want.load_request;
      load();
      return true;
    }
    if (!shown->model) return false;
    // A prompt waits for the second model only if it cannot run without it.
    const bool due = second_is_due();
    const bool first = due && (want.second_model.empty() || model::patches_from_second(want.prompt.edits));
    if (!first && (!tried || !runs_the_same(*tried, want))) {
      tried = want;
      tried->questions.clear();
      run_wanted();
      return true;
    }
    if (due) {
      load_second_model();
      return true;
    }
    // If the newest prompt failed, questions about the shown one are still answered.
    if (!shown->run || memo.newest() != shown->run->run.get()) return false;
    for (const Question& question : want.questions) {
      if (const auto known = memo.find(question); known && known->whole) continue;
      answer(question);
      return true;
    }
    return false;
  }

  void show_progress(double fraction) {
    publish([&](Snapshot& s) { s.fraction = fraction; });
  }
  /// The same for what reports progress more often than anybody sees it.
  void show_progress_now_and_then(double fraction) {
    if (Clock::now() - last_published >= kShowEvery) show_progress(fraction);
  }

  void load() {
    publish([&](Snapshot& s) {
      s.busy = Busy::loading;
      s.loading = system::text_of(want.model.filename());
      s.fraction = 0;
      s.error.clear();
      s.load_problem.clear();
    });
    std::shared_ptr<const LoadedModel> loaded;
    try {
      loaded = load_showing(want.model, begin());
    } catch (const model::Stopped&) {
      publish([&](Snapshot& s) { s.busy = Busy::settled, s.load_ended = want.load_request; });
      return;
    }
    memo = Memo(Memo::budget(loaded->config()));
    newest_plan = {};
    second_patterns.reset();
    tried.reset();
    publish([&](Snapshot& s) {
      s.model = std::move(loaded);  // the previous model's run is shown until the new one's first
      s.busy = Busy::settled;
      s.load_ended = want.load_request;
    });
  }

  std::shared_ptr<const LoadedModel> load_showing(const std::filesystem::path& folder, std::stop_token stop) {
    const auto progress = [this](double fraction, const char*) { show_progress_now_and_then(fraction); };
    return load_model(folder,
                      {.precision = options.precision, .stop = std::move(stop), .progress = progress});
  }

  SecondLoad wanted_second() const {
    return {want.second_model, want.second_request, want.second_model.empty() ? nullptr : shown->model};
  }
  bool second_is_due() const { return second != wanted_second(); }

  /// Loads the second model if needed, and runs the prompt again with it.
  void load_second_model() {
    auto loaded = shown->second_model;
    second = wanted_second();
    memo.forget_patched_from_second();
    second_memo = Memo(Memo::budget(shown->model->config()));
    newest_plan = {};
    tried.reset();
    publish([](Snapshot& s) { s.second_model.reset(), s.second_problem.clear(); });
    if (second.folder.empty() || shown->model->patterns) return;
    std::string problem;
    try {
      const std::stop_token stop = begin();
      if (!loaded || loaded->folder != second.folder ||
          loaded->weights_stamp != weights_stamp(second.folder, stop)) {
        publish([&](Snapshot& s) {
          s.busy = Busy::loading_second, s.loading = system::text_of(second.folder.filename());
          s.fraction = 0;
        });
        loaded = load_showing(second.folder, stop);
      }
      check_comparable(*shown->model, *loaded);
    } catch (const model::Stopped&) {
      second.first.reset();
      throw;
    } catch (const std::bad_alloc&) {
      problem = not_enough_memory("loading the second model");
    } catch (const std::exception& e) {
      problem = e.what();
    }
    if (!problem.empty()) {
      publish([&](Snapshot& s) { s.second_problem = problem; });
      return fail(problem);
    }
    publish(
        [&](Snapshot& s) { s.second_model = std::move(loaded), s.busy = Busy::settled, s.error.clear(); });
  }

  void run_wanted() {
    const auto start = Clock::now();
    publish([](Snapshot& s) { s.busy = Busy::running, s.fraction = 0; });
    const std::stop_token stop = begin();
    const auto run = std::make_shared<PromptRun>(app::run_prompt(
        prompt_to_run(stop), {workspace, stop, nullptr, &newest_plan,
                              [&](const PassOfRun& asked) { return kept_or_made(asked, stop); }}));
    run->prompt = want.prompt;
    memo.show(*run);
    // Avoid half-updated pictures: quick answers are shown together with the run.
    const std::vector<Question> questions = newest_questions();
    for (const Question& question : questions) {
      if (memo.find(question)) continue;
      const auto previous = memo.previous_answer(question);
      if (question.quick()) {
        kept_or_computed(question, *run, {}, {});
      } else if (auto part = previous ? question.reusable_part(*previous, *run) : std::nullopt) {
        memo.keep(question, std::make_shared<const Answer>(std::move(*part)));
      }
    }
    run->milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    publish([&](Snapshot& s) {
      s.run = run;
      s.error = s.second_problem;
      s.answers = memo.answers();
    });
  }

  PromptToRun prompt_to_run(const std::stop_token& stop) {
    PromptToRun what{.model = shown->model,
                     .prompt = want.prompt,
                     .second = want.second,
                     .alignment = want.alignment,
                     .cut = true};
    if (what.model->patterns) {
      what.second_model = patterns_of_second(stop);
      return what;
    }
    if (!second_is_due()) what.second_model = shown->second_model;
    if (what.second_model) return what;
    Prompt unedited = want.prompt;
    unedited.edits.clear();
    if (want.second == unedited) what.second.reset();
    if (!shown->second_problem.empty())  // patches from a model that could not be loaded are left out
      std::erase_if(what.prompt.edits, [](const auto& edit) { return model::patches_from_second(edit); });
    return what;
  }

  /// The pattern file that the second prompt names; null: none.
  std::shared_ptr<const LoadedModel> patterns_of_second(const std::stop_token& stop) {
    if (!want.second) return nullptr;
    const std::filesystem::path file = system::path_of(want.second->text);
    if (!system::is_file(file)) return nullptr;
    if (!second_patterns || second_patterns->folder != file ||
        second_patterns->weights_stamp != weights_stamp(file, stop))
      second_patterns = load_patterns(file, {.precision = options.precision, .stop = stop});
    return second_patterns;
  }

  std::shared_ptr<const model::Run> kept_or_made(const PassOfRun& asked, const std::stop_token& stop) {
    if (&asked.model != shown->model.get()) {
      auto run = second_memo.find_clean(asked.tokens);
      if (!run) run = pass(asked, second_memo, stop);
      second_memo.remember(run);
      return run;
    }
    if (asked.is_baseline)
      if (auto known = known_clean_run(asked.tokens)) return known;
    auto run = pass(asked, memo, stop);
    memo.remember_part(run);  // the next step may be stopped
    return run;
  }

  /// An unedited run that is kept or shown; null: none.
  std::shared_ptr<const model::Run> known_clean_run(const std::vector<int>& ids) {
    if (auto known = memo.find_clean(ids)) return known;
    if (shown->run && shown->run->model == shown->model)
      for (const PromptRun* kept : {shown->run.get(), shown->run->baseline.get()})
        if (kept && kept->model == shown->model && !kept->run->plan && kept->run->tokens == ids)
          return kept->run;
    return nullptr;
  }

  /// Keeps the finished part of a stopped pass.
  std::shared_ptr<const model::Run> pass(const PassOfRun& asked, Memo& kept, const std::stop_token& stop) {
    const model::Transformer& transformer = *asked.model.transformer;
    const auto base = kept.make_room_for(asked.tokens, transformer.config(), asked.options.plan.get());
    std::shared_ptr<const model::Run> partial;
    model::ForwardOptions forward = asked.options;
    forward.base = base.get();
    forward.stop = stop;
    forward.partial = &partial;
    forward.progress = [this](double fraction, const char*) { show_progress(fraction); };
    try {
      return transformer.forward(asked.tokens, workspace, forward);
    } catch (const model::Stopped&) {
      if (partial) kept.remember_part(partial);
      throw;
    }
  }

  /// The memo's answer to a question about its newest run; else computes and keeps it, with the parts that
  /// are shown. Throws model::Stopped.
  std::shared_ptr<const Answer> kept_or_computed(const Question& question, const PromptRun& run,
                                                 const std::stop_token& stop,
                                                 const Question::ComputeContext::Show& show) {
    const auto partial = memo.find(question), previous = memo.previous_answer(question);
    if (partial && partial->whole) return partial;
    const auto keep_part = [&](const Answer& part, double done) {
      if (part.value) memo.keep(question, std::make_shared<const Answer>(part));
      if (show) show(part, done);
    };
    // Quick answers are not worth keeping.
    const auto ask = [&](const Question& side, const Question::ComputeContext::Show& show_part) {
      if (!side.quick() || memo.find(side)) return kept_or_computed(side, run, stop, show_part);
      return std::make_shared<const Answer>(side.compute(run, {workspace, stop}));
    };
    const auto answer = std::make_shared<const Answer>(
        question.compute(run, {workspace, stop, partial.get(), previous.get(), keep_part, ask}));
    memo.keep(question, answer);
    return answer;
  }

  /// The current questions, if they are about the same prompt.
  std::vector<Question> newest_questions() {
    const std::lock_guard lock(mutex);
    return runs_the_same(wanted, want) ? wanted.questions : want.questions;
  }

  void answer(const Question& question) {
    {
      const std::lock_guard lock(mutex);
      answering = question;
    }
    const std::stop_token stop = begin();
    if (stop.stop_requested()) throw model::Stopped();
    publish([&](Snapshot& s) { s.busy = Busy::answering, s.fraction = 0; });
    kept_or_computed(question, *shown->run, stop,
                     [this](const Answer&, double done) { show_progress_now_and_then(done); });
    show_progress(1);
  }
};

Worker::Worker(WorkerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  try {
    impl_->thread = std::jthread([this](const std::stop_token& end) { impl_->work(end); });
  } catch (const std::system_error& error) {
    throw std::runtime_error("could not start a thread: " + error.code().message());
  }
}

Worker::~Worker() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->thread.request_stop();
    impl_->step_stop.request_stop();
  }
  impl_->wakeup.notify_all();
}

void Worker::want(WorkerRequest wanted) {
  // Questions about the prompt come before questions about the model, which may take minutes over many
  // prompts.
  std::ranges::stable_partition(wanted.questions, [](const Question& question) {
    return question.quick() || !question.is_model_only();
  });
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->wanted == wanted) return;
    std::swap(impl_->wanted, wanted);
    ++impl_->version;
    if (impl_->is_over()) impl_->step_stop.request_stop();
  }
  impl_->wakeup.notify_all();
}

std::shared_ptr<const Snapshot> Worker::snapshot() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->shown;
}

std::shared_ptr<const Snapshot> Worker::settle() {
  std::unique_lock lock(impl_->mutex);
  impl_->wakeup.wait(lock, [&] { return impl_->settled == impl_->version; });
  return impl_->shown;
}

}  // namespace headscope::app
