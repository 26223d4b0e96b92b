#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/safetensors_bytes.h"
#include "tests/support/temporary_folder.h"

namespace headscope::testing {

/// The sizes of a GPT-2 created for a test.
struct Gpt2Shape {
  int layers = 2;
  int heads = 2;
  int width = 8;
  int positions = 16;
  int vocabulary = 300;
};

/// The `config.json` of that model, with the members of published files, including nulls. `more` is inserted
/// before the last brace, e.g. `,"n_inner":12`.
std::string gpt2_config(const Gpt2Shape& shape, std::string_view more = "");

/// The tensors of that model, with Hugging Face's names without prefix. All values are multiples of 1/64
/// below 1, so that F32, F16 and BF16 represent them exactly; the same seed gives the same values.
std::vector<RawTensor> gpt2_tensors(const Gpt2Shape& shape, std::string_view dtype = "F32",
                                    std::uint64_t seed = 1);

/// One tensor with such values.
RawTensor random_tensor(const std::string& name, std::string_view dtype, std::vector<std::int64_t> shape,
                        std::uint64_t seed);

/// Writes config.json and model.safetensors.
void write_gpt2(const TemporaryFolder& folder, const std::string& config,
                const std::vector<RawTensor>& tensors);

/// Writes a complete model of that shape, with the bundled model's tokenizer and unrelated weights.
void write_other_model(const TemporaryFolder& folder,
                       const Gpt2Shape& shape = {.positions = 64, .vocabulary = 4096});

/// The same with an unused tensor, "h.7.ln_1.weight", an unused adapter, and other numbers of tokens and
/// positions in config.json than in the weights: four warnings.
void write_model_with_warnings(const TemporaryFolder& folder);

/// The same as write_other_model with NaN as one value of a tensor.
void write_model_with_nan(const TemporaryFolder& folder, std::string_view tensor, std::size_t at = 0);

}  // namespace headscope::testing
