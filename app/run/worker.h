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

/// What the worker does.
enum class Busy { settled, loading, loading_second, running, answering };

/// All that has been computed, as one immutable value: what the window shows. Parts may be null until they
/// are there.
struct Snapshot {
  std::shared_ptr<const LoadedModel> model;
  std::shared_ptr<const PromptRun> run;  ///< of an older prompt, or model, until that of the new one comes
  std::shared_ptr<const LoadedModel> second_model;  ///< that is compared with; null: none, or none yet
  std::string second_problem;  ///< why there is none though one is wanted; empty: it is loaded, or will be
  std::shared_ptr<const KnownAnswers> answers;  ///< what is known of `run`; never null
  std::size_t memo_bytes = 0;   ///< what the runs of this and previous prompts and answers take
  std::size_t memo_budget = 0;  ///< and what they may take
  Busy busy = Busy::settled;
  double fraction = 0;            ///< of what is being done, in [0, 1]
  std::string error;              ///< one sentence, of the newest load or run; empty when it went well
  std::uint64_t error_count = 0;  ///< grows with every error, so that the same one twice is seen twice
  std::string loading;            ///< name of the model that `busy` is loading
  std::uint64_t load_ended = 0;   ///< the newest request to load that came to an end, well or not
  std::string load_problem;  ///< why that did not go well: one sentence; empty where it was cancelled, too
};

/// What the window wants to see. The newest wins.
struct Wanted {
  std::filesystem::path model;
  std::uint64_t load_request = 0;  ///< a new number loads `model`, even if it is the same folder
  std::uint64_t load_cancel = 0;   ///< load requests up to this number are given up
  Prompt prompt;
  /// What it is compared with; nothing: itself with nothing changed. Of patterns (see PatternFile) the text
  /// is the path of another file of them.
  std::optional<Prompt> second = {};
  Alignment alignment = Alignment::position;  ///< of the two
  /// The model that `second` runs in; empty: the same. While it is not there yet, or where it cannot be
  /// loaded or compared (see check_comparable), it is as if none were wanted.
  std::filesystem::path second_model = {};
  std::uint64_t second_request = 0;  ///< a new number loads `second_model`, even if it is the same folder
  std::vector<Question> questions;   ///< of the prompt's run, those to be answered first in front
  bool operator==(const Wanted&) const = default;
};

struct WorkerOptions {
  int threads = 0;
  model::Precision precision = model::Precision::f32;
  std::function<void()> wake;  ///< called from the worker's thread whenever there is a new snapshot
};

/// One thread that computes what is wanted, in this order: load the model, run the prompt, load the second
/// model and run what is compared in it, answer the questions
/// one after the other. A new prompt stops the work on the old one (finished chunks are kept); a question
/// that nobody asks any more, or before which another one comes, is stopped; what was shown of its answer is
/// kept. Questions never stop a run, and neither stops a load. What failed is tried again when the prompt,
/// the model or the question changes, and not before.
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
