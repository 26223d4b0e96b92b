#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "app/run/memo.h"
#include "app/run/question.h"
#include "app/run/worker.h"

namespace headscope::app {

/// Answers at once, on the thread that asks: for the command line and the tests. Each question is computed
/// once. Throws model::RunError with the sentence of one that fails.
class DirectAnswers final : public Answers {
 public:
  /// What is being computed (see Question::work), and how much of it is done, in [0, 1].
  using Tell = std::function<void(std::string_view work, double done)>;

  DirectAnswers(std::shared_ptr<const PromptRun> run, model::Workspace& workspace, Tell tell = {})
      : run_(std::move(run)), workspace_(workspace), tell_(std::move(tell)) {}
  std::shared_ptr<const Answer> ask(const Question& question) override;

 private:
  std::shared_ptr<const PromptRun> run_;
  model::Workspace& workspace_;
  Tell tell_;
  AnswerList known_;
};

/// What a snapshot knows, and a note of all that was asked, in that order, each once.
class SnapshotAnswers final : public Answers {
 public:
  explicit SnapshotAnswers(std::shared_ptr<const Snapshot> snapshot) : snapshot_(std::move(snapshot)) {}
  std::shared_ptr<const Answer> ask(const Question& question) override;
  const std::vector<Question>& asked() const { return asked_; }

 private:
  std::shared_ptr<const Snapshot> snapshot_;
  std::vector<Question> asked_;
  QuestionSet noted_;  // the same
};

/// Puts what was not asked before in front: `now` in its order, but what is new of it first.
std::vector<Question> newest_first(const std::vector<Question>& before, const std::vector<Question>& now);

}  // namespace headscope::app
