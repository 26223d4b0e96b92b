#pragma once
#include "app/run/worker.h"

namespace headscope::testing {

/// What is known of a question about the run of a snapshot; null: nothing.
template <class Q>
std::shared_ptr<const typename Q::Answer> answer_of(const app::Snapshot& snapshot, const Q& question) {
  const auto known = snapshot.answers->find(question);
  return known ? std::static_pointer_cast<const typename Q::Answer>(known->value) : nullptr;
}

}  // namespace headscope::testing
