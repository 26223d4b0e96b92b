#pragma once
#include <cstddef>

#include "model/pass/transformer.h"

namespace headscope::app {

/// The most memory that the program uses for a model, in bytes, if prompts are as long as the model allows
/// and share nothing with the one before. Memory of the graphics driver is not included.
struct MemoryBudget {
  std::size_t weights = 0;
  std::size_t runs = 0;  ///< Memo::budget: the shown run, the one being computed, answers about them
  /// Thumbnails of all heads (and those being made), and images in the shown pictures.
  std::size_t pictures = 0;
  std::size_t work = 0;     ///< activations of a chunk, scratch memory of each thread
  std::size_t program = 0;  ///< code, fonts, tokenizer, glyphs and triangles of a frame

  std::size_t total() const { return weights + runs + pictures + work + program; }
};

MemoryBudget memory_budget(const model::Transformer& transformer, int threads);

}  // namespace headscope::app
