#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/gradient/metric.h"
#include "model/pass/edits.h"
#include "tests/support/reference_gpt2.h"
#include "tests/support/tape.h"

namespace headscope::testing {

/// GPT-2 with edits in double precision, one scalar at a time, differentiated by a tape: only the pass
/// forward is written down, and what edits do to it.
class ReferenceGradients {
 public:
  explicit ReferenceGradients(const std::filesystem::path& folder) : parameters_(folder) {}

  /// A tensor in the order of model::hook_shape, flat.
  struct Result {
    double metric = 0;
    std::map<std::string, std::vector<double>> values;     ///< by hook name, after its edits
    std::map<std::string, std::vector<double>> gradients;  ///< by hook name
  };

  /// `offset`, `hook`, `cell`: adds a constant to one cell of that tensor after its edits.
  struct Offset {
    std::string hook;
    std::size_t cell = 0;
    double by = 0;
  };

  Result run(std::span<const int> tokens, const model::Edits& edits, const model::Metric& metric) const {
    return run(tokens, edits, metric, Offset());
  }
  Result run(std::span<const int> tokens, const model::Edits& edits, const model::Metric& metric,
             const Offset& offset) const;

 private:
  ReferenceGpt2 parameters_;
};

}  // namespace headscope::testing
