#pragma once
#include <map>
#include <vector>

#include "app/run/question.h"

namespace headscope::app {

/// The merges that built the tokens, starting from single bytes. Empty for a single byte, and for a special
/// token, which is not the result of merges.
struct TokenMerges {
  std::map<int, std::vector<model::MergeStep>> of_id;  ///< for each distinct token of the run
  std::size_t bytes() const;
};

struct MergesOfTokens {
  using Answer = TokenMerges;
  static constexpr std::string_view kName = "token merges";
  static constexpr bool kQuick = true;
  static constexpr Capabilities kNeeds = Capability::weights | Capability::tokenizer;
  bool operator==(const MergesOfTokens&) const = default;
  TokenMerges compute(const PromptRun& run, const Computation<TokenMerges>& computation) const;
};

}  // namespace headscope::app
