#include "tests/model/tiny_model.h"

#include <algorithm>
#include <random>
#include <stdexcept>

namespace headscope::testing {

std::string random_floats(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0, 0.5F);
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const float value = normal(generator);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return bytes;
}

TinyModel TinyModel::random(TinyModel model) {
  unsigned seed = 0;
  const auto add = [&](const std::string& name, std::vector<std::int64_t> shape) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    model.tensors.push_back({name, "F32", std::move(shape), random_floats(count, ++seed)});
  };
  const std::int64_t d = model.n_embd;
  add("wte.weight", {model.vocab, d});
  add("wpe.weight", {model.n_ctx, d});
  for (int layer = 0; layer < model.n_layer; ++layer) {
    const std::string h = "h." + std::to_string(layer) + ".";
    add(h + "ln_1.weight", {d}), add(h + "ln_1.bias", {d});
    add(h + "attn.c_attn.weight", {d, 3 * d}), add(h + "attn.c_attn.bias", {3 * d});
    add(h + "attn.c_proj.weight", {d, d}), add(h + "attn.c_proj.bias", {d});
    add(h + "ln_2.weight", {d}), add(h + "ln_2.bias", {d});
    add(h + "mlp.c_fc.weight", {d, 4 * d}), add(h + "mlp.c_fc.bias", {4 * d});
    add(h + "mlp.c_proj.weight", {4 * d, d}), add(h + "mlp.c_proj.bias", {d});
  }
  add("ln_f.weight", {d}), add("ln_f.bias", {d});
  return model;
}

RawTensor& TinyModel::operator[](const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const RawTensor& tensor) { return tensor.name == name; });
  if (found == tensors.end()) throw std::out_of_range(name);
  return *found;
}

void TinyModel::erase(const std::string& name) {
  std::erase_if(tensors, [&](const RawTensor& tensor) { return tensor.name == name; });
}

void TinyModel::add_prefix() {
  for (RawTensor& tensor : tensors) tensor.name = "transformer." + tensor.name;
}

std::string TinyModel::config_json() const {
  const auto number = [](const char* key, int value) {
    return std::string("\"") + key + "\": " + std::to_string(value);
  };
  return "{\"model_type\": \"gpt2\", " + number("n_layer", n_layer) + ", " + number("n_head", n_head) + ", " +
         number("n_embd", n_embd) + ", " + number("n_positions", n_ctx) + ", " + number("vocab_size", vocab) +
         (more_config.empty() ? "" : ", " + more_config) + "}";
}

void TinyModel::write(const TemporaryFolder& folder) const {
  folder.write("config.json", config_json());
  folder.write("model.safetensors", safetensors_bytes(tensors));
}

}  // namespace headscope::testing
