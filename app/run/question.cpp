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

std::shared_ptr<const void> Question::ComputeContext::value_of(const Question& question) const {
  const auto answer = ask(question, {});
  if (answer->lacked_memory) throw std::bad_alloc();
  if (!answer->failure.empty()) throw model::RunError(answer->failure);
  return answer->value;
}

Answer Question::difference_of(const Question& own, const Question& there, const PromptRun& run,
                               const ComputeContext& context, const Subtract& subtract) {
  const auto answer = [&](const Question& side, const ComputeContext::Show& show) {
    if (context.ask) return *context.ask(side, show);
    return side.compute(run, {context.workspace, context.stop, nullptr, nullptr, show});
  };
  // The baseline's answer first: it is usually known, and the run's answer is then shown growing.
  const Answer before = answer(there, {});
  if (!before.failure.empty()) return before;
  const Answer after = answer(own, [&](const Answer& part, double done) {
    if (context.show) context.show(part.value ? subtract(part, before) : Answer(), done);
  });
  return after.failure.empty() ? subtract(after, before) : after;
}

Answer Question::compute(const PromptRun& run, const ComputeContext& context) const {
  try {
    if (run.model) require(*run.model, needs());
    if (about_ == About::difference) return self_->compute_difference(run, context);
    if (about_ == About::baseline && run.baseline) {
      ComputeContext there = context;
      if (context.ask)
        there.ask = [&](const Question& asked, const ComputeContext::Show& show) {
          return context.ask(asked.on_baseline(), show);
        };
      return self_->compute(*run.baseline, there);
    }
    if (!run.baseline || reads_baseline()) return self_->compute(run, context);
    PromptRun alone = run;
    alone.baseline.reset();
    return self_->compute(alone, context);
  } catch (const model::Stopped&) {
    throw;
  } catch (const std::bad_alloc&) {
    return {nullptr, 0, true, not_enough_memory(name()), true};
  } catch (const std::exception& e) {
    return {nullptr, 0, true, e.what()};
  }
}

}  // namespace headscope::app
