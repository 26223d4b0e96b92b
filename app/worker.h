#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "app/data.h"
#include "app/view.h"

namespace headscope::app {

/// All that has been computed, as one immutable value: what the window shows. Parts may be null until they
/// are there; parts of an older prompt stay until the new ones come.
struct Snapshot {
  std::shared_ptr<const LoadedModel> model;
  std::shared_ptr<const PromptRun> run;
  std::shared_ptr<const HeadData> head;          ///< of `run`
  std::shared_ptr<const NextToken> next;         ///< of `run`
  std::shared_ptr<const Thumbnails> thumbnails;  ///< those not computed yet for `run` are the former run's
  std::shared_ptr<const Statistics> statistics;  ///< of `run`, or null
  std::size_t cache_bytes = 0;                   ///< what the runs of this and former prompts take
  std::size_t cache_budget = 0;                  ///< and what they may take
  std::string busy;               ///< what is being done, for the status line; empty when settled
  double fraction = 0;            ///< of what is being done, in [0, 1]
  std::string error;              ///< one sentence, of the newest work; empty when it went well
  std::uint64_t error_count = 0;  ///< grows with every error, so that the same one twice is seen twice
  bool loading = false;           ///< a model is being loaded (it can be cancelled)
};

/// What the window wants to see. The newest wins; the worker finds out itself what has to be computed for it.
struct Wanted {
  std::filesystem::path model;
  std::uint64_t load_request = 0;  ///< a new number loads `model`, even if it is the same folder
  std::uint64_t load_cancel = 0;   ///< load requests up to this number are given up
  Prompt prompt;
  Selection selection;
  bool stages = false;  ///< of the shown head: not its pattern alone
  bool operator==(const Wanted&) const = default;
};

struct WorkerOptions {
  int threads = 0;
  model::Precision precision = model::Precision::f32;
  std::function<void()> wake;  ///< called from the worker's thread whenever there is a new snapshot
  /// Called from the worker's thread before each step, with its name ("the small maps"). Throws what the step may
  /// throw: for tests of failures.
  std::function<void(std::string_view step)> before_step = {};
};

/// One thread that computes what is wanted, in this order: load a model, run the prompt with the shown head
/// and the next token, thumbnails, statistics. A new prompt stops the work on the old one (finished chunks
/// are kept); a new selection never stops a run, and neither stops a load. A step that failed is tried again
/// only when something that it depends on has changed; the others go on.
class Worker {
 public:
  explicit Worker(WorkerOptions options);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void want(Wanted wanted);                          ///< returns at once
  std::shared_ptr<const Snapshot> snapshot() const;  ///< never null, never waits for work
  /// Waits until all that is wanted has been computed (or failed). For pictures without a window, and for
  /// tests.
  std::shared_ptr<const Snapshot> settle();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headscope::app
