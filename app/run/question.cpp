#include "app/run/question.h"

#include <cstdint>
#include <exception>
#include <new>

#include "app/counted.h"
#include "model/files/error.h"

namespace headscope::app {

std::string skipped_words(const ListProgress& progress) {
  if (progress.skipped == 0) return "";
  const auto skipped = static_cast<std::int64_t>(progress.skipped);
  return grouped(skipped) + " of " + counted(static_cast<std::int64_t>(progress.done), "prompt") +
         (skipped == 1 ? " was skipped: " : " were skipped, the first because: ") + progress.problem;
}

std::string not_enough_memory(std::string_view work) {
  return "There is not enough memory for " + std::string(work) + ".";
}

/// A question made from another one; it is equal to another if its type and its inner question are.
template <class Self>
struct Question::Wrapper : Base {
  Wrapper(Question of, bool on_baseline, std::string_view work)
      : Base(combine(typeid(Self).hash_code(), of.hash()),
             Traits{work, of.needs(), of.quick(), of.is_model_only(), false, on_baseline, true}),
        inner(std::move(of)) {}
  bool equals(const Base& another) const override {
    const auto* same = dynamic_cast<const Self*>(&another);
    return same != nullptr && same->inner == inner;
  }
  Question inner;
};

struct Question::OnBaseline final : Wrapper<OnBaseline> {
  explicit OnBaseline(const Question& of) : Wrapper(of, true, of.name()) {}
  Answer compute(const PromptRun& run, const ComputeContext& context) const override {
    return inner.self_->compute(run.baseline ? *run.baseline : run, context);
  }
};

/// What its traits refer to.
struct DifferenceWords {
  explicit DifferenceWords(const Question& of) : words("difference in " + std::string(of.name())) {}
  const std::string words;
};

struct Question::Difference final : private DifferenceWords, Wrapper<Difference> {
  explicit Difference(const Question& of) : DifferenceWords(of), Wrapper(of, false, words) {}
  Answer compute(const PromptRun& run, const ComputeContext& context) const override {
    if (auto computed = inner.self_->compute_difference(run, context)) return std::move(*computed);
    const auto there = inner.self_->counterpart(run);
    if (!there) return {};
    const auto answer = [&](const Question& side, const ComputeContext::Show& show) {
      if (context.ask) return *context.ask(side, show);
      return side.self_->compute(run, {context.workspace, context.stop, nullptr, nullptr, show});
    };
    // The baseline's answer first: it is usually known, and the run's answer is then shown growing.
    const Answer before = answer(there->on_baseline(), {});
    if (!before.failure.empty()) return before;
    const Answer after = answer(inner, [&](const Answer& part, double done) {
      Answer difference = inner.self_->subtract(part, before, run);
      if (context.show && difference.value) context.show(std::move(difference), done);
    });
    return after.failure.empty() ? inner.self_->subtract(after, before, run) : after;
  }
  std::vector<Question> sides() const override { return {inner, inner.on_baseline()}; }
};

Question Question::on_baseline() const {
  return Question(PrivateTag(), std::make_shared<const OnBaseline>(*this));
}

Question Question::difference() const {
  return Question(PrivateTag(), std::make_shared<const Difference>(*this));
}

Answer Question::compute(const PromptRun& run, const ComputeContext& context) const {
  try {
    if (run.model) require(*run.model, needs());
    return self_->compute(run, context);
  } catch (const model::Stopped&) {
    throw;
  } catch (const std::bad_alloc&) {
    return {nullptr, 0, true, not_enough_memory(name()), true};
  } catch (const std::exception& e) {
    return {nullptr, 0, true, e.what()};
  }
}

}  // namespace headscope::app
