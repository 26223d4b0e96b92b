#include "app/run/analyses/token_merges.h"

namespace headscope::app {

std::size_t TokenMerges::bytes() const {
  std::size_t bytes = of_id.size() * sizeof(*of_id.begin());
  for (const auto& [id, steps] : of_id) bytes += steps.size() * sizeof(model::MergeStep);
  return bytes;
}

TokenMerges MergesOfTokens::compute(const PromptRun& run, const Computation<TokenMerges>&) const {
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  TokenMerges result;
  for (const int id : run.run->tokens) {
    const auto [entry, is_new] = result.of_id.try_emplace(id);
    if (!is_new) continue;
    std::vector<model::MergeStep>& steps = entry->second;
    steps = tokenizer.merges(tokenizer.bytes(id));
    // If the bytes do not merge to this token, it is special, or was given by its id.
    if (steps.empty() || steps.back().merged != id) steps.clear();
  }
  return result;
}

}  // namespace headscope::app
