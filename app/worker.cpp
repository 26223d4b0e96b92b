#include "app/worker.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "app/run_cache.h"
#include "model/error.h"

namespace headscope::app {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// How often unfinished thumbnails are shown.
constexpr auto kShowEvery = std::chrono::milliseconds(40);

/// Thumbnails that are made before looking whether something more urgent is wanted.
constexpr int kHeadsPerThread = 2;

/// Something to be made of the run that is shown.
struct Step {
  std::string_view name;
  Selection of = {};  ///< the head or the position
  bool stages = false;
  bool operator==(const Step&) const = default;
};

}  // namespace

struct Worker::Impl {
  explicit Impl(WorkerOptions o) : options(std::move(o)), workspace(options.threads) {}

  WorkerOptions options;
  model::Workspace workspace;  // the worker's thread only

  mutable std::mutex mutex;
  std::condition_variable changed;
  Wanted wanted;
  std::shared_ptr<const Snapshot> shown = std::make_shared<Snapshot>();
  std::stop_source stop_load;
  std::stop_source stop_run;  // the work on one prompt
  bool idle = false;          // the worker sleeps: everything wanted is there, or has failed

  // The worker's own memory of what has been tried; a failure is not tried again until what is wanted
  // changes.
  std::uint64_t loaded_request = 0;
  std::optional<Prompt> tried_prompt;
  std::vector<Step> failed;  // of the shown run
  std::string_view doing;
  std::uint64_t generation = 0;
  RunCache cache;
  std::shared_ptr<const Statistics>
      statistics_before;  // of the loaded model; those of a new prompt begin with them

  std::jthread thread;  // last: starts when all else is there, ends first

  void publish(const std::function<void(Snapshot&)>& change) {
    {
      const std::lock_guard lock(mutex);
      auto next = std::make_shared<Snapshot>(*shown);
      change(*next);
      shown = std::move(next);
    }
    if (options.wake) options.wake();
  }

  void fail(const std::string& sentence) {
    publish([&](Snapshot& s) {
      s.error = sentence;
      ++s.error_count;
      s.busy.clear();
      s.loading = false;
    });
  }

  void begin(std::string_view step) {
    doing = step;
    if (options.before_step) options.before_step(step);
  }

  /// Does a step of the shown run, unless it has failed before: then false.
  template <class Work>
  bool attempt(const Step& step, const Work& work) {
    if (std::ranges::find(failed, step) != failed.end()) return false;
    try {
      begin(step.name);
      work();
    } catch (const model::Stopped&) {
      throw;
    } catch (const std::exception&) {
      failed.push_back(step);
      throw;
    }
    return true;
  }

  void work(const std::stop_token& end) {
    while (!end.stop_requested()) {
      Wanted want;
      std::stop_token stop;
      {
        std::unique_lock lock(mutex);
        want = wanted;
        if (stop_run.stop_requested()) stop_run = {};
        stop = stop_run.get_token();
      }
      bool worked = false;
      try {
        worked = step(want, stop);
      } catch (const model::Stopped&) {
        worked = true;
      } catch (const std::bad_alloc&) {
        fail("There is not enough memory for " + std::string(doing) + ".");
        worked = true;
      } catch (const std::exception& e) {
        fail(e.what());
        worked = true;
      }
      if (worked) continue;
      std::unique_lock lock(mutex);
      if (wanted != want) continue;
      if (!shown->busy.empty()) {
        auto settled = std::make_shared<Snapshot>(*shown);
        settled->busy.clear();
        shown = std::move(settled);
        lock.unlock();
        if (options.wake) options.wake();
        lock.lock();
        if (wanted != want) continue;
      }
      idle = true;
      changed.notify_all();
      changed.wait(lock, [&] { return end.stop_requested() || !idle; });
    }
  }

  /// Does the most urgent thing that is missing; false when nothing is.
  bool step(const Wanted& want, const std::stop_token& stop) {
    if (want.load_request != loaded_request) {
      load(want);
      return true;
    }
    if (!shown->model) return false;
    if (!tried_prompt || *tried_prompt != want.prompt) {
      run_prompt(want, stop);
      return true;
    }
    if (!shown->run || shown->run->prompt != want.prompt || shown->run->model != shown->model) return false;
    const Selection selection = clamped(want.selection, *shown->run);
    if (!has_head(selection, want.stages) &&
        attempt({"the head", {selection.layer, selection.head, 0}, want.stages}, [&] {
          auto head = std::make_shared<HeadData>(
              compute_head(*shown->run, selection.layer, selection.head, want.stages));
          publish([&](Snapshot& s) { s.head = std::move(head); });
        })) {
      return true;
    }
    const bool has_next = shown->next && shown->next->position == selection.query;
    if (!has_next && attempt({"the next token", {0, 0, selection.query}}, [&] {
          auto next = std::make_shared<NextToken>(compute_next(*shown->run, selection.query, workspace));
          publish([&](Snapshot& s) { s.next = std::move(next); });
        })) {
      return true;
    }
    if (thumbnails_done < thumbnail_count() && attempt({"the small maps"}, [&] { thumbnails(want, stop); })) {
      return true;
    }
    return !shown->statistics && attempt({"the token statistics"}, [&] {
      publish([](Snapshot& s) { s.busy = "token statistics"; });
      auto statistics = std::make_shared<Statistics>(
          compute_statistics(*shown->run, workspace, stop, statistics_before.get()));
      statistics_before = statistics;
      publish([&](Snapshot& s) { s.statistics = std::move(statistics); });
    });
  }

  bool has_head(const Selection& selection, bool stages) const {
    return shown->head && shown->head->layer == selection.layer && shown->head->head == selection.head &&
           (shown->head->has_stages() || !stages);
  }

  void load(const Wanted& want) {
    std::stop_token stop;
    {
      const std::lock_guard lock(mutex);
      stop_load = {};
      if (wanted.load_cancel >= want.load_request) stop_load.request_stop();
      stop = stop_load.get_token();
    }
    loaded_request = want.load_request;
    publish([&](Snapshot& s) {
      s.busy = "loading " + want.model.filename().string();
      s.fraction = 0;
      s.loading = true;
      s.error.clear();
    });
    auto last_shown = Clock::now();
    model::LoadOptions load_options;
    load_options.precision = options.precision;
    load_options.stop = stop;
    load_options.progress = [&](double fraction, const char*) {
      if (Clock::now() - last_shown < kShowEvery) return;
      last_shown = Clock::now();
      publish([&](Snapshot& s) { s.fraction = fraction; });
    };
    std::shared_ptr<const LoadedModel> loaded;
    try {
      begin("loading the model");
      loaded = load_model(want.model, load_options);
    } catch (const model::Stopped&) {
      publish([](Snapshot& s) { s.busy.clear(), s.loading = false; });
      return;
    }
    cache.clear();
    statistics_before = nullptr;
    tried_prompt.reset();
    publish([&](Snapshot& s) {
      s.model =
          std::move(loaded);  // the former model's run stays on the screen until the first of the new one
      s.busy.clear();
      s.loading = false;
    });
  }

  void run_prompt(const Wanted& want, const std::stop_token& stop) {
    const auto start = Clock::now();
    publish([](Snapshot& s) { s.busy = "running", s.fraction = 0; });
    auto run = std::make_shared<PromptRun>();
    run->model = shown->model;
    run->prompt = want.prompt;
    tried_prompt = want.prompt;
    std::shared_ptr<const model::Run> partial;
    try {
      begin("running the prompt");
      run->tokens = tokenize(*run->model, want.prompt);
      const std::vector<int> ids = run->tokens.ids();
      const model::Config& config = run->model->transformer->config();
      model::ForwardOptions forward;
      const auto base = cache.make_room_for(ids, config, RunCache::budget(config));
      forward.base = base.get();
      forward.stop = stop;
      forward.partial = &partial;
      forward.progress = [this](double fraction, const char*) {
        publish([&](Snapshot& s) { s.fraction = fraction; });
      };
      run->run = run->model->transformer->forward(ids, workspace, forward);
      run->milliseconds = milliseconds_since(start);
    } catch (const model::Stopped&) {
      tried_prompt.reset();
      if (partial) cache.remember_part(partial);
      throw;
    }
    run->generation = ++generation;
    // The picture changes at once, never half: the shown head and the next token come with the run.
    const Wanted newest = newest_of(want);
    const Selection selection = clamped(newest.selection, *run);
    auto head =
        std::make_shared<HeadData>(compute_head(*run, selection.layer, selection.head, newest.stages));
    auto next = std::make_shared<NextToken>(compute_next(*run, selection.query, workspace));
    run->not_finite = not_finite_note(*run->run, next->position, next->logits);
    run->milliseconds = milliseconds_since(start);
    cache.remember(run->run);  // as the newest: it is shown from now on
    failed.clear();
    thumbnails_done = 0;
    publish([&](Snapshot& s) {
      const bool other_model = !s.run || s.run->model != run->model;
      s.run = run;
      s.head = std::move(head);
      s.next = std::move(next);
      s.statistics = nullptr;
      if (other_model) s.thumbnails = nullptr;
      s.cache_bytes = cache.bytes();
      s.cache_budget = RunCache::budget(run->run->config);
      s.busy = "thumbnails";
      s.error.clear();
    });
  }

  /// What is wanted of the same prompt by now.
  Wanted newest_of(const Wanted& want) {
    const std::lock_guard lock(mutex);
    return wanted.prompt == want.prompt ? wanted : want;
  }

  // Thumbnails: the chosen layer first, then from the top; shown as they come.
  int thumbnails_done = 0;
  int first_thumbnail = 0;
  int thumbnail_count() const {
    const auto& config = shown->run->run->config;
    return config.n_layer * config.n_head;
  }

  void thumbnails(const Wanted& want, const std::stop_token& stop) {
    auto all = shown->thumbnails ? *shown->thumbnails : Thumbnails{};
    all.of_head.resize(static_cast<std::size_t>(thumbnail_count()));
    const int heads = shown->run->run->config.n_head;
    if (thumbnails_done == 0) first_thumbnail = clamped(want.selection, *shown->run).layer * heads;
    const auto start = Clock::now();
    while (thumbnails_done < thumbnail_count() && Clock::now() - start < kShowEvery) {
      const int count = std::min(kHeadsPerThread * workspace.threads(), thumbnail_count() - thumbnails_done);
      std::vector<model::HeadIndex> indices;
      for (int i = 0; i < count; ++i) {
        const int index = (first_thumbnail + thumbnails_done + i) % thumbnail_count();
        indices.push_back({index / heads, index % heads});
      }
      std::vector<Thumbnail> made = compute_thumbnails(*shown->run, indices, workspace, stop);
      for (std::size_t i = 0; i < made.size(); ++i) {
        const auto [layer, head] = indices[i];
        all.of_head[static_cast<std::size_t>(layer * heads + head)] = std::move(made[i]);
      }
      thumbnails_done += count;
    }
    auto done = std::make_shared<Thumbnails>(std::move(all));
    publish([&](Snapshot& s) { s.thumbnails = std::move(done); });
  }
};

Worker::Worker(WorkerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  impl_->thread = std::jthread([this](const std::stop_token& end) { impl_->work(end); });
}

Worker::~Worker() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->thread.request_stop();
    impl_->stop_load.request_stop();
    impl_->stop_run.request_stop();
  }
  impl_->changed.notify_all();
}

void Worker::want(Wanted wanted) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->wanted == wanted) return;
    if (wanted.prompt != impl_->wanted.prompt || wanted.load_request != impl_->wanted.load_request)
      impl_->stop_run.request_stop();
    if (wanted.load_cancel >= wanted.load_request || wanted.load_request != impl_->wanted.load_request)
      impl_->stop_load.request_stop();
    impl_->wanted = std::move(wanted);
    impl_->idle = false;
  }
  impl_->changed.notify_all();
}

std::shared_ptr<const Snapshot> Worker::snapshot() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->shown;
}

std::shared_ptr<const Snapshot> Worker::settle() {
  std::unique_lock lock(impl_->mutex);
  impl_->changed.wait(lock, [&] { return impl_->idle; });
  return impl_->shown;
}

}  // namespace headscope::app
