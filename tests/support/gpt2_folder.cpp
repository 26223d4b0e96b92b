#include "tests/support/gpt2_folder.h"
#include "tests/support/source_folders.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>
#include <stdexcept>

namespace headscope::testing {

std::string gpt2_config(const Gpt2Shape& shape, std::string_view more) {
  const auto number = [](const char* key, int value) {
    return ",\"" + std::string(key) + "\":" + std::to_string(value);
  };
  return R"({"activation_function":"gelu_new","architectures":["GPT2LMHeadModel"],"attn_pdrop":0.1,"embd_pdrop":0.1,)"
         R"("initializer_range":0.02,"layer_norm_epsilon":1e-05,"model_type":"gpt2","resid_pdrop":0.1,)"
         R"("summary_activation":null,"summary_first_dropout":0.1,"summary_proj_to_labels":true,)"
         R"("summary_type":"cls_index","summary_use_proj":true,)"
         R"("task_specific_params":{"text-generation":{"do_sample":true,"max_length":50}})" +
         number("n_ctx", shape.positions) + number("n_positions", shape.positions) +
         number("n_embd", shape.width) + number("n_head", shape.heads) + number("n_layer", shape.layers) +
         number("vocab_size", shape.vocabulary) + number("bos_token_id", shape.vocabulary - 1) +
         number("eos_token_id", shape.vocabulary - 1) + std::string(more) + "}";
}

RawTensor random_tensor(const std::string& name, std::string_view dtype, std::vector<std::int64_t> shape,
                        std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  std::string bytes;
  for (std::int64_t i = 0; i < count; ++i) {
    bytes += bytes_of(static_cast<float>(static_cast<int>(random() % 127) - 63) / 64, dtype);
  }
  return {name, std::string(dtype), std::move(shape), std::move(bytes)};
}

std::vector<RawTensor> gpt2_tensors(const Gpt2Shape& shape, std::string_view dtype, std::uint64_t seed) {
  const std::int64_t d = shape.width;
  std::vector<RawTensor> tensors;
  const auto add = [&](const std::string& name, std::vector<std::int64_t> extents) {
    tensors.push_back(random_tensor(name, dtype, std::move(extents), seed * 1000 + tensors.size()));
  };
  add("wte.weight", {shape.vocabulary, d});
  add("wpe.weight", {shape.positions, d});
  for (int layer = 0; layer < shape.layers; ++layer) {
    const std::string h = "h." + std::to_string(layer) + ".";
    add(h + "ln_1.weight", {d});
    add(h + "ln_1.bias", {d});
    add(h + "attn.c_attn.weight", {d, 3 * d});
    add(h + "attn.c_attn.bias", {3 * d});
    add(h + "attn.c_proj.weight", {d, d});
    add(h + "attn.c_proj.bias", {d});
    add(h + "ln_2.weight", {d});
    add(h + "ln_2.bias", {d});
    add(h + "mlp.c_fc.weight", {d, 4 * d});
    add(h + "mlp.c_fc.bias", {4 * d});
    add(h + "mlp.c_proj.weight", {4 * d, d});
    add(h + "mlp.c_proj.bias", {d});
  }
  add("ln_f.weight", {d});
  add("ln_f.bias", {d});
  return tensors;
}

void write_gpt2(const TemporaryFolder& folder, const std::string& config,
                const std::vector<RawTensor>& tensors) {
  folder.write("config.json", config);
  folder.write("model.safetensors", safetensors_bytes(tensors));
}

void write_other_model(const TemporaryFolder& folder, const Gpt2Shape& shape) {
  for (const char* file : {"vocab.json", "merges.txt"}) {
    std::filesystem::copy_file(headscope::testing::source_dir() / "assets/models/tales" / file,
                               folder.path() / file, std::filesystem::copy_options::overwrite_existing);
  }
  write_gpt2(folder, gpt2_config(shape), gpt2_tensors(shape));
}

void write_model_with_warnings(const TemporaryFolder& folder) {
  Gpt2Shape shape{.positions = 64, .vocabulary = 4096};
  write_other_model(folder, shape);
  auto tensors = gpt2_tensors(shape);
  tensors.push_back(random_tensor("h.7.ln_1.weight", "F32", {shape.width}, 1));
  shape.positions = 32, shape.vocabulary = 4000;
  write_gpt2(folder, gpt2_config(shape), tensors);
  folder.write("adapter_config.json", "{}");
}

void write_model_with_nan(const TemporaryFolder& folder, std::string_view tensor, std::size_t at) {
  const Gpt2Shape shape{.positions = 64, .vocabulary = 4096};
  write_other_model(folder, shape);
  auto tensors = gpt2_tensors(shape);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto found = std::ranges::find(tensors, tensor, &RawTensor::name);
  if (found == tensors.end()) throw std::invalid_argument("no tensor " + std::string(tensor));
  std::memcpy(found->bytes.data() + at * sizeof nan, &nan, sizeof nan);
  write_gpt2(folder, gpt2_config(shape), tensors);
}

}  // namespace headscope::testing
