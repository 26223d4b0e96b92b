#pragma once
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "app/run/prompt_run.h"

namespace headscope::app {

/// Progress over a list of prompts: the member `progress` of answers about one.
struct ListProgress {
  std::size_t done = 0;     ///< prompts, from the first on
  std::size_t skipped = 0;  ///< prompts among them that could not be run
  std::string problem;      ///< why the first of these could not be run: "prompt 3: …"
};

/// "2 of 40 prompts were skipped, the first because: ..."; empty: none was.
std::string skipped_words(const ListProgress& progress);

class Question;
template <class Answer>
struct Computation;

/// The type of a question's answer, which its `compute` returns.
template <class Answer, class Q>
Answer answer_type(Answer (Q::*)(const PromptRun&, const Computation<Answer>&) const);
template <class Q>
using AnswerOf = decltype(answer_type(&Q::compute));

/// The resources for computing an answer, and the way to show parts of it.
template <class Answer>
struct Computation : Resources {
  /// The part of this answer that was shown before it was stopped; null: none.
  const Answer* partial = nullptr;
  /// The answer about an earlier run with the same edits, complete or not; null: none.
  const Answer* previous = nullptr;
  std::function<void(std::optional<Answer> part, double done)> shown = {};  ///< empty: nothing is shown
  std::function<std::shared_ptr<const void>(const Question& question)> asked = {};  ///< empty: see ask

  /// Shows a part of the answer and the fraction done, in [0, 1]. It is also what `partial` will be.
  void show(Answer part, double done) const {
    if (shown) shown(std::move(part), done);
  }
  /// Shows the fraction done alone.
  void progress(double done) const {
    if (shown) shown(std::nullopt, done);
  }
  /// The answer to another question about the run that this one is about; kept for others, if answers are.
  /// Throws as its `compute`.
  template <class Q>
  std::shared_ptr<const AnswerOf<Q>> ask(const Q& question, const PromptRun& run) const {
    if (asked) return std::static_pointer_cast<const AnswerOf<Q>>(asked(question));
    const Resources& own = *this;
    return std::make_shared<const AnswerOf<Q>>(question.compute(run, {own}));
  }
};

/// A hash of numbers, one that depends on their order.
template <class... Number>
std::size_t hash_of(Number... numbers) {
  std::size_t all = 0;
  ((all = (all ^ (static_cast<std::size_t>(numbers) + 0x9e3779b97f4a7c15U + (all << 6U) + (all >> 2U))) *
          0xff51afd7ed558ccdU),
   ...);
  return all;
}
template <class Number>
std::size_t hash_of(const std::vector<Number>& numbers) {
  std::size_t all = 0;
  for (const Number number : numbers) all = hash_of(all, number);
  return all;
}

/// The memory of vectors' elements, for Answer::bytes().
template <class... T>
std::size_t bytes_of(const std::vector<T>&... vectors) {
  return ((vectors.size() * sizeof(T)) + ...);
}

/// Base of quick questions about a head.
struct HeadQuestion {
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  bool operator==(const HeadQuestion&) const = default;
};

/// An answer whose type only its question knows, or the reason why there is none.
struct Answer {
  std::shared_ptr<const void> value;  ///< null: it failed, or is a difference without a counterpart
  std::size_t bytes = 0;              ///< memory it takes
  bool whole = true;                  ///< false: a part; the rest is still being computed
  std::string failure;                ///< one sentence; empty: it succeeded
  bool lacked_memory = false;         ///< it failed for lack of memory
  std::string skipped = {};           ///< prompts of a list that it leaves out: one sentence; empty: none
};

/// A question about a run: a small comparable value that can compute its answer, of any type Q that has
///
///     static constexpr std::string_view kName;  what is computed, for the status line
///     static constexpr bool kQuick = true;    if it takes a few ms: a run is shown together with the answer
///     static constexpr bool kModelOnly = true;  if the answer depends on the model alone, not on the run
///     static constexpr Capability kNeeds;   if it is not the weights of a GPT-2: see Capability
///     bool operator==(const Q&) const;
///     Answer compute(const PromptRun& run, const Computation<Answer>& computation) const;
///                                             immutable once computed; if it has bytes(), its memory
///     bool reads_baseline() const;
///     std::optional<Answer> reusable_part(const Answer& previous, const PromptRun& run) const;
///
/// A question with a member `over` is about a list of prompts, which depends on the model alone, or without a
/// list about the run: see over_prompts.
///
/// compute throws RunError or Stopped. The last two are optional: reads_baseline if the answer may depend on
/// `run.baseline`, which compute is not given otherwise; reusable_part if part of another run's answer is
/// valid for this run without any work. Where that of `run.baseline` can be subtracted from the answer,
/// either the answer or its question does so for every view and command:
///
///     Answer minus(const Answer& before, const PromptRun& run) const;
///     Answer compute_difference(const PromptRun& run, const PromptRun& baseline,
///                               const Computation<Answer>& computation) const;
///
/// the second if the difference is not made from two answers. `before` is complete and answers the question's
/// counterpart: for a question with a `position`, or `measured` at one, the one about its counterpart in the
/// baseline. minus() may be called for a part, and return a std::optional, which is empty if a part cannot be
/// subtracted.
class Question {
 public:
  /// A Computation without the answer's type.
  struct ComputeContext : Resources {
    using Show = std::function<void(app::Answer part, double done)>;  ///< part.value null: the progress alone
    const app::Answer* partial = nullptr;
    const app::Answer* previous = nullptr;
    Show show = {};
    /// Answers another question about the same run and keeps the answer. Empty: not available, compute it.
    std::function<std::shared_ptr<const app::Answer>(const Question& question, const Show& show)> ask = {};
    /// What `ask` answers. Throws RunError if that failed, or std::bad_alloc.
    std::shared_ptr<const void> value_of(const Question& question) const;
  };

  template <class Q>
  requires(!std::same_as<std::remove_cvref_t<Q>, Question>)
      Question(Q question)  // NOLINT(google-explicit-constructor): a question is a Question
      : self_(std::make_shared<const Holder<Q>>(std::move(question))) {}

  bool operator==(const Question& other) const {
    return about_ == other.about_ &&
           (self_ == other.self_ || (self_->hash == other.self_->hash && self_->equals(*other.self_)));
  }
  /// Equal for equal questions.
  std::size_t hash() const { return hash_of(self_->hash, about_); }
  std::string name() const {
    return (about_ == About::difference ? "difference in " : "") + std::string(self_->traits.name);
  }
  bool quick() const { return self_->traits.quick; }
  bool is_model_only() const { return self_->traits.model_only; }
  /// Whether the answer depends on the baseline of the run.
  bool reads_baseline() const { return about_ == About::difference || self_->traits.reads_baseline; }
  Question about_run() const { return {self_, About::run}; }
  /// The same question about the baseline; for a run without one, about the run itself.
  Question on_baseline() const { return {self_, About::baseline}; }
  bool is_on_baseline() const { return about_ == About::baseline; }
  /// The run's answer minus the baseline's: signed differences, in an answer of the same type; no value
  /// without a counterpart in the baseline. Only if has_difference.
  Question difference() const { return {self_, About::difference}; }
  bool is_difference() const { return about_ == About::difference; }
  bool has_difference() const { return about_ == About::run && self_->traits.has_difference; }
  /// What a model must have to answer it; any other model gets a failure.
  Capability needs() const { return self_->traits.needs; }
  /// Throws model::Stopped; any other failure is returned in the answer.
  Answer compute(const PromptRun& run, const ComputeContext& context) const;
  /// The part of another run's answer that is valid for this run; nothing if there is none.
  std::optional<Answer> reusable_part(const Answer& previous, const PromptRun& run) const {
    return previous.value != nullptr ? self_->reusable_part(previous, run) : std::nullopt;
  }

 private:
  /// Properties of a question.
  struct Traits {
    std::string_view name;
    Capability needs = Capability::weights;
    bool quick = false, model_only = false, reads_baseline = false, has_difference = false;
  };
  struct Base {
    Base(std::size_t its_hash, const Traits& its_traits) : hash(its_hash), traits(its_traits) {}
    virtual ~Base() = default;
    virtual bool equals(const Base& other) const = 0;
    virtual app::Answer compute(const PromptRun& run, const ComputeContext& context) const = 0;
    virtual std::optional<app::Answer> reusable_part(const app::Answer& previous, const PromptRun&) const = 0;
    virtual app::Answer compute_difference(const PromptRun& run, const ComputeContext& context) const = 0;
    const std::size_t hash;
    const Traits traits;
  };
  enum class About { run, baseline, difference };
  Question(std::shared_ptr<const Base> self, About about) : self_(std::move(self)), about_(about) {}
  /// Subtracts the baseline's answer, also from parts; without a value if it cannot be subtracted.
  using Subtract = std::function<Answer(const Answer& after, const Answer& before)>;
  static Answer difference_of(const Question& own, const Question& there, const PromptRun& run,
                              const ComputeContext& context, const Subtract& subtract);

  template <class Q>
  static std::size_t hash_in_type(const Q& question) {
    const std::size_t type = typeid(Q).hash_code();
    if constexpr (std::has_unique_object_representations_v<Q>)
      return hash_of(type, std::hash<std::string_view>{}(
                               {reinterpret_cast<const char*>(&question), sizeof(Q)}));  // NOLINT
    return type;  // it has padding, or refers to something; few of its kind are asked
  }

  template <class Q>
  struct Holder final : Base {
    using A = AnswerOf<Q>;
    static constexpr bool kSubtracts = requires(const A& a, const PromptRun& run) {
      { a.minus(a, run) } -> std::convertible_to<std::optional<A>>;
    };
    static constexpr bool kComputesDifference =
        requires(const Q& q, const PromptRun& run, const Computation<A>& computation) {
      { q.compute_difference(run, run, computation) } -> std::same_as<A>;
    };
    static Traits traits_of(const Q& question) {
      Traits traits{.name = Q::kName, .has_difference = kSubtracts || kComputesDifference};
      if constexpr (requires { question.reads_baseline(); })
        traits.reads_baseline = question.reads_baseline();
      if constexpr (requires { Q::kQuick; }) traits.quick = Q::kQuick;
      if constexpr (requires { Q::kModelOnly; }) traits.model_only = Q::kModelOnly;
      if constexpr (requires { Q::kNeeds; }) traits.needs = Q::kNeeds;
      if constexpr (requires { question.over.list; })
        if (question.over.list != nullptr) traits.model_only = true, traits.quick = false;
      return traits;
    }

    explicit Holder(Q q) : Base(hash_in_type(q), traits_of(q)), question(std::move(q)) {}
    bool equals(const Base& other) const override {
      const auto* same = dynamic_cast<const Holder*>(&other);
      return same != nullptr && same->question == question;
    }
    static const A* to_typed(const app::Answer* answer) {
      return answer != nullptr ? static_cast<const A*>(answer->value.get()) : nullptr;
    }
    static app::Answer to_answer(A answer, bool whole) {
      app::Answer made;
      if constexpr (requires { answer.bytes(); }) made.bytes = answer.bytes();
      made.whole = whole;
      if constexpr (requires { answer.progress.skipped; }) made.skipped = skipped_words(answer.progress);
      made.value = std::make_shared<const A>(std::move(answer));
      return made;
    }
    static Computation<A> computation_of(const ComputeContext& context) {
      Computation<A> computation{context, to_typed(context.partial), to_typed(context.previous),
                                 [&context](std::optional<A> part, double done) {
                                   if (context.show)
                                     context.show(part ? to_answer(std::move(*part), false) : app::Answer(),
                                                  done);
                                 }};
      if (context.ask)
        computation.asked = [&context](const Question& question) { return context.value_of(question); };
      return computation;
    }
    app::Answer compute(const PromptRun& run, const ComputeContext& context) const override {
      return to_answer(question.compute(run, computation_of(context)), true);
    }
    std::optional<app::Answer> reusable_part(const app::Answer& previous,
                                             const PromptRun& run) const override {
      if constexpr (requires { question.reusable_part(*to_typed(&previous), run); }) {
        if (auto kept = question.reusable_part(*to_typed(&previous), run))
          return to_answer(std::move(*kept), false);
      }
      return std::nullopt;
    }
    app::Answer compute_difference(const PromptRun& run, const ComputeContext& context) const override {
      if constexpr (kComputesDifference) {
        const PromptRun& baseline = run.baseline ? *run.baseline : run;
        return to_answer(question.compute_difference(run, baseline, computation_of(context)), true);
      } else if constexpr (kSubtracts) {
        const auto subtract = [&](const app::Answer& after, const app::Answer& before) -> app::Answer {
          std::optional<A> difference = to_typed(&after)->minus(*to_typed(&before), run);
          return difference ? to_answer(std::move(*difference), after.whole) : app::Answer();
        };
        if (const auto there = counterpart(run))
          return difference_of(question, there->on_baseline(), run, context, subtract);
      }
      return {};
    }
    std::optional<Question> counterpart(const PromptRun& run) const {
      Q there = question;
      if constexpr (requires { there.position = 0; }) {
        there.position = counterpart_of(run, question.position);
        if (there.position < 0) return std::nullopt;
      } else if constexpr (requires { there.measured.position = 0; }) {
        if (question.measured.position < 0) return Question(question);  // not about one position
        there.measured.position = counterpart_of(run, question.measured.position);
        if (there.measured.position < 0) return std::nullopt;
      }
      return Question(std::move(there));
    }
    Q question;
  };

  std::shared_ptr<const Base> self_;
  About about_ = About::run;
};

struct QuestionHash {
  std::size_t operator()(const Question& question) const { return question.hash(); }
};
using QuestionSet = std::unordered_set<Question, QuestionHash>;
using AnswerMap = std::unordered_map<Question, std::shared_ptr<const Answer>, QuestionHash>;

/// The failure of work that ran out of memory: one sentence.
std::string not_enough_memory(std::string_view computation);

/// Where views get their answers. Every question is recorded, so that missing answers can be computed.
class Answers {
 public:
  virtual ~Answers() = default;
  /// Null while nothing is known yet, not even a failure.
  virtual std::shared_ptr<const Answer> ask(const Question& question) = 0;
};

/// The answer in its own type, possibly a part; null while there is none, and if it failed.
template <class Q>
std::shared_ptr<const AnswerOf<Q>> ask(Answers& answers, const Q& question) {
  const std::shared_ptr<const Answer> known = answers.ask(question);
  return known ? std::static_pointer_cast<const AnswerOf<Q>>(known->value) : nullptr;
}

}  // namespace headscope::app
