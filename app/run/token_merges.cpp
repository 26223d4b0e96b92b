#include "app/run/token_merges.h"

#include <map>

namespace headscope::app {

std::size_t TokenMerges::bytes() const {
  std::size_t bytes = of_token.size() * sizeof(of_token.front());
  for (const auto& steps : of_token) bytes += steps.size() * sizeof(model::MergeStep);
  return bytes;
}

TokenMerges MergesOfTokens::compute(const PromptRun& run, const Work<TokenMerges>&) const {
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  TokenMerges result;
  std::map<int, std::vector<model::MergeStep>> known;
  for (const model::Token& token : run.tokens.tokens) {
    const auto [entry, is_new] = known.try_emplace(token.id);
    if (is_new) {
      entry->second = tokenizer.merges(tokenizer.bytes(token.id));
      // A token that its bytes do not merge to is special, or was asked for by its id.
      if (entry->second.empty() || entry->second.back().merged != token.id) entry->second.clear();
    }
    result.of_token.push_back(entry->second);
  }
  return result;
}

}  // namespace headscope::app
