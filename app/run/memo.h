#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "app/run/question.h"
#include "model/files/config.h"
#include "model/pass/run.h"

namespace headscope::app {

/// What is known of one run. Immutable; shared with the interface.
class AnswerList {
 public:
  /// Null: not known.
  std::shared_ptr<const Answer> find(const Question& question) const;
  void set(const Question& question, std::shared_ptr<const Answer> answer);
  /// Forgets the answers to all other questions.
  void keep_only(const std::vector<Question>& questions);

 private:
  std::vector<std::pair<Question, std::shared_ptr<const Answer>>> answers_;
};

/// The runs of former prompts and what was answered of them, so that going back to one computes nothing, and
/// going on from one only what is new. Runs in which something is changed are kept beside those in which
/// nothing is, and neither is taken for the other. Bounded in bytes, those of each page counted once however
/// many runs share it; what was longest unused goes first. What is of the model alone is kept for all of its
/// runs.
class Memo {
 public:
  /// What runs of the model and answers may take, with the run that is shown and the one that is being
  /// computed: two runs of the longest prompt, and at least 64 MiB; and answers_budget.
  static std::size_t budget(const model::Config& config);
  /// The part of it that keeps the answers for the longest prompt: as much as all stages of one head and the
  /// patterns of two more.
  static std::size_t answers_budget(const model::Config& config);

  explicit Memo(std::size_t budget = 0) : budget_(budget) {}

  /// Of the runs with these edits (null: none) the one that shares the most positions with the
  /// tokens; null when none shares any.
  std::shared_ptr<const model::Run> best_base(const std::vector<int>& tokens,
                                              const model::Plan* plan = nullptr) const;

  /// The run of just these tokens in which nothing is changed, and it counts as used; null: none is kept.
  std::shared_ptr<const model::Run> find_clean(const std::vector<int>& tokens);

  /// The best base for a pass over the tokens (null: none), with room for the pages that the pass adds: what
  /// was longest unused is forgotten until all together fits the budget. The newest run stays, for it is
  /// shown; of a base that stands in the way only the whole pages stay that the tokens share with it. So two
  /// of the longest runs always have room.
  std::shared_ptr<const model::Run> make_room_for(const std::vector<int>& tokens, const model::Config& config,
                                                  const model::Plan* plan = nullptr);

  /// Adds a run as the newest, in place of those that it goes on from with nothing left out; the answers for
  /// one of the same tokens stay.
  void remember(std::shared_ptr<const model::Run> run);

  /// Adds what was finished of a run that was given up, or one to compare with, behind the newest; not where
  /// a run has all of it.
  void remember_part(std::shared_ptr<const model::Run> run);

  const model::Run* newest() const { return runs_.empty() ? nullptr : runs_.front().run.get(); }

  /// The answer for the newest run, and it counts as used. Null: none is kept.
  std::shared_ptr<const Answer> find(const Question& question);

  /// Keeps an answer for the newest run; what is asked for now (`wanted`) is not forgotten for it.
  void keep(const Question& question, std::shared_ptr<const Answer> answer,
            const std::vector<Question>& wanted);

  /// Forgets what was answered of comparisons: with something else they have other answers. What is of the
  /// other's model alone stays.
  void forget_comparisons();

  /// Forgets all that came of a second model: what was answered of comparisons, and runs that are patched
  /// from it.
  void forget_second_model();

  /// All that is kept for the newest run, and of the model.
  AnswerList newest_answers() const;

  std::size_t bytes() const;  ///< of all pages, each once, and of all answers
  std::size_t size() const { return runs_.size(); }

 private:
  struct KeptAnswer {
    Question question;
    std::shared_ptr<const Answer> answer;
    std::uint64_t used = 0;
  };
  struct KeptRun {
    std::shared_ptr<const model::Run> run;
    std::vector<KeptAnswer> answers;
    std::uint64_t used = 0;
  };

  /// The answers among which one to the question is kept.
  std::vector<KeptAnswer>& answers_like(const Question& question) {
    return question.of_model() ? of_model_ : runs_.front().answers;
  }

  /// Forgets one thing, the longest unused; false when nothing may go: the newest run, `base`, and the
  /// answers to what is `wanted` of the newest run or the model.
  bool forget_one(const model::Run* base, const std::vector<Question>& wanted);

  std::vector<KeptRun> runs_;  // newest first
  std::vector<KeptAnswer> of_model_;
  std::size_t budget_ = 0;
  std::uint64_t clock_ = 0;  // counts uses
};

}  // namespace headscope::app
