#include "app/run/question.h"

#include <exception>
#include <new>

#include "model/error.h"

namespace headscope::app {

std::string not_enough_memory(std::string_view work) {
  return "There is not enough memory for " + std::string(work) + ".";
}

Answer Question::compute(const PromptRun& run, const Means& means) const {
  try {
    return self_->compute(run, means);
  } catch (const model::Stopped&) {
    throw;
  } catch (const std::bad_alloc&) {
    return {nullptr, 0, true, not_enough_memory(work())};
  } catch (const std::exception& e) {
    return {nullptr, 0, true, e.what()};
  }
}

}  // namespace headscope::app
