#include "app/run/question.h"

#include <exception>
#include <new>

#include "app/run/sources/pattern_file.h"
#include "model/files/error.h"

namespace headscope::app {

std::string not_enough_memory(std::string_view work) {
  return "There is not enough memory for " + std::string(work) + ".";
}

/// A question made of another one. It compares as its type and that one do.
template <class Self>
struct Question::Wrapped : Erased {
  explicit Wrapped(Question of) : inner(std::move(of)) {}
  bool equals(const Erased& another) const override {
    const auto* same = dynamic_cast<const Self*>(&another);
    return same != nullptr && same->inner == inner;
  }
  std::string_view work() const override { return inner.work(); }
  bool quick() const override { return inner.quick(); }
  bool of_model() const override { return inner.of_model(); }
  bool of_patterns() const override { return inner.of_patterns(); }
  bool has_difference() const override { return false; }
  bool of_comparison() const override { return true; }
  std::optional<Answer> kept_of(const Answer&, const PromptRun&) const override { return std::nullopt; }
  Answer changed(const Answer& after, const Answer&, const PromptRun&) const override { return after; }
  static const PromptRun& other(const PromptRun& run) { return run.baseline ? *run.baseline : run; }
  Question inner;
};

struct Question::OfOther final : Wrapped<OfOther> {
  using Wrapped::Wrapped;
  bool is_on_baseline() const override { return true; }
  Answer compute(const PromptRun& run, const ComputeContext& means) const override {
    return inner.self_->compute(other(run), means);
  }
};

struct Question::ChangeOf final : Wrapped<ChangeOf> {
  using Wrapped::Wrapped;
  Answer compute(const PromptRun& run, const ComputeContext& means) const override {
    const ComputeContext whole{means.workspace, means.stop, nullptr, nullptr, {}};
    const Answer after = inner.self_->compute(run, whole);
    return inner.self_->changed(after, inner.self_->compute(other(run), whole), run);
  }
};

Question Question::on_baseline() const {
  return Question(Made(), std::make_shared<const OfOther>(*this));
}

Question Question::difference() const {
  return Question(Made(), std::make_shared<const ChangeOf>(*this));
}

Answer Question::compute(const PromptRun& run, const ComputeContext& means) const {
  try {
    if (run.model && run.model->patterns && !of_patterns()) throw model::RunError(needs_weights(*run.model));
    return self_->compute(run, means);
  } catch (const model::Stopped&) {
    throw;
  } catch (const std::bad_alloc&) {
    return {nullptr, 0, true, not_enough_memory(work()), true};
  } catch (const std::exception& e) {
    return {nullptr, 0, true, e.what()};
  }
}

}  // namespace headscope::app
