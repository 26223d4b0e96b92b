#pragma once
#include <cstddef>

#include "model/pass/transformer.h"

namespace headscope::app {

/// The most memory that the program takes of a model, in bytes, when prompts are as long as the model allows
/// and each shares nothing with the one before. What a graphics driver takes for itself is not in it.
struct MemoryBudget {
  std::size_t weights = 0;
  std::size_t runs =
      0;  ///< Memo::budget: the run that is shown, the one that is computed, answers about them
  /// Thumbnails of all heads (and those being made), and images of what is shown.
  std::size_t pictures = 0;
  std::size_t work = 0;     ///< activations of a chunk, scratch of each thread
  std::size_t program = 0;  ///< code, fonts, tokenizer, glyphs and triangles of a frame

  std::size_t total() const { return weights + runs + pictures + work + program; }
};

MemoryBudget memory_budget(const model::Transformer& transformer, int threads);

/// The most memory this process ever had in use, in bytes (VmHWM of /proc/self/status); 0 where that cannot
/// be read.
double peak_memory_bytes();

}  // namespace headscope::app
