#pragma once
#include "app/run/worker.h"

namespace headscope::testing {

/// The answer that a snapshot has for a question about its run; null: none.
template <class Q>
std::shared_ptr<const app::AnswerOf<Q>> answer_of(const app::Snapshot& snapshot, const Q& question) {
  const auto known = snapshot.answers->find(question);
  return known ? std::static_pointer_cast<const app::AnswerOf<Q>>(known->value) : nullptr;
}

}  // namespace headscope::testing
