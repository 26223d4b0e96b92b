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
#include "model/pass/transformer.h"

namespace headscope::app {

/// Answers by question: a hash table of immutable parts, cheap to copy. One thread may read a copy while
/// another sets answers in its own.
class AnswerList {
 public:
  struct Entry {
    Question question;
    std::shared_ptr<const Answer> answer;
    mutable std::uint64_t used = 0;  ///< last use; only the memo's thread reads and writes it
  };

  /// Null: not known.
  std::shared_ptr<const Answer> find(const Question& question) const;
  const Entry* find_entry(const Question& question) const;
  /// Replaces the answer to a question; null: removes it.
  void set(const Question& question, std::shared_ptr<const Answer> answer, std::uint64_t used = 0);
  void erase_if(const std::function<bool(const Entry&)>& condition);
  void for_each(const std::function<void(const Entry&)>& visit) const;
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return bytes_; }  ///< memory of the answers

 private:
  using Part = std::vector<Entry>;
  static std::size_t part_of(const Question& question) { return question.hash() % kParts; }

  static constexpr std::size_t kParts = 61;
  std::array<std::shared_ptr<const Part>, kParts> parts_;  // by hash; null: empty
  std::size_t size_ = 0, bytes_ = 0;
};

/// The known answers about one run and its model. A copy shares them.
struct KnownAnswers {
  AnswerList of_run, of_model;
  /// Null: not known.
  std::shared_ptr<const Answer> find(const Question& question) const {
    return (question.is_model_only() ? of_model : of_run).find(question);
  }
};

/// Keeps the runs of previous prompts with their answers, so that only what is new is computed. Edited and
/// unedited runs are kept apart. Bounded in bytes; shared pages count once; what was used longest ago is
/// dropped first. Answers about the model alone are kept for all of its runs.
class Memo {
 public:
  /// Bytes for runs and answers, including the shown run and the one being computed: two runs of the longest
  /// prompt, and at least 16 MiB; plus all stages of one head and the patterns of two more.
  static std::size_t budget(const model::Config& config);

  explicit Memo(std::size_t budget = 0) : budget_(budget) {}

  /// Among the runs with these edits (null: none), the one that shares the most positions with the tokens;
  /// null if none shares any.
  std::shared_ptr<const model::Run> best_base(const std::vector<int>& tokens,
                                              const model::Plan* plan = nullptr) const;

  /// The unedited run of these tokens, marked as used; null: none is kept.
  std::shared_ptr<const model::Run> find_clean(const std::vector<int>& tokens);

  /// The best base for a pass over the tokens (null: none), after freeing room for the new pages. The newest
  /// run stays, because it is shown; a base that is too large is reduced to the whole pages that it shares
  /// with the tokens. So there is always room for two of the longest runs.
  std::shared_ptr<const model::Run> make_room_for(const std::vector<int>& tokens, const model::Config& config,
                                                  const model::Plan* plan = nullptr);

  /// Adds a run as the newest, replacing runs that it fully extends; answers about a run of the same tokens
  /// stay.
  void remember(std::shared_ptr<const model::Run> run);

  /// Adds the finished part of an interrupted run, or a run to compare with, after the newest; does nothing
  /// if a run has all of it.
  void remember_part(std::shared_ptr<const model::Run> run);

  const model::Run* newest() const { return runs_.empty() ? nullptr : runs_.front().run.get(); }

  /// The answer for the newest run, marked as used; one about the baseline is then kept for this run, too.
  /// Null: none is kept.
  std::shared_ptr<const Answer> find(const Question& question, const std::vector<Question>& wanted = {});

  /// Keeps an answer for the newest run; an answer about its baseline, for all runs with that baseline.
  /// Answers to `wanted` are not dropped for it.
  void keep(const Question& question, std::shared_ptr<const Answer> answer,
            const std::vector<Question>& wanted);

  /// The newest answer, of any run, to a question that has been asked ever since, complete or not: parts of
  /// it may be reused. Null: none.
  std::shared_ptr<const Answer> previous_answer(const Question& question) const {
    return previous_.find(question);
  }
  void set_previous_answer(const Question& question, std::shared_ptr<const Answer> answer) {
    previous_.set(question, std::move(answer));
  }
  /// Drops the previous answers, and those about the baseline, to all other questions.
  void forget_unasked(const std::vector<Question>& questions);

  void set_baseline(std::shared_ptr<const model::Run> baseline);

  /// Inputs of answers other than the tokens of their run.
  enum class Source {
    edits,         ///< edits of the shown run
    baseline,      ///< the run it is compared with
    comparison,    ///< the second prompt, or how positions are aligned with it
    second_model,  ///< including runs that patch from it
  };
  /// Forgets all answers that depend on a changed input. This is the only way answers become invalid.
  void forget(Source changed);

  /// All answers kept for the newest run and the model. Cheap.
  KnownAnswers newest_answers() const;

  std::size_t bytes() const;  ///< size of all pages, each counted once, and of all answers
  std::size_t size() const { return runs_.size(); }

 private:
  struct RunEntry {
    std::shared_ptr<const model::Run> run;
    AnswerList answers;
    std::uint64_t used = 0;
  };

  AnswerList& answers_like(const Question& question) {
    return question.is_model_only() ? model_answers_ : runs_.front().answers;
  }

  /// Forgets the least recently used entry; false if nothing may go: the newest run, `base`, and the answers
  /// to `wanted` about the newest run or the model stay.
  bool forget_one(const model::Run* base, const QuestionSet& wanted);

  std::vector<RunEntry> runs_;  // newest first
  AnswerList model_answers_;
  AnswerList on_baseline_;  // about the baseline alone, independent of the edits in the run
  AnswerList previous_;
  std::shared_ptr<const model::Run> baseline_;
  std::size_t budget_ = 0;
  std::uint64_t clock_ = 0;  // counts uses
};

/// The most memory that the program uses for a model, in bytes, if prompts are as long as the model allows
/// and share nothing with the one before. Memory of the graphics driver is not included.
std::size_t memory_budget(const model::Transformer& transformer, int threads);

}  // namespace headscope::app
