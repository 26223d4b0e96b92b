#pragma once
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "app/run/question.h"
#include "app/run/worker.h"

namespace headscope::app {

/// Answers immediately, on the calling thread, each question once. Throws model::RunError with the message of
/// a failed answer, and model::Stopped.
class DirectAnswers final : public Answers {
 public:
  /// Called with the work in progress (see Question::work) and the fraction done, in [0, 1]; in the end
  /// with 1.
  using Tell = std::function<void(std::string_view work, double done)>;

  /// `of_model`: where answers about the model alone are kept, for other runs; null: with the others.
  DirectAnswers(std::shared_ptr<const PromptRun> run, model::Workspace& workspace, Tell tell = {},
                std::stop_token stop = {}, AnswerMap* of_model = nullptr)
      : run_(std::move(run)),
        with_{workspace, std::move(stop)},
        tell_(std::move(tell)),
        of_model_(of_model) {}
  std::shared_ptr<const Answer> ask(const Question& question) override;
  /// What the answers so far say of prompts that they leave out, each sentence once.
  const std::vector<std::string>& skipped() const { return skipped_; }

 private:
  std::shared_ptr<const PromptRun> run_;
  Resources with_;
  Tell tell_;
  AnswerMap* of_model_;
  std::vector<std::string> skipped_;
  AnswerMap known_;
};

/// Answers from a snapshot, always with its first reply: the worker may know more meanwhile, of which the
/// rest of a picture knows nothing. Records every question, once, in the order they were asked.
class SnapshotAnswers final : public Answers {
 public:
  explicit SnapshotAnswers(std::shared_ptr<const Snapshot> snapshot) : snapshot_(std::move(snapshot)) {}
  std::shared_ptr<const Answer> ask(const Question& question) override;
  const std::vector<Question>& asked() const { return asked_; }

 private:
  std::shared_ptr<const Snapshot> snapshot_;
  std::vector<Question> asked_;
  AnswerMap replies_;
};

}  // namespace headscope::app
