#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/safetensors_bytes.h"
#include "tests/support/temporary_folder.h"

namespace headscope::testing {

/// A GPT-2 small enough for a test to build in memory, change and write to a folder.
struct TinyModel {
  int n_layer = 2, n_head = 2, n_embd = 8, n_ctx = 16, vocab = 20;
  std::string more_config;         // e.g. `"tie_word_embeddings": false`
  std::vector<RawTensor> tensors;  // the 4 + 12 n_layer of the transformer, F32, random

  /// Fills `tensors`.
  static TinyModel random() { return random(TinyModel()); }
  static TinyModel random(TinyModel shape);

  RawTensor& operator[](const std::string& name);
  void erase(const std::string& name);
  void add_prefix();  ///< `transformer.` before every name

  std::string config_json() const;

  /// Writes config.json and model.safetensors.
  void write(const TemporaryFolder& folder) const;
};

/// Bytes of `count` float32 numbers, different for every seed.
std::string random_floats(std::size_t count, unsigned seed);

}  // namespace headscope::testing
