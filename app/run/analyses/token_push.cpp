#include "app/run/analyses/token_push.h"

#include "model/pass/statistics.h"

namespace headscope::app {

TokenPushes strongest_pushes(std::vector<float> logits) {
  TokenPushes result;
  for (const model::Guess& guess : model::largest_logits(logits, TokenPushes::kMax))
    result.up.push_back({guess.id, guess.logit});
  for (float& logit : logits) logit = -logit;
  for (const model::Guess& guess : model::largest_logits(logits, TokenPushes::kMax))
    result.down.push_back({guess.id, -guess.logit});
  return result;
}

}  // namespace headscope::app
