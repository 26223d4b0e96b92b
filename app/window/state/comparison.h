#pragma once
#include <cstdint>
#include <filesystem>

#include "app/window/state/slice.h"

namespace headscope::app {

/// What the run is compared with: a second prompt, a second model, or both.
struct SecondPrompt {
  bool on = false;  ///< a second prompt
  TextField text;
  Alignment alignment = Alignment::position;
  bool is_file = false;  ///< as the first one is a file of attention patterns: the text is its path
  std::filesystem::path model = {};  ///< the second model; empty: the same one
  std::uint64_t request = 0;         ///< a new number loads it again
  bool compares() const { return on || !model.empty(); }
};

struct ComparisonSlice {
  SecondPrompt second;
  Side side = Side::run;  ///< which side of the comparison is shown
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
struct SecondOpened {  ///< the second model was loaded
  std::filesystem::path folder;
};

inline void reduce(ComparisonSlice& s, const SetSide& a, World&) {
  s.side = a.side;
}
void reduce(UiState& s, const CompareWith& a, World& w);
void reduce(UiState& s, const CompareModel& a, World& w);
void reduce(UiState& s, const SecondOpened& a, World& w);

/// Whether there is another run, also the unedited one, to compare with.
bool compares(const UiState& state);
/// Ends a comparison between a prompt and a file of attention patterns.
void compare_with_its_kind(UiState& state, const Snapshot& snapshot);

/// Translates a view's actions from the baseline, which its picture showed, to the run itself: positions
/// become the aligned ones, and what only the baseline has is left out.
ViewActions on_own_side(ViewActions actions, const PromptRun& run);

}  // namespace headscope::app
