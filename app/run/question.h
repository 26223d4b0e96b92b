#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "app/run/prompt_run.h"
#include "model/pass/transformer.h"

namespace headscope::app {

/// What an answer is computed with, and how it is shown before it is whole.
template <class Answer>
struct Work {
  model::Workspace& workspace;
  std::stop_token stop;  ///< nobody asks any more, or something newer comes first: throw model::Stopped
  const Answer* begun = nullptr;  ///< what was shown of this answer before it was stopped; null: nothing
  /// Of the run that was shown before, whole or not, where it was asked all along; null: none.
  const Answer* former = nullptr;
  /// Shows a part of the answer and how much of the work is done, in [0, 1]. Also what `begun` will be.
  std::function<void(Answer part, double done)> show;
};

/// An answer whose type only its question knows, or the sentence that says why there is none.
struct Answer {
  std::shared_ptr<const void> value;  ///< null: it failed
  std::size_t bytes = 0;              ///< of memory
  bool whole = true;                  ///< false: a part, the rest is still to come
  std::string failure;                ///< one sentence; empty when it went well
  bool lacked_memory = false;         ///< that is why it failed
};

/// A question about a run: a small comparable value that can compute its answer. Any type Q is one that has
///
///     using Answer = ...;                       immutable once computed; Answer::bytes() counts its memory
///     static constexpr std::string_view kWork;  what computing it is called in the status line
///     static constexpr bool kQuick;             takes a few ms: a run waits for it before it is shown
///     static constexpr bool kOfComparison = true;  where it is about `run.baseline`, too
///     static constexpr bool kOfModel = true;    where the answer is of the model alone: of all runs the same
///     static constexpr bool kOfPatterns = true; where patterns are enough, without weights: see PatternFile
///     bool operator==(const Q&) const;
///     Answer compute(const PromptRun& run, const Work<Answer>& work) const;  throws RunError or Stopped
///     std::optional<Answer> kept_of(const Answer& former, const PromptRun& run) const;
///     Answer difference(const Answer& after, const Answer& before, const PromptRun& run) const;
///
/// the last two where part of another run's answer is this run's and takes no work: it is shown with the run;
/// and where the answer is numbers that can be compared with those of `run.baseline`: what is then in their
/// place.
///
/// Nothing else knows the type: the worker, `plot`, `trace` and the tests answer whatever they are asked.
class Question {
 public:
  /// Untyped Work.
  struct ComputeContext {
    model::Workspace& workspace;
    std::stop_token stop;
    const app::Answer* begun = nullptr;
    const app::Answer* former = nullptr;
    std::function<void(app::Answer part, double done)> show;
  };

  template <class Q>
  requires(!std::same_as<std::remove_cvref_t<Q>, Question>)
      Question(Q question)  // NOLINT(google-explicit-constructor): a question is a Question
      : self_(std::make_shared<const Typed<Q>>(std::move(question))) {}

  bool operator==(const Question& other) const { return self_ == other.self_ || self_->equals(*other.self_); }
  std::string_view work() const { return self_->work(); }
  bool quick() const { return self_->quick(); }
  bool of_model() const { return self_->of_model(); }
  /// The same question about the run that a run is compared with; of one that is compared with none, about
  /// itself.
  Question on_baseline() const;
  /// What became of the other run's answer: signed differences, in an answer of the same type. Only where
  /// has_difference.
  Question difference() const;
  bool has_difference() const { return self_->has_difference(); }
  /// Whether it can be answered of patterns without weights; else its answer is then the sentence that says
  /// so.
  bool of_patterns() const { return self_->of_patterns(); }
  bool is_on_baseline() const {
    return self_->is_on_baseline();
  }  ///< about the other run alone: made by on_baseline
  bool of_comparison() const { return self_->of_comparison(); }  ///< made by one of these two, or about both
  /// Throws model::Stopped; every other failure becomes the answer's sentence.
  Answer compute(const PromptRun& run, const ComputeContext& means) const;
  /// The part of this run's answer that another run's has; nothing where there is none.
  std::optional<Answer> kept_of(const Answer& former, const PromptRun& run) const {
    return former.value != nullptr ? self_->kept_of(former, run) : std::nullopt;
  }

 private:
  struct Erased {
    virtual ~Erased() = default;
    virtual bool equals(const Erased& other) const = 0;
    virtual std::string_view work() const = 0;
    virtual bool quick() const = 0;
    virtual bool of_model() const = 0;
    virtual bool of_patterns() const = 0;
    virtual app::Answer compute(const PromptRun& run, const ComputeContext& means) const = 0;
    virtual std::optional<app::Answer> kept_of(const app::Answer& former, const PromptRun& run) const = 0;
    virtual bool has_difference() const = 0;
    virtual bool of_comparison() const { return false; }
    virtual bool is_on_baseline() const { return false; }
    virtual app::Answer changed(const app::Answer& after, const app::Answer& before,
                                const PromptRun& run) const = 0;
  };
  template <class Self>
  struct Wrapped;
  struct OfOther;
  struct ChangeOf;
  struct Made {};
  Question(Made, std::shared_ptr<const Erased> self) : self_(std::move(self)) {}

  template <class Q>
  struct Typed final : Erased {
    explicit Typed(Q q) : question(std::move(q)) {}
    bool equals(const Erased& other) const override {
      const auto* same = dynamic_cast<const Typed*>(&other);
      return same != nullptr && same->question == question;
    }
    std::string_view work() const override { return Q::kWork; }
    bool quick() const override { return Q::kQuick; }
    bool of_model() const override {
      if constexpr (requires { Q::kOfModel; }) return Q::kOfModel;
      return false;
    }
    bool of_patterns() const override {
      if constexpr (requires { Q::kOfPatterns; }) return Q::kOfPatterns;
      return false;
    }
    using A = typename Q::Answer;
    static const A* typed(const app::Answer* answer) {
      return answer != nullptr ? static_cast<const A*>(answer->value.get()) : nullptr;
    }
    static app::Answer erased(A answer, bool whole) {
      const std::size_t bytes = answer.bytes();
      return {std::make_shared<const A>(std::move(answer)), bytes, whole, {}};
    }
    app::Answer compute(const PromptRun& run, const ComputeContext& means) const override {
      Work<A> work{means.workspace, means.stop, typed(means.begun), typed(means.former),
                   [&](A part, double done) {
                     if (means.show) means.show(erased(std::move(part), false), done);
                   }};
      return erased(question.compute(run, work), true);
    }
    std::optional<app::Answer> kept_of(const app::Answer& former, const PromptRun& run) const override {
      if constexpr (requires { question.kept_of(*typed(&former), run); }) {
        if (auto kept = question.kept_of(*typed(&former), run)) return erased(std::move(*kept), false);
      }
      return std::nullopt;
    }
    bool of_comparison() const override {
      if constexpr (requires { Q::kOfComparison; }) return Q::kOfComparison;
      return false;
    }
    static constexpr bool kHasChange = requires(const Q& q, const A& a, const PromptRun& run) {
      { q.difference(a, a, run) } -> std::same_as<A>;
    };
    bool has_difference() const override { return kHasChange; }
    app::Answer changed(const app::Answer& after, const app::Answer& before,
                        const PromptRun& run) const override {
      if constexpr (kHasChange)
        return erased(question.difference(*typed(&after), *typed(&before), run), true);
      return after;
    }
    Q question;
  };

  std::shared_ptr<const Erased> self_;
};

/// Whether a question is among others.
inline bool holds(const std::vector<Question>& questions, const Question& question) {
  return std::find(questions.begin(), questions.end(), question) != questions.end();
}

/// What is said of work that memory was wanting for: one sentence.
std::string not_enough_memory(std::string_view work);

/// Whom a view asks. Every question is noted, so that what is missing can be computed.
class Answers {
 public:
  virtual ~Answers() = default;
  /// Null while nothing is known yet, not even a failure.
  virtual std::shared_ptr<const Answer> ask(const Question& question) = 0;
};

/// The answer in its own type, or as much of it as there is; null while there is nothing, and where it
/// failed.
template <class Q>
std::shared_ptr<const typename Q::Answer> ask(Answers& answers, const Q& question) {
  const std::shared_ptr<const Answer> known = answers.ask(question);
  return known ? std::static_pointer_cast<const typename Q::Answer>(known->value) : nullptr;
}

}  // namespace headscope::app
