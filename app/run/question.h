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
#include <type_traits>
#include <typeinfo>
#include <unordered_set>
#include <utility>
#include <vector>

#include "app/run/prompt_run.h"
#include "model/pass/transformer.h"

namespace headscope::app {

/// What an answer is computed with, and how it is shown before it is whole.
template <class Answer>
struct Work {
  model::Workspace& workspace;
  std::stop_token stop = {};  ///< nobody asks any more, or something newer comes first: throw model::Stopped
  const Answer* begun = nullptr;  ///< what was shown of this answer before it was stopped; null: nothing
  /// Of the run that was shown before, whole or not, where it was asked all along; null: none.
  const Answer* previous = nullptr;
  std::function<void(Answer part, double done)> shown = {};  ///< empty: nobody looks at parts

  /// Shows a part of the answer and how much of the work is done, in [0, 1]. Also what `begun` will be.
  void show(Answer part, double done) const {
    if (shown) shown(std::move(part), done);
  }
};

/// What vectors hold: for Answer::bytes().
template <class... T>
std::size_t bytes_of(const std::vector<T>&... vectors) {
  return ((vectors.size() * sizeof(T)) + ...);
}

/// An answer whose type only its question knows, or the sentence that says why there is none.
struct Answer {
  std::shared_ptr<const void> value;  ///< null: it failed, or is a difference from nothing: see counterpart
  std::size_t bytes = 0;              ///< of memory
  bool whole = true;                  ///< false: a part, the rest is still to come
  std::string failure;                ///< one sentence; empty when it went well
  bool lacked_memory = false;         ///< that is why it failed
};

/// A question about a run: a small comparable value that can compute its answer. Any type Q is one that has
///
///     using Answer = ...;                       immutable once computed; Answer::bytes() counts its memory
///     static constexpr std::string_view kWork;  what computing it is called in the status line
///     static constexpr bool kQuick = true;    where it takes a few ms: a run waits for it before it is shown
///     static constexpr bool kOfModel = true;  where the answer is of the model alone: of all runs the same
///     static constexpr Capabilities kNeeds;   where it is not the weights of a GPT-2: see capabilities.h
///     bool operator==(const Q&) const;
///     Answer compute(const PromptRun& run, const Work<Answer>& work) const;  throws RunError or Stopped
///     std::optional<Answer> kept_of(const Answer& previous, const PromptRun& run) const;
///     std::size_t hash() const;  equal for equal ones
///
/// the last two where part of another run's answer is this run's and takes no work: it is shown with the run;
/// and where many with other members are kept, of which the hash is not taken by itself (it is of members
/// without padding, such as ints, that are compared by their bytes). An answer that can be subtracted from
/// that of `run.baseline` says how in one of two ways, and every view and command gets the difference by it:
///
///     Answer difference(const Answer& after, const Answer& before, const PromptRun& run) const;
///     Answer compute_difference(const PromptRun& run, const Work<Answer>& work) const;
///
/// the second where it is made of something else than two answers. `before` is whole and answers the
/// question's counterpart: of a question that has a `position`, the one about the baseline's position that
/// stands for it. Where the answer is shown in parts, `after` may be one, which is subtracted as far as it
/// goes; difference() may be a std::optional and hold nothing where a part cannot be.
///
/// Nothing else knows the type: the worker, `plot`, `trace` and the tests answer whatever they are asked.
class Question {
 public:
  /// Untyped Work.
  struct ComputeContext {
    using Show = std::function<void(app::Answer part, double done)>;
    model::Workspace& workspace;
    std::stop_token stop = {};
    const app::Answer* begun = nullptr;
    const app::Answer* previous = nullptr;
    Show show = {};
    /// The asker's way to answer another question about the same run and to keep that answer. Empty: there is
    /// none, compute it.
    std::function<std::shared_ptr<const app::Answer>(const Question& question, const Show& show)> ask = {};
  };

  template <class Q>
  requires(!std::same_as<std::remove_cvref_t<Q>, Question>)
      Question(Q question)  // NOLINT(google-explicit-constructor): a question is a Question
      : self_(std::make_shared<const Typed<Q>>(std::move(question))) {}

  bool operator==(const Question& other) const {
    return self_ == other.self_ || (hash() == other.hash() && self_->equals(*other.self_));
  }
  /// The same of equal questions; made with the question.
  std::size_t hash() const { return self_->hash; }
  std::string_view work() const { return self_->traits.work; }
  bool quick() const { return self_->traits.quick; }
  bool of_model() const { return self_->traits.of_model; }
  /// The same question about the run that a run is compared with; of one that is compared with none, about
  /// itself.
  Question on_baseline() const;
  /// The run's answer minus the baseline's: signed differences, in an answer of the same type; no value where
  /// nothing in the baseline stands for what is asked about. Only where has_difference.
  Question difference() const;
  bool has_difference() const { return self_->traits.has_difference; }
  /// What a model must have that it is answered of; of another one its answer is the sentence that says so.
  Capabilities needs() const { return self_->traits.needs; }
  bool is_on_baseline() const { return self_->traits.on_baseline; }   ///< made by on_baseline
  bool of_comparison() const { return self_->traits.of_comparison; }  ///< made by one of these two
  /// The two that a difference is made of, as far as they do not depend on the run; of others nothing.
  std::vector<Question> sides() const { return self_->sides(); }
  /// Throws model::Stopped; every other failure becomes the answer's sentence.
  Answer compute(const PromptRun& run, const ComputeContext& context) const;
  /// The part of this run's answer that another run's has; nothing where there is none.
  std::optional<Answer> kept_of(const Answer& previous, const PromptRun& run) const {
    return previous.value != nullptr ? self_->kept_of(previous, run) : std::nullopt;
  }

 private:
  /// What is said of a question in one word each.
  struct Traits {
    std::string_view work;
    Capabilities needs = Capability::weights;
    bool quick = false, of_model = false, has_difference = false;
    bool on_baseline = false, of_comparison = false;
  };
  struct Erased {
    Erased(std::size_t its_hash, const Traits& its_traits) : hash(its_hash), traits(its_traits) {}
    virtual ~Erased() = default;
    virtual bool equals(const Erased& other) const = 0;
    virtual app::Answer compute(const PromptRun& run, const ComputeContext& context) const = 0;
    virtual std::optional<app::Answer> kept_of(const app::Answer&, const PromptRun&) const {
      return std::nullopt;
    }
    virtual std::vector<Question> sides() const { return {}; }
    /// Nothing: it is subtracted.
    virtual std::optional<app::Answer> compute_difference(const PromptRun&, const ComputeContext&) const {
      return std::nullopt;
    }
    virtual std::optional<Question> counterpart(const PromptRun&) const { return std::nullopt; }
    /// Without a value where it cannot be.
    virtual app::Answer subtract(const app::Answer&, const app::Answer&, const PromptRun&) const {
      return {};
    }
    const std::size_t hash;
    const Traits traits;
  };
  template <class Self>
  struct Wrapped;
  struct OnBaseline;
  struct Difference;
  struct Made {};
  Question(Made, std::shared_ptr<const Erased> self) : self_(std::move(self)) {}

  static std::size_t combine(std::size_t a, std::size_t b) {
    return (a ^ (b + 0x9e3779b97f4a7c15U + (a << 6U) + (a >> 2U))) * 0xff51afd7ed558ccdU;
  }
  template <class Q>
  static std::size_t hash_of(const Q& question) {
    const std::size_t type = typeid(Q).hash_code();
    if constexpr (requires { question.hash(); }) {
      return combine(type, question.hash());
    } else if constexpr (std::has_unique_object_representations_v<Q>) {
      return combine(type, std::hash<std::string_view>{}(
                               {reinterpret_cast<const char*>(&question), sizeof(Q)}));  // NOLINT
    }
    return type;
  }

  template <class Q>
  struct Typed final : Erased {
    using A = typename Q::Answer;
    static constexpr bool kSubtracts = requires(const Q& q, const A& a, const PromptRun& run) {
      { q.difference(a, a, run) } -> std::convertible_to<std::optional<A>>;
    };
    static constexpr bool kComputesDifference =
        requires(const Q& q, const PromptRun& run, const Work<A>& work) {
      { q.compute_difference(run, work) } -> std::same_as<A>;
    };
    static constexpr Traits traits_of_type() {
      Traits traits{.work = Q::kWork, .has_difference = kSubtracts || kComputesDifference};
      if constexpr (requires { Q::kQuick; }) traits.quick = Q::kQuick;
      if constexpr (requires { Q::kOfModel; }) traits.of_model = Q::kOfModel;
      if constexpr (requires { Q::kNeeds; }) traits.needs = Q::kNeeds;
      return traits;
    }

    explicit Typed(Q q) : Erased(hash_of(q), traits_of_type()), question(std::move(q)) {}
    bool equals(const Erased& other) const override {
      const auto* same = dynamic_cast<const Typed*>(&other);
      return same != nullptr && same->question == question;
    }
    static const A* typed(const app::Answer* answer) {
      return answer != nullptr ? static_cast<const A*>(answer->value.get()) : nullptr;
    }
    static app::Answer erased(A answer, bool whole) {
      const std::size_t bytes = answer.bytes();
      return {std::make_shared<const A>(std::move(answer)), bytes, whole, {}};
    }
    static Work<A> work_of(const ComputeContext& context) {
      return {context.workspace, context.stop, typed(context.begun), typed(context.previous),
              [&context](A part, double done) {
                if (context.show) context.show(erased(std::move(part), false), done);
              }};
    }
    app::Answer compute(const PromptRun& run, const ComputeContext& context) const override {
      return erased(question.compute(run, work_of(context)), true);
    }
    std::optional<app::Answer> kept_of(const app::Answer& previous, const PromptRun& run) const override {
      if constexpr (requires { question.kept_of(*typed(&previous), run); }) {
        if (auto kept = question.kept_of(*typed(&previous), run)) return erased(std::move(*kept), false);
      }
      return std::nullopt;
    }
    std::optional<app::Answer> compute_difference(const PromptRun& run,
                                                  const ComputeContext& context) const override {
      if constexpr (kComputesDifference)
        return erased(question.compute_difference(run, work_of(context)), true);
      return std::nullopt;
    }
    std::optional<Question> counterpart(const PromptRun& run) const override {
      Q there = question;
      if constexpr (requires { there.position = 0; }) {
        const int position = counterpart_of(run, question.position);
        if (position < 0) return std::nullopt;
        there.position = position;
      }
      return Question(std::move(there));
    }
    app::Answer subtract(const app::Answer& after, const app::Answer& before,
                         const PromptRun& run) const override {
      if constexpr (kSubtracts) {
        std::optional<A> difference = question.difference(*typed(&after), *typed(&before), run);
        if (difference) return erased(std::move(*difference), after.whole);
      }
      return {};
    }
    Q question;
  };

  std::shared_ptr<const Erased> self_;
};

struct QuestionHash {
  std::size_t operator()(const Question& question) const { return question.hash(); }
};
using QuestionSet = std::unordered_set<Question, QuestionHash>;

/// Whether a question is among a few others; of many see QuestionSet.
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
