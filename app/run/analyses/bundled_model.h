#pragma once
#include <cstddef>
#include <string_view>

#include "app/run/question.h"

namespace headscope::app {

/// Whether a run's model has the bundled model's weights, wherever its files are.
struct IsBundled {
  bool yes = false;
  std::size_t bytes() const { return sizeof(*this); }
};

/// What is true of the bundled model alone, such as how its training began, may be said only if this is so.
struct IsBundledModel {
  using Answer = IsBundled;
  static constexpr std::string_view kName = "whether this is the bundled model";
  static constexpr bool kQuick = true;  // large files are not read: their size is enough
  static constexpr bool kModelOnly = true;
  static constexpr Capabilities kNeeds = Capability::patterns;
  bool operator==(const IsBundledModel&) const = default;
  /// No also if one of the models' files cannot be read.
  IsBundled compute(const PromptRun& run, const Computation<IsBundled>& computation) const;
};

}  // namespace headscope::app
