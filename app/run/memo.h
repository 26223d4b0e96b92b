#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "app/run/question.h"
#include "model/files/config.h"
#include "model/pass/run.h"
#include "model/pass/transformer.h"
#include "system/threads.h"

namespace headscope::app {

/// What a run is made from, by content: equal for equal ones.
struct RunId {
  std::size_t model = 0;  ///< its files
  std::size_t how = 0;    ///< the model and the edits, and if these make all positions depend on all, `run`
  std::size_t run = 0;    ///< the model, the edits and the tokens
};

/// Those of a run and of its baseline.
struct RunIds {
  RunIds() = default;
  explicit RunIds(const PromptRun& run);
  RunId own, baseline;  ///< the same for a run without a baseline
  /// The baseline, and which of its positions stand for the run's; 0: there is none.
  std::size_t compared = 0;
};

/// What an answer depends on, and nothing else: what is stale cannot be reached. A question about a baseline
/// has the key of the same question about that run.
struct AnswerKey {
  Question question;
  std::size_t run = 0;       ///< or the model
  std::size_t baseline = 0;  ///< 0: independent of it
  bool operator==(const AnswerKey&) const = default;
};
AnswerKey key_of(const Question& question, const RunIds& ids);

/// Answers by what they depend on. One thread keeps them, others may find them.
class AnswerCache {
 public:
  static constexpr std::size_t kEntryBytes = 256;  ///< of an entry besides its answer, about

  /// Null: not known.
  std::shared_ptr<const Answer> find(const AnswerKey& key) const;
  /// The same, and marks it as used.
  std::shared_ptr<const Answer> use(const AnswerKey& key, std::uint64_t time);
  void keep(const AnswerKey& key, std::shared_ptr<const Answer> answer, std::uint64_t time);
  void erase(const AnswerKey& key);

  struct Entry {
    AnswerKey key;
    std::shared_ptr<const Answer> answer;
    std::uint64_t used = 0;
  };
  /// Used longest ago first.
  const std::list<Entry>& entries() const { return entries_; }
  std::size_t bytes() const { return bytes_; }

 private:
  struct KeyHash {
    std::size_t operator()(const AnswerKey& key) const {
      return hash_of(key.question.hash(), key.run, key.baseline);
    }
  };
  void take_out(const AnswerKey& key, std::list<Entry>& gone);

  mutable system::Mutex mutex_;
  std::list<Entry> entries_;  // only the thread that keeps answers reads it without the mutex
  std::unordered_map<AnswerKey, std::list<Entry>::iterator, KeyHash> by_key_;
  std::size_t bytes_ = 0;
};

/// The known answers about a run. A copy shares them.
struct KnownAnswers {
  std::shared_ptr<const AnswerCache> cache;  ///< null: none
  RunIds ids;
  /// Null: not known.
  std::shared_ptr<const Answer> find(const Question& question) const {
    return cache ? cache->find(key_of(question, ids)) : nullptr;
  }
};

/// Keeps the runs of previous prompts, and answers, so that only what is new is computed. Edited and unedited
/// runs are kept apart. Bounded in bytes; shared pages count once; what was used longest ago is dropped
/// first.
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

  /// Adds a run as the newest, replacing runs that it fully extends.
  void remember(std::shared_ptr<const model::Run> run);

  /// Adds the finished part of an interrupted run, or a run to compare with, after the newest; does nothing
  /// if a run has all of it.
  void remember_part(std::shared_ptr<const model::Run> run);

  /// Drops runs that are patched from a second model, when that becomes another.
  void forget_patched_from_second();

  const model::Run* newest() const { return runs_.empty() ? nullptr : runs_.front().run.get(); }

  /// Adds a run as the newest, which answers are about from now on. Failed answers are forgotten.
  void show(const PromptRun& run);

  /// Keeps these answers until the next call, whatever room others need.
  void want(const std::vector<Question>& questions);

  /// The answer for the shown run, marked as used. Null: none is kept.
  std::shared_ptr<const Answer> find(const Question& question);

  /// Keeps an answer for the shown run.
  void keep(const Question& question, std::shared_ptr<const Answer> answer);

  /// The answer, complete or not, for the newest of the runs shown before with the same edits and other
  /// tokens: parts of it may be reused. Null: none.
  std::shared_ptr<const Answer> previous_answer(const Question& question) const;

  /// All answers kept for the shown run.
  KnownAnswers answers() const { return {answers_, ids_}; }

  std::size_t bytes() const { return page_bytes_ + answers_->bytes(); }  ///< each page counts once
  std::size_t size() const { return runs_.size(); }

 private:
  struct RunEntry {
    std::shared_ptr<const model::Run> run;
    std::uint64_t used = 0;
  };

  /// Forgets the least recently used run or answer; false if nothing may go: the newest run, `base`, and
  /// answers used at that time or later stay.
  bool forget_one(const model::Run* base, std::uint64_t time);
  void count_pages();

  std::vector<RunEntry> runs_;  // newest first
  std::shared_ptr<AnswerCache> answers_ = std::make_shared<AnswerCache>();
  RunIds ids_;                     // of the shown run
  std::vector<RunId> shown_;       // and of those before it, with their baselines, newest first
  std::vector<AnswerKey> failed_;  // of the shown run
  std::size_t budget_ = 0, page_bytes_ = 0;
  std::uint64_t clock_ = 0;            // counts uses
  std::uint64_t wanted_ = UINT64_MAX;  // when answers were last wanted
};

/// The most memory that the program uses for a model, in bytes, if prompts are as long as the model allows
/// and share nothing with the one before. Memory of the graphics driver is not included.
std::size_t memory_budget(const model::Transformer& transformer, int threads);

}  // namespace headscope::app
