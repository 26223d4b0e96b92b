#include "model/weights.h"

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "model/error.h"
#include "model/file_io.h"
#include "model/quote.h"
#include "model/tensor_source.h"

namespace headscope::model {
namespace {

namespace fs = std::filesystem;

template <class T>
using ConstArray = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

std::optional<Precision> precision_of(const std::string& dtype) {
  if (dtype == "F32") return Precision::f32;
  if (dtype == "F16") return Precision::f16;
  if (dtype == "BF16") return Precision::bf16;
  return std::nullopt;
}

std::size_t element_bytes(Precision precision) {
  return precision == Precision::f32 ? 4 : 2;
}

std::string to_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

/// Rounds to the nearest, ties to even. from, to: [n], aligned for their types.
template <class From, class To>
void convert(const void* from, std::size_t n, void* to) {
  const auto count = static_cast<Eigen::Index>(n);
  const ConstArray<From> source(static_cast<const From*>(from), count);
  Eigen::Map<Eigen::Array<To, Eigen::Dynamic, 1>>(static_cast<To*>(to), count) =
      source.template cast<float>().template cast<To>();
}

template <class From>
void convert(const void* from, std::size_t n, Precision to_precision, void* to) {
  switch (to_precision) {
    case Precision::f32:
      return convert<From, float>(from, n, to);
    case Precision::f16:
      return convert<From, Eigen::half>(from, n, to);
    case Precision::bf16:
      return convert<From, Eigen::bfloat16>(from, n, to);
  }
}

void convert(Precision from_precision, const void* from, std::size_t n, Precision to_precision, void* to) {
  switch (from_precision) {
    case Precision::f32:
      return convert<float>(from, n, to_precision, to);
    case Precision::f16:
      return convert<Eigen::half>(from, n, to_precision, to);
    case Precision::bf16:
      return convert<Eigen::bfloat16>(from, n, to_precision, to);
  }
}

/// Whether some finite number of `values` rounds to infinity in float16. Sources: float32 and bfloat16.
template <class From>
bool exceeds_half(const void* values, std::size_t n) {
  constexpr float kRoundsToInfinity = 65520.0F;  // half way from the largest float16 to 2^16
  const auto* numbers = static_cast<const From*>(values);
  for (std::size_t i = 0; i < n; ++i) {
    const float magnitude = std::abs(static_cast<float>(numbers[i]));
    if (magnitude >= kRoundsToInfinity && std::isfinite(magnitude)) return true;
  }
  return false;
}

bool exceeds_half(Precision precision, const void* values, std::size_t n) {
  if (precision == Precision::f32) return exceeds_half<float>(values, n);
  return precision == Precision::bf16 && exceeds_half<Eigen::bfloat16>(values, n);
}

class Loader {
 public:
  Loader(Config config, TensorSource source, const LoadOptions& options)
      : source_(std::move(source)), options_(options) {
    weights_.config = std::move(config);
    weights_.precision = options.precision;
    for (const auto& file : source_.files()) weights_.memory.push_back(file);
    expected_tensors_ = 4 + 12 * static_cast<std::size_t>(weights_.config.n_layer) +
                        (weights_.config.tie_word_embeddings ? 0 : 1);
  }

  Weights load() && {
    const Config& config = weights_.config;
    const int d = config.n_embd;
    weights_.wte = matrix(name_of_wte(), config.vocab_size, d);
    weights_.wpe = floats("wpe.weight", {config.n_ctx, d});
    for (int layer = 0; layer < config.n_layer; ++layer) {
      const std::string h = "h." + std::to_string(layer) + ".";
      BlockWeights block;
      block.ln_1 = layer_norm(h + "ln_1");
      block.attn_c_attn = linear(h + "attn.c_attn", d, 3 * d);
      block.attn_c_proj = linear(h + "attn.c_proj", d, d);
      block.ln_2 = layer_norm(h + "ln_2");
      block.mlp_c_fc = linear(h + "mlp.c_fc", d, config.n_inner);
      block.mlp_c_proj = linear(h + "mlp.c_proj", config.n_inner, d);
      weights_.h.push_back(block);
    }
    weights_.ln_f = layer_norm("ln_f");
    weights_.lm_head =
        config.tie_word_embeddings ? weights_.wte : matrix("lm_head.weight", config.vocab_size, d);
    return std::move(weights_);
  }

 private:
  /// Of two tied matrices a file may hold only one, and some writers keep that of the head.
  std::string name_of_wte() const {
    const bool only_head = weights_.config.tie_word_embeddings && source_.find("wte.weight") == nullptr &&
                           source_.find("lm_head.weight") != nullptr;
    return only_head ? "lm_head.weight" : "wte.weight";
  }

  LayerNormWeights layer_norm(const std::string& name) {
    const std::vector<std::int64_t> shape = {weights_.config.n_embd};
    const std::span<const float> gain = floats(name + ".weight", shape);
    return {gain, floats(name + ".bias", shape)};
  }

  LinearWeights linear(const std::string& name, int in, int out) {
    const WeightMatrix weight = matrix(name + ".weight", in, out);
    return {weight, floats(name + ".bias", {out})};
  }

  WeightMatrix matrix(const std::string& name, int rows, int cols) {
    return {tensor(name, {rows, cols}, weights_.precision), rows, cols, weights_.precision};
  }

  std::span<const float> floats(const std::string& name, const std::vector<std::int64_t>& shape) {
    const void* data = tensor(name, shape, Precision::f32);
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    return {static_cast<const float*>(data), count};
  }

  /// Checks the tensor and notes it in the table of parameters. Returns its elements in the wanted precision.
  const void* tensor(const std::string& name, const std::vector<std::int64_t>& shape, Precision precision) {
    if (options_.stop.stop_requested()) throw Stopped();
    const TensorSource::Entry* entry = source_.find(name);
    if (entry == nullptr) fail(source_.main_file(), name, "shape " + to_text(shape), "no such tensor");
    const TensorView& view = *entry->view;
    if (view.shape != shape) fail(entry->file, name, "shape " + to_text(shape), to_text(view.shape));
    const std::optional<Precision> found = precision_of(view.dtype);
    if (!found) fail(entry->file, name, "dtype F32, F16 or BF16", quote(view.dtype));

    const void* data = in_precision(precision, *found, view.data, entry->file, name);
    weights_.parameters.push_back({name, shape, view.dtype});
    if (options_.progress) {
      const auto done = static_cast<double>(weights_.parameters.size());
      options_.progress(done / static_cast<double>(expected_tensors_), "loading weights");
    }
    return data;
  }

  const void* in_precision(Precision wanted, Precision found, std::span<const std::byte> bytes,
                           const std::string& file, const std::string& name) {
    const std::size_t count = bytes.size() / element_bytes(found);
    const void* source = aligned(bytes, element_bytes(found));
    if (wanted == found) return source;
    if (wanted == Precision::f16 && exceeds_half(found, source, count)) {
      fail(file, name, "numbers that fit float16 (load it as bf16 or f32 instead)", "larger ones");
    }
    std::byte* converted = allocate(count * element_bytes(wanted));
    convert(found, source, count, wanted, converted);
    return converted;
  }

  /// The bytes where they are, or a copy when they do not lie on a multiple of `alignment`.
  const void* aligned(std::span<const std::byte> bytes, std::size_t alignment) {
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0) return bytes.data();
    std::byte* copy = allocate(bytes.size());
    std::memcpy(copy, bytes.data(), bytes.size());
    return copy;
  }

  std::byte* allocate(std::size_t bytes) {
    const std::shared_ptr<float[]> memory(new float[(bytes + sizeof(float) - 1) / sizeof(float)]);
    weights_.memory.push_back(memory);
    return reinterpret_cast<std::byte*>(memory.get());
  }

  [[noreturn]] static void fail(const std::string& file, const std::string& name, const std::string& expected,
                                const std::string& found) {
    throw LoadError(file + ": tensor " + quote(name) + ": expected " + expected + ", found " + found);
  }

  Weights weights_;
  TensorSource source_;
  const LoadOptions& options_;
  std::size_t expected_tensors_ = 0;
};

}  // namespace

Weights load_weights(const fs::path& folder, const LoadOptions& options) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    throw LoadError(folder.string() + ": expected the folder of a GPT-2 model, found " +
                    (fs::exists(folder, ignored) ? "a file" : "nothing"));
  }
  const fs::path config_file = folder / "config.json";
  if (!fs::exists(config_file, ignored)) {
    throw LoadError(folder.string() + ": expected the folder of a GPT-2 model, found no config.json in it");
  }
  Config config = parse_config(read_file(config_file), config_file.string());
  return Loader(std::move(config), TensorSource::open(folder), options).load();
}

}  // namespace headscope::model
