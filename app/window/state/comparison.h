#pragma once
#include <cstdint>
#include <filesystem>

#include "app/window/state/slice.h"

namespace headscope::app {

struct ComparisonSlice {
  Side side = Side::run;             ///< which side of the comparison is shown
  std::uint64_t second_request = 0;  ///< incremented to reload the second model
};

struct SetSide {
  Side side = Side::run;
};
struct CompareWith {  ///< a second prompt, on or off
  bool on = false;
  Alignment alignment = Alignment::position;
};
struct CompareModel {  ///< a second model; empty: none
  std::filesystem::path folder;
};

void reduce(UiState& s, const SetSide& a, ReduceContext& w);
void reduce(UiState& s, const CompareWith& a, ReduceContext& w);
void reduce(UiState& s, const CompareModel& a, ReduceContext& w);

/// Whether what goes on is the second prompt's text, since its side is shown.
bool continues_second(const UiState& state);
/// Whether there is a baseline: the unedited run, a second prompt or a second model.
bool has_comparison(const UiState& state);
/// Ends a comparison of a prompt with an attention file, or the reverse.
void end_mixed_comparison(UiState& state, const Snapshot& snapshot);

/// Translates a view's actions from the baseline, which its picture showed, to the run: positions become the
/// aligned ones, and actions on positions that only the baseline has are dropped.
ViewActions translate_to_run(ViewActions actions, const PromptRun& run);

}  // namespace headscope::app
