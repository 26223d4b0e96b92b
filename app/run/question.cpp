#include "app/run/question.h"

#include <exception>

#include "model/error.h"

namespace headscope::app {

Answer Question::compute(const PromptRun& run, const Means& means) const {
  try {
    return self_->compute(run, means);
  } catch (const model::Stopped&) {
    throw;
  } catch (const std::exception& e) {
    return {nullptr, 0, true, e.what()};
  }
}

}  // namespace headscope::app
