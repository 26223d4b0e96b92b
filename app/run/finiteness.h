#pragma once
#include <string>

#include "app/run/question.h"

namespace headscope::app {

/// Whether all values of a run are numbers.
struct Finiteness {
  std::string note;  ///< see not_finite_note; empty: they are
  std::size_t bytes() const { return note.size(); }
};

/// Looks at what the run keeps and at the logits after its last position.
struct FinitenessOfRun {
  using Answer = Finiteness;
  static constexpr std::string_view kWork = "looking for NaN";
  static constexpr bool kQuick = false;
  bool operator==(const FinitenessOfRun&) const = default;
  Finiteness compute(const PromptRun& run, const Work<Finiteness>& work) const;
};

}  // namespace headscope::app
