#include "model/files/weights.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "model/files/checkpoint.h"
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

std::string to_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

/// Loads in two passes over the same list of tensors: the first checks them and adds up their memory, the
/// second reads them.
class Loader {
 public:
  Loader(const Config& config, TensorSource source, const LoadOptions& options)
      : source_(std::move(source)),
        checkpoint_(match_tensors(config, source_)),
        options_(options),
        pool_(0),
        read_(static_cast<std::size_t>(pool_.threads())) {
    weights_.config = checkpoint_.config;
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
    weights_.files = source_.files();
    weights_.notes = std::move(checkpoint_.notes);
    weights_.warnings = std::move(checkpoint_.warnings);
    return std::move(weights_);
  }

 private:
  void visit_all() {
    weights_.h.assign(static_cast<std::size_t>(weights_.config.n_layer), {});
    visit_parameters(weights_,
                     [&](const std::string& name, const ParameterShape& shape, auto& part, bool transposed) {
                       if constexpr (std::is_same_v<std::remove_cvref_t<decltype(part)>, PanelMatrix>) {
                         part = matrix(name, shape, transposed);
                       } else {
                         part = floats(name, shape);
                       }
                     });
    if (weights_.config.tie_word_embeddings) weights_.lm_head = weights_.wte;
  }

  /// `transposed`: a row of the parameter is a column of the panels.
  PanelMatrix matrix(const std::string& name, const ParameterShape& shape, bool transposed) {
    const auto depth = static_cast<int>(shape[transposed ? 1 : 0]);
    const auto cols = static_cast<int>(shape[transposed ? 0 : 1]);
    const Precision precision = weights_.precision;
    const bool linear = checkpoint_.linear_layout && !transposed;
    const Tensor tensor = checked(name, shape, linear, true);
    const std::size_t bytes = panel_matrix_bytes(depth, cols, precision);
    bytes_ += Arena::room_for(bytes);
    if (!arena_) return {};

    MatrixSource from{nullptr, tensor.type.precision, (transposed != linear) != tensor.is_turned};
    from.read = [&](std::size_t first, std::size_t count, int thread) {
      const void* data = read(tensor, first, count, thread);
      if (precision == Precision::f16 && exceeds_half(tensor.type.precision, data, count)) {
        fail(tensor.entry->file, name, "numbers that fit float16 (load it as bf16 or f32 instead)",
             "larger ones");
      }
      return data;
    };
    const PanelMatrix m = pack(from, depth, cols, precision, arena_->take(bytes), pool_);
    tell_progress();
    return m;
  }

  std::span<const float> floats(const std::string& name, const ParameterShape& shape) {
    const Tensor tensor = checked(name, shape, false, false);
    const auto count = static_cast<std::size_t>(value_count(weights_.parameters.back()));
    bytes_ += Arena::room_for(count * sizeof(float));
    if (!arena_) return {};

    std::byte* memory = arena_->take(count * sizeof(float));
    if (tensor.entry == nullptr) {
      std::memset(memory, 0, count * sizeof(float));
    } else {
      convert(tensor.type.precision, read(tensor, 0, count, 0), count, Precision::f32, memory);
    }
    tell_progress();
    return {reinterpret_cast<const float*>(memory), count};
  }

  struct Tensor {
    const TensorSource::Entry* entry = nullptr;  ///< null: zeros
    StoredType type = {};
    TensorView view = {};    ///< as it is read
    bool is_turned = false;  ///< the view is the transpose of the tensor, and without gaps
  };

  /// Checks a tensor and adds it to the table of parameters. `linear`: the file has its transpose.
  /// `may_turn`: whoever reads it can turn it.
  Tensor checked(const std::string& name, const ParameterShape& shape, bool linear, bool may_turn) {
    if (options_.stop.stop_requested()) throw Stopped();
    const auto found = checkpoint_.tensors.find(name);
    weights_.parameters.push_back(
        {name, shape, found == checkpoint_.tensors.end() ? "zeros" : found->second->view->dtype});
    if (found == checkpoint_.tensors.end()) return {};
    const TensorSource::Entry* entry = found->second;
    ParameterShape expected = shape;
    if (linear) std::ranges::reverse(expected);
    if (entry->view->shape != expected)
      fail(entry->file, name, "shape " + to_text(expected), to_text(entry->view->shape));
    const std::optional<StoredType> type = stored_type(entry->view->dtype);
    if (!type)
      fail(entry->file, name, "floating-point or whole numbers that no scale belongs to",
           quote(entry->view->dtype));

    Tensor tensor{entry, *type, *entry->view};
    TensorView turned = tensor.view;
    std::ranges::reverse(turned.shape);
    std::ranges::reverse(turned.strides);
    tensor.is_turned = may_turn && !turned.strides.empty() && is_contiguous(turned);
    if (tensor.is_turned) {
      turned.strides.clear();
      tensor.view = std::move(turned);
    }
    return tensor;
  }

  void tell_progress() const {
    if (!options_.progress) return;
    const auto done = static_cast<double>(weights_.parameters.size());
    options_.progress(done / static_cast<double>(checked_tensors_), "loading weights");
  }

  /// Elements of a tensor, valid until the same thread reads others.
  const void* read(const Tensor& tensor, std::size_t first, std::size_t count, int thread) {
    const std::size_t element = tensor.type.bytes;
    Piece& piece = read_[thread];
    if (piece.bytes < count * element)
      piece.memory.emplace(piece.bytes = count * element), piece.at = piece.memory->take(0);
    const std::span<std::byte> bytes(piece.at, count * element);
    tensor.entry->source->read(tensor.view, first * element, bytes);
    if (tensor.type.to_floats == nullptr) return bytes.data();
    piece.floats.resize(count);
    tensor.type.to_floats(bytes.data(), count, piece.floats.data());
    return piece.floats.data();
  }

  [[noreturn]] static void fail(const std::string& file, const std::string& name, const std::string& expected,
                                const std::string& found) {
    throw LoadError(file + ": tensor " + quote(name) + ": expected " + expected + ", found " + found);
  }

  Weights weights_;
  TensorSource source_;
  Checkpoint checkpoint_;
  const LoadOptions& options_;
  ThreadPool pool_;
  /// Mapped rather than allocated: malloc would keep a buffer of this size after it is freed.
  struct Piece {
    std::optional<Arena> memory;
    std::byte* at = nullptr;
    std::size_t bytes = 0;
    std::vector<float> floats = {};  ///< of types that the kernels do not know
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
    refuse_adapter(folder);
    throw LoadError(system::text_of(folder) + ": expected a GPT-2 model folder, found no config.json in it");
  }
  const Config config = parse_config(read_regular_file(config_file), system::text_of(config_file));
  return Loader(config, TensorSource::open(folder, options.stop), options).load();
}

}  // namespace headscope::model
