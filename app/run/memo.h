#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "app/run/question.h"
#include "model/files/config.h"
#include "model/pass/run.h"

namespace headscope::app {

/// Answers by their questions: a hash table of parts that are replaced and never written to, so that a copy
/// shares them however many answers there are. One thread may read a copy while another sets answers in its
/// own.
class AnswerList {
 public:
  struct Kept {
    Question question;
    std::shared_ptr<const Answer> answer;
    mutable std::uint64_t used = 0;  ///< the memo's, whose thread alone reads and writes it
  };

  /// Null: not known.
  std::shared_ptr<const Answer> find(const Question& question) const;
  const Kept* find_kept(const Question& question) const;
  void set(const Question& question, std::shared_ptr<const Answer> answer, std::uint64_t used = 0);
  void erase(const Question& question);
  void erase_if(const std::function<bool(const Kept&)>& condition);
  void for_each(const std::function<void(const Kept&)>& visit) const;
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return bytes_; }  ///< of the answers

 private:
  using Part = std::vector<std::shared_ptr<const Kept>>;
  /// Puts it (null: nothing) in the place of what is kept of the question.
  void replace(const Question& question, std::shared_ptr<const Kept> kept);
  static std::size_t part_of(const Question& question) { return question.hash() % kParts; }

  static constexpr std::size_t kParts = 61;
  std::array<std::shared_ptr<const Part>, kParts> parts_;  // by hash; null: empty
  std::size_t size_ = 0, bytes_ = 0;
};

/// What is known of one run and of its model. A copy shares it.
struct KnownAnswers {
  AnswerList of_run, of_model;
  /// Null: not known.
  std::shared_ptr<const Answer> find(const Question& question) const {
    return (question.of_model() ? of_model : of_run).find(question);
  }
};

/// The runs of previous prompts and their answers, so that going back to one computes nothing, and continuing
/// one only what is new. Edited runs are kept beside unedited ones, and neither is taken for the other.
/// Bounded in bytes, those of each page counted once however many runs share it; what was unused for longest
/// goes first. What is of the model alone is kept for all of its runs.
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

  /// The unedited run of just these tokens, and it counts as used; null: none is kept.
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

  /// The answer for the newest run, and it counts as used. Null: none is kept. One about the baseline is kept
  /// for this run, too, as `keep` does.
  std::shared_ptr<const Answer> find(const Question& question, const std::vector<Question>& wanted = {});

  /// Keeps an answer for the newest run, and where it is about its baseline alone, for all runs that are
  /// compared with that; what is asked for now (`wanted`) is not forgotten for it.
  void keep(const Question& question, std::shared_ptr<const Answer> answer,
            const std::vector<Question>& wanted);

  /// The newest answer of any run to what has been asked ever since, whole or not: what part of it is another
  /// run's need not be computed. Null: none.
  std::shared_ptr<const Answer> previous_answer(const Question& question) const {
    return previous_.find(question);
  }
  void set_previous_answer(const Question& question, std::shared_ptr<const Answer> answer) {
    previous_.set(question, std::move(answer));
  }
  /// What is not asked any more has no previous answer, nor one about the baseline.
  void keep_asked(const std::vector<Question>& questions);

  /// What the newest run is compared with; null: nothing.
  void set_baseline(std::shared_ptr<const model::Run> baseline);

  /// What answers are made from besides the tokens of their run.
  enum class Source {
    edits,         ///< of the run that is shown
    baseline,      ///< the run that it is compared with
    comparison,    ///< the second prompt, or how positions are aligned with it
    second_model,  ///< and all that came of it, runs that are patched from it, too
  };
  /// Forgets every answer that was made from what is another now. Answers become invalid in no other way.
  void forget(Source changed);

  /// All that is kept for the newest run, and of the model. It takes no time.
  KnownAnswers newest_answers() const;

  std::size_t bytes() const;  ///< of all pages, each once, and of all answers
  std::size_t size() const { return runs_.size(); }

 private:
  struct KeptRun {
    std::shared_ptr<const model::Run> run;
    AnswerList answers;
    std::uint64_t used = 0;
  };

  /// The answers among which one to the question is kept.
  AnswerList& answers_like(const Question& question) {
    return question.of_model() ? of_model_ : runs_.front().answers;
  }

  /// Forgets one thing, the longest unused; false when nothing may go: the newest run, `base`, and the
  /// answers to what is `wanted` of the newest run or the model.
  bool forget_one(const model::Run* base, const QuestionSet& wanted);

  std::vector<KeptRun> runs_;  // newest first
  AnswerList of_model_;
  AnswerList on_baseline_;  // of the baseline alone, whatever was edited in the run that is compared with it
  AnswerList previous_;
  std::shared_ptr<const model::Run> baseline_;
  std::size_t budget_ = 0;
  std::uint64_t clock_ = 0;  // counts uses
};

}  // namespace headscope::app
