#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/run/memo.h"
#include "app/run/prompt_run.h"
#include "app/run/question.h"

namespace headscope::app {

/// What the worker is doing.
enum class Busy { settled, loading, loading_second, running, answering };

/// Everything computed so far, as one immutable value. Parts may be null until they are computed.
struct Snapshot {
  std::shared_ptr<const LoadedModel> model;
  std::shared_ptr<const PromptRun> run;  ///< an older prompt's or model's run until the new one is there
  std::shared_ptr<const LoadedModel> second_model;  ///< null: none, or none yet
  std::string second_problem;  ///< why the requested second model is missing; empty: it is loaded, or will be
  KnownAnswers answers;        ///< the known answers about `run`
  Busy busy = Busy::settled;
  double fraction = 0;            ///< progress, in [0, 1]
  std::string error;              ///< one sentence about the newest load or run; empty: it succeeded
  std::uint64_t error_count = 0;  ///< grows with every error, so that a repeated error is noticed
  std::string loading;            ///< name of the model that `busy` is loading
  std::uint64_t load_ended = 0;   ///< the newest load request that ended, successfully or not
  std::string load_problem;       ///< why that failed: one sentence; empty also if it was cancelled
};

/// What the window wants to see. The newest request wins.
struct WorkerRequest {
  std::filesystem::path model;
  std::uint64_t load_request = 0;  ///< a new number loads `model`, even if it is the same folder
  std::uint64_t load_cancel = 0;   ///< load requests up to this number are cancelled
  Prompt prompt;
  /// The second prompt; nothing: compare with the unedited run. For patterns (see PatternFile) its text is
  /// the path of another pattern file.
  std::optional<Prompt> second = {};
  Alignment alignment = Alignment::position;  ///< alignment of the two prompts
  /// The model that `second` runs in; empty: the same. While it is not loaded, or if it cannot be loaded or
  /// compared (see check_comparable), it counts as empty.
  std::filesystem::path second_model = {};
  std::uint64_t second_request = 0;  ///< a new number loads `second_model`, even if it is the same folder
  std::vector<Question> questions;   ///< about the prompt's run, most urgent first
  bool operator==(const WorkerRequest&) const = default;
};

struct WorkerOptions {
  int threads = 0;
  model::Precision precision = model::Precision::f32;
  std::function<void()> wake;  ///< called on the worker's thread for every new snapshot
};

/// One thread that loads the model, runs the prompt, loads the second model and runs the comparison in it,
/// and answers the questions one after the other. A new prompt stops work on the old one (finished chunks are
/// kept); a question is stopped when it is no longer asked, or a more urgent one arrives (parts of its answer
/// that were shown are kept). Failures are retried only when the prompt, the model or the question changes.
class Worker {
 public:
  explicit Worker(WorkerOptions options);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void want(WorkerRequest wanted);                   ///< returns immediately
  std::shared_ptr<const Snapshot> snapshot() const;  ///< never null, never waits for work
  /// Waits until everything requested is computed, or has failed.
  std::shared_ptr<const Snapshot> settle();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headscope::app
