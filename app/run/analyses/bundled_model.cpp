#include "app/run/analyses/bundled_model.h"

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "app/run/sources/paths.h"
#include "app/run/sources/weights_hash.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;

std::uintmax_t size_of_weights(const fs::path& folder, const std::stop_token& stop) {
  std::uintmax_t size = 0;
  for (const std::string& name : weight_files(folder, stop))
    size += fs::file_size(folder / system::path_of(name));
  return size;
}

}  // namespace

IsBundled IsBundledModel::compute(const PromptRun& run, const Computation<IsBundled>& computation) const {
  const std::stop_token& stop = computation.stop;
  try {
    const fs::path bundled = bundled_model();
    if (run.model->patterns) return {false};
    if (fs::equivalent(bundled, run.model->folder))
      return {weights_stamp(bundled, stop) == run.model->weights_stamp};
    if (size_of_weights(bundled, stop) != size_of_weights(run.model->folder, stop)) return {false};
    return {weights_hash(bundled, stop) == weights_hash(*run.model, stop)};
  } catch (const std::runtime_error&) {  // one of the models is not there any more
    return {false};
  }
}

}  // namespace headscope::app
