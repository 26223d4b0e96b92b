#include "app/run/question.h"

#include <exception>
#include <new>

#include "model/files/error.h"

namespace headscope::app {

std::string not_enough_memory(std::string_view work) {
  return "There is not enough memory for " + std::string(work) + ".";
}

/// A question made of another one. It compares as its type and that one do.
template <class Self>
struct Question::Wrapped : Erased {
  explicit Wrapped(Question of)
      : Erased(combine(typeid(Self).hash_code(), of.hash())), inner(std::move(of)) {}
  bool equals(const Erased& another) const override {
    const auto* same = dynamic_cast<const Self*>(&another);
    return same != nullptr && same->inner == inner;
  }
  std::string_view work() const override { return inner.work(); }
  bool quick() const override { return inner.quick(); }
  bool of_model() const override { return inner.of_model(); }
  Capabilities needs() const override { return inner.needs(); }
  bool of_comparison() const override { return true; }
  Question inner;
};

struct Question::OnBaseline final : Wrapped<OnBaseline> {
  using Wrapped::Wrapped;
  bool is_on_baseline() const override { return true; }
  Answer compute(const PromptRun& run, const ComputeContext& context) const override {
    return inner.self_->compute(run.baseline ? *run.baseline : run, context);
  }
};

struct Question::Difference final : Wrapped<Difference> {
  using Wrapped::Wrapped;
  Answer compute(const PromptRun& run, const ComputeContext& context) const override {
    if (auto computed = inner.self_->compute_difference(run, context)) return std::move(*computed);
    const auto there = inner.self_->counterpart(run);
    if (!there) return {};
    const auto part = [&](const Question& question) {
      const auto known = context.known ? context.known(question) : nullptr;
      if (known && known->whole && known->value) return *known;
      return question.self_->compute(run, {context.workspace, context.stop, nullptr, nullptr, {}});
    };
    const Answer after = part(inner);
    return inner.self_->subtract(after, part(there->on_baseline()), run);
  }
};

Question Question::on_baseline() const {
  return Question(Made(), std::make_shared<const OnBaseline>(*this));
}

Question Question::difference() const {
  return Question(Made(), std::make_shared<const Difference>(*this));
}

Answer Question::compute(const PromptRun& run, const ComputeContext& context) const {
  try {
    if (run.model) require(*run.model, needs());
    return self_->compute(run, context);
  } catch (const model::Stopped&) {
    throw;
  } catch (const std::bad_alloc&) {
    return {nullptr, 0, true, not_enough_memory(work()), true};
  } catch (const std::exception& e) {
    return {nullptr, 0, true, e.what()};
  }
}

}  // namespace headscope::app
