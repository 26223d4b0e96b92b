#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "model/files/config.h"
#include "model/kernels/precision.h"

namespace headscope::model {

/// Reports the progress of long work, in [0, 1], with a word for the user. May be empty.
using Progress = std::function<void(double fraction, const char* what)>;

struct LoadOptions {
  Precision precision =
      Precision::f32;         ///< precision of the matrices in memory; arithmetic is always float32
  std::stop_token stop = {};  ///< polled between tensors; loading then throws Stopped
  Progress progress = {};
};

/// A row of the table of parameters.
struct Parameter {
  std::string name;  ///< Hugging Face's name without the `transformer.` prefix, e.g. "h.0.attn.c_attn.weight"
  std::vector<std::int64_t> shape;
  std::string dtype;  ///< as in the file; "zeros": a bias that it lacks

  /// The number of values.
  std::int64_t count() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    return count;
  }
};

/// What a loaded model tells of its folder and of its weights in memory.
struct LoadReport {
  Precision precision = Precision::f32;  ///< of the matrices
  std::size_t bytes = 0;                 ///< memory that the weights take
  std::vector<Parameter> parameters;     ///< in the model's order
  std::set<std::string> files;           ///< names of the files that the weights are from
  /// Sentences about the folder: what was taken differently than it is written, and what is not used.
  std::vector<std::string> notes, warnings;
};

}  // namespace headscope::model
