#include "model/files/weights.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "model/files/convert.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/quote.h"
#include "model/files/tensor_source.h"
#include "model/kernels/arena.h"
#include "model/kernels/thread_pool.h"
#include "model/kernels/workspace.h"
#include "model/pass/parameters.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::model {
namespace {

namespace fs = std::filesystem;

std::optional<Precision> precision_of(const std::string& dtype) {
  if (dtype == "F32") return Precision::f32;
  if (dtype == "F16") return Precision::f16;
  if (dtype == "BF16") return Precision::bf16;
  return std::nullopt;
}

std::string to_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

/// Loads in two passes over the same list of tensors: the first checks them and adds up their memory, the
/// second reads them.
class Loader {
 public:
  Loader(Config config, TensorSource source, const LoadOptions& options)
      : source_(std::move(source)),
        options_(options),
        pool_(0),
        read_(static_cast<std::size_t>(pool_.threads())) {
    weights_.config = std::move(config);
    weights_.precision = options.precision;
  }

  Weights load() && {
    visit_all();
    checked_tensors_ = weights_.parameters.size();
    try {
      arena_ = std::make_shared<Arena>(bytes_);
    } catch (const std::bad_alloc&) {
      throw LoadError(source_.main_file() + ": not enough memory for the weights, which need " +
                      std::to_string(bytes_ >> 20) + " MiB");
    }
    weights_.parameters.clear();
    visit_all();
    weights_.memory = arena_;
    return std::move(weights_);
  }

 private:
  void visit_all() {
    weights_.h.assign(static_cast<std::size_t>(layers_to_visit()), {});
    visit_parameters(weights_,
                     [&](const std::string& name, const ParameterShape& shape, auto& part, bool transposed) {
                       if constexpr (std::is_same_v<std::remove_cvref_t<decltype(part)>, PanelMatrix>) {
                         part = matrix(&part == &weights_.wte ? name_of_wte() : name, shape, transposed);
                       } else {
                         part = floats(name, shape);
                       }
                     });
    if (weights_.config.tie_word_embeddings) weights_.lm_head = weights_.wte;
  }

  /// All layers or, if the file has fewer, one more than it has, at which the visit fails: so a config.json
  /// that claims millions of layers takes no memory.
  int layers_to_visit() const {
    const int declared = weights_.config.n_layer;
    int layer = 0;
    while (layer < declared && source_.find("h." + std::to_string(layer) + ".ln_1.weight") != nullptr)
      ++layer;
    return std::min(layer + 1, declared);
  }

  /// With tied embeddings a file may hold only one of the two matrices; some writers keep the head's.
  std::string name_of_wte() const {
    const bool only_head = weights_.config.tie_word_embeddings && source_.find("wte.weight") == nullptr &&
                           source_.find("lm_head.weight") != nullptr;
    return only_head ? "lm_head.weight" : "wte.weight";
  }

  /// `transposed`: from [cols, depth] in the file.
  PanelMatrix matrix(const std::string& name, const std::vector<std::int64_t>& shape, bool transposed) {
    const auto depth = static_cast<int>(shape[transposed ? 1 : 0]);
    const auto cols = static_cast<int>(shape[transposed ? 0 : 1]);
    const Precision precision = weights_.precision;
    const Tensor tensor = checked(name, shape);
    const std::size_t bytes = panel_matrix_bytes(depth, cols, precision);
    bytes_ += Arena::room_for(bytes);
    if (!arena_) return {};

    MatrixSource from{nullptr, tensor.precision, transposed};
    from.read = [&](std::size_t first, std::size_t count, int thread) {
      const void* data = read(tensor, first, count, thread);
      if (precision == Precision::f16 && exceeds_half(tensor.precision, data, count)) {
        fail(tensor.entry->file, name, "numbers that fit float16 (load it as bf16 or f32 instead)",
             "larger ones");
      }
      return data;
    };
    const PanelMatrix m = pack(from, depth, cols, precision, arena_->take(bytes), pool_);
    tell_progress();
    return m;
  }

  std::span<const float> floats(const std::string& name, const std::vector<std::int64_t>& shape) {
    const Tensor tensor = checked(name, shape);
    const std::size_t count = tensor.entry->view->bytes / element_bytes(tensor.precision);
    bytes_ += Arena::room_for(count * sizeof(float));
    if (!arena_) return {};

    std::byte* memory = arena_->take(count * sizeof(float));
    convert(tensor.precision, read(tensor, 0, count, 0), count, Precision::f32, memory);
    tell_progress();
    return {reinterpret_cast<const float*>(memory), count};
  }

  struct Tensor {
    const TensorSource::Entry* entry = nullptr;
    Precision precision = Precision::f32;
  };

  /// Checks a tensor and adds it to the table of parameters.
  Tensor checked(const std::string& name, const std::vector<std::int64_t>& shape) {
    if (options_.stop.stop_requested()) throw Stopped();
    const TensorSource::Entry* entry = source_.find(name);
    if (entry == nullptr) fail(source_.main_file(), name, "shape " + to_text(shape), "no such tensor");
    const TensorView& view = *entry->view;
    if (view.shape != shape) fail(entry->file, name, "shape " + to_text(shape), to_text(view.shape));
    const std::optional<Precision> found = precision_of(view.dtype);
    if (!found) fail(entry->file, name, "dtype F32, F16 or BF16", quote(view.dtype));
    weights_.parameters.push_back({name, shape, view.dtype});
    return {entry, *found};
  }

  void tell_progress() const {
    if (!options_.progress) return;
    const auto done = static_cast<double>(weights_.parameters.size());
    options_.progress(done / static_cast<double>(checked_tensors_), "loading weights");
  }

  /// Elements of a tensor as stored in the file, valid until the same thread reads others.
  const void* read(const Tensor& tensor, std::size_t first, std::size_t count, int thread) {
    const std::size_t element = element_bytes(tensor.precision);
    Piece& piece = read_[thread];
    if (piece.bytes < count * element)
      piece.memory.emplace(piece.bytes = count * element), piece.at = piece.memory->take(0);
    const std::span<std::byte> bytes(piece.at, count * element);
    tensor.entry->source->read(*tensor.entry->view, first * element, bytes);
    return bytes.data();
  }

  [[noreturn]] static void fail(const std::string& file, const std::string& name, const std::string& expected,
                                const std::string& found) {
    throw LoadError(file + ": tensor " + quote(name) + ": expected " + expected + ", found " + found);
  }

  Weights weights_;
  TensorSource source_;
  const LoadOptions& options_;
  ThreadPool pool_;
  /// Mapped rather than allocated: malloc would keep a buffer of this size after it is freed.
  struct Piece {
    std::optional<Arena> memory;
    std::byte* at = nullptr;
    std::size_t bytes = 0;
  };
  std::vector<Piece> read_;       // one per thread
  std::shared_ptr<Arena> arena_;  // null in the first pass
  std::size_t bytes_ = 0, checked_tensors_ = 0;
};

}  // namespace

Weights load_weights(const fs::path& folder, const LoadOptions& options) {
  if (!system::is_folder(folder)) {
    throw LoadError(system::text_of(folder) + ": expected a GPT-2 model folder, found " +
                    (system::is_there(folder) ? "a file" : "nothing"));
  }
  const fs::path config_file = folder / "config.json";
  if (!system::is_there(config_file)) {
    throw LoadError(system::text_of(folder) + ": expected a GPT-2 model folder, found no config.json in it");
  }
  Config config = parse_config(read_regular_file(config_file), system::text_of(config_file));
  return Loader(std::move(config), TensorSource::open(folder), options).load();
}

}  // namespace headscope::model
