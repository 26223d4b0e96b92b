#pragma once
#include <cstddef>

#include "model/transformer.h"

namespace headscope::app {

/// The most memory that the program takes of a model, in bytes, when prompts are as long as the model allows
/// and each shares nothing with the one before. Views that show the stages of a head take three more matrices
/// for it.
struct MemoryBudget {
  std::size_t weights = 0;
  std::size_t runs = 0;  ///< RunCache::budget: the run that is shown and the one that is computed
  std::size_t pictures =
      0;                 ///< what both show: a head's pattern, thumbnails of all heads (and those being made)
  std::size_t work = 0;  ///< activations of a chunk, scratch of each thread
  std::size_t program = 0;  ///< code, fonts, tokenizer

  std::size_t total() const { return weights + runs + pictures + work + program; }
};

MemoryBudget memory_budget(const model::Transformer& transformer, int threads);

/// The most memory this process ever had in use, in bytes (VmHWM of /proc/self/status); 0 where that cannot
/// be read.
double peak_memory_bytes();

}  // namespace headscope::app
