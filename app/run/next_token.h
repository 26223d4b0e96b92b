#pragma once
#include <vector>

#include "app/run/question.h"

namespace headscope::app {

/// Logits after one position, of the whole vocabulary.
struct NextToken {
  int position = 0;
  std::vector<float> logits;
  std::size_t bytes() const { return logits.size() * sizeof(float); }
};

struct NextAfter {
  using Answer = NextToken;
  static constexpr std::string_view kWork = "next token";
  static constexpr bool kQuick = true;
  int position = -1;  ///< -1, or beyond the run: its last
  bool operator==(const NextAfter&) const = default;
  NextToken compute(const PromptRun& run, const Work<NextToken>& work) const;
};

}  // namespace headscope::app
