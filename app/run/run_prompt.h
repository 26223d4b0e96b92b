#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/run/prompt_run.h"
#include "model/pass/hooks.h"
#include "model/pass/transformer.h"

// Runs a prompt and what it is compared with, and parts of runs again: for the window, lists and commands.
namespace headscope::app {

/// What a run is compared with.
enum class ComparedWith {
  nothing,
  unedited,  ///< the run without its edits, if it has some
  second,    ///< the second prompt, or without one the same prompt in the second model; else as `unedited`
};

/// A prompt to run, and what to compare it with.
struct PromptToRun {
  std::shared_ptr<const LoadedModel> model;  ///< of a file of patterns these are the run
  Prompt prompt;                             ///< with its edits
  /// Edits can patch from it, and the second prompt runs in it; null: in the same model. Of patterns: another
  /// file's, which they are compared with.
  std::shared_ptr<const LoadedModel> second_model = {};
  std::optional<Prompt> second = {};  ///< without edits
  ComparedWith compared_with = ComparedWith::second;
  Alignment alignment = Alignment::position;  ///< of the two prompts
  bool cut = false;  ///< prompts beyond the context are run up to its end, instead of being refused
};

/// A plan of edits, kept for the next run that has the same ones.
struct KeptPlan {
  std::shared_ptr<const model::Plan> plan;
  std::vector<int> tokens;  ///< of the run that it was made for
};

/// One of the passes of a run.
struct PassOfRun {
  const LoadedModel& model;
  std::vector<int> tokens;
  bool is_baseline = false;  ///< else it is the prompt's own
  model::ForwardOptions options = {};
};

struct RunTools : Resources {
  const model::Hooks* hooks = nullptr;  ///< of the prompt's own pass; null: none
  KeptPlan* plan = nullptr;             ///< null: a plan is made for each run
  /// Makes a pass or finds it among runs that are kept. Empty: each is made.
  std::function<std::shared_ptr<const model::Run>(PassOfRun)> pass = {};
};

/// Runs a prompt, sets its baseline, and if it has edits, `unedited`, except where it is compared with
/// nothing. Throws model::RunError for prompts and edits that the model cannot run, and model::Stopped.
PromptRun run_prompt(const PromptToRun& what, const RunTools& with);

/// How many positions, from 0 on, the prediction after a position may depend on: all where an edit of the run
/// lets positions see later ones, or takes a mean over all of them.
int acting_positions(const PromptRun& run, int position);

/// Recomputes positions [first, end) of a run with its edits, so that hooks can watch them; also positions
/// after `end` if edits make earlier positions depend on them. Throws model::Stopped.
void recompute(const PromptRun& run, int first, int end, const model::Hooks& hooks, const Resources& with);

/// Whether edits of a run act at a point.
bool edits_at(const PromptRun& run, model::HookPoint point);

/// What passes with its hooks compute at some points, none of which has cells.
class Recording {
 public:
  /// Of positions [first, first + count); 0: of all positions of the last pass. `config` must outlive it.
  explicit Recording(const model::Config& config, int first = 0, int count = 0)
      : config_(config), first_(first), count_(count) {}
  void add(model::HookPoint point);  ///< once, however often it is asked for
  const model::Hooks& hooks() const { return hooks_; }
  /// Records a run, of which it recomputes the positions; there are some. Throws model::Stopped.
  void read(const PromptRun& run, const Resources& with);
  /// [positions, columns], with the columns of all heads; empty: the point was not added.
  std::span<const float> rows(model::HookPoint point) const;
  std::span<const float> row(model::HookPoint point, int position) const;

 private:
  struct Rows {
    model::HookPoint point;
    std::ptrdiff_t columns = 0;
    std::vector<float> values;
  };
  const model::Config& config_;
  int first_, count_;
  std::deque<Rows> points_;  // hooks refer to them
  model::Hooks hooks_;
};

}  // namespace headscope::app
