#pragma once
#include <gtest/gtest.h>

#include "app/run/question.h"
#include "model/files/error.h"

// Answers that are shown in parts, are stopped, and go on.
namespace headscope::app {

/// What a question has shown when it is stopped: at the first part that is enough.
template <class Q, class Enough>
AnswerOf<Q> part_of(const Q& question, const PromptRun& run, const Enough& enough) {
  model::Workspace workspace(1);
  std::stop_source stop;
  AnswerOf<Q> last;
  const auto show = [&](std::optional<AnswerOf<Q>> part, double done) {
    EXPECT_GE(done, 0);
    EXPECT_LE(done, 1);
    if (!part) return;
    last = std::move(*part);
    if (enough(last)) stop.request_stop();
  };
  EXPECT_THROW(question.compute(run, {workspace, stop.get_token(), nullptr, nullptr, show}), model::Stopped);
  return last;
}

/// The whole answer from a part that was shown, and in how many parts the rest was shown.
template <class Q>
AnswerOf<Q> gone_on(const Q& question, const PromptRun& run, const AnswerOf<Q>& part, int* parts = nullptr) {
  model::Workspace workspace(1);
  const auto count = [&](const std::optional<AnswerOf<Q>>& shown, double) {
    if (parts != nullptr && shown) ++*parts;
  };
  return question.compute(run, {workspace, {}, &part, nullptr, count});
}

}  // namespace headscope::app
