#include "model/files/weights.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "model/files/checkpoint.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/quote.h"
#include "model/files/tensor_source.h"
#include "model/kernels/thread_pool.h"
#include "model/kernels/workspace.h"
#include "model/pass/parameters.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::model {
namespace {

namespace fs = std::filesystem;

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
      for (Memory* memory : {&body_, &head_}) memory->arena = std::make_shared<Arena>(memory->bytes);
    } catch (const std::bad_alloc&) {
      throw LoadError(source_.main_file + ": not enough memory for the weights, which need " +
                      std::to_string((body_.bytes + head_.bytes) >> 20) + " MiB");
    }
    weights_.parameters.clear();
    visit_all();
    if (checkpoint_.may_be_tied) tie_equal_head();
    weights_.memory = {body_.arena, head_.arena};
    weights_.files = std::move(source_.files);
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
                         part = matrix(name, shape, transposed, &part == &weights_.lm_head ? head_ : body_);
                       } else {
                         part = floats(name, shape);
                       }
                     });
    if (weights_.config.tie_word_embeddings) weights_.lm_head = weights_.wte;
  }

  /// Files may hold a copy of wte as the head.
  void tie_equal_head() {
    if (std::memcmp(weights_.wte.data, weights_.lm_head.data, head_.bytes) == 0) {
      weights_.config.tie_word_embeddings = true;
      weights_.lm_head = weights_.wte;
      weights_.parameters.pop_back();
      head_.arena = std::make_shared<Arena>(0);
      return;
    }
    const std::string file = checkpoint_.tensors.at(weights_.parameters.back().name)->file();
    checkpoint_.warnings.push_back(
        file + ": \"lm_head.weight\" differs from wte.weight, so it is used, though config.json ties them");
  }

  struct Memory {
    std::size_t bytes = 0;
    std::shared_ptr<Arena> arena = nullptr;  ///< null in the first pass
  };

  /// `transposed`: a row of the parameter is a column of the panels.
  PanelMatrix matrix(const std::string& name, const ParameterShape& shape, bool transposed, Memory& memory) {
    const auto depth = static_cast<int>(shape[transposed ? 1 : 0]);
    const auto cols = static_cast<int>(shape[transposed ? 0 : 1]);
    const Precision precision = weights_.precision;
    const bool linear = checkpoint_.linear_layout && !transposed;
    const Tensor tensor = checked(name, shape, linear, true);
    const std::size_t bytes = panel_matrix_bytes(depth, cols, precision);
    if (!memory.arena) {
      memory.bytes += Arena::room_for(bytes);
      return {};
    }
    MatrixSource from{nullptr, tensor.type.precision, (transposed != linear) != tensor.is_turned};
    from.read = [&](std::size_t first, std::size_t count, int thread) {
      const void* data = read(tensor, first, count, thread);
      if (precision == Precision::f16 && exceeds_half(tensor.type.precision, data, count))
        reject(where(*tensor.entry, name), "numbers that fit float16 (load it as bf16 or f32 instead)",
               "larger ones");
      return data;
    };
    const PanelMatrix m = pack(from, depth, cols, precision, memory.arena->take(bytes), pool_);
    tell_progress();
    return m;
  }
  std::span<const float> floats(const std::string& name, const ParameterShape& shape) {
    const Tensor tensor = checked(name, shape, false, false);
    const auto count = static_cast<std::size_t>(value_count(weights_.parameters.back()));
    if (!body_.arena) {
      body_.bytes += Arena::room_for(count * sizeof(float));
      return {};
    }
    std::byte* memory = body_.arena->take(count * sizeof(float));  // zeros
    if (tensor.entry != nullptr)
      convert(tensor.type.precision, read(tensor, 0, count, 0), count, Precision::f32, memory);
    tell_progress();
    return {reinterpret_cast<const float*>(memory), count};
  }

  struct Tensor {
    const TensorSource::Entry* entry = nullptr;  ///< null: zeros
    StoredType type = {};
    bool is_turned = false;                ///< stored without gaps as the transpose of what it is
    std::vector<std::byte> gathered = {};  ///< its elements where they are stored with gaps
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
    TensorView view = *entry->view;
    ParameterShape expected = shape;
    if (linear) std::ranges::reverse(expected);
    if (view.shape != expected)
      reject(where(*entry, name), "shape " + shape_text(expected), shape_text(view.shape));
    const std::optional<StoredType> type = stored_type(view.dtype);
    if (!type)
      reject(where(*entry, name), "floating-point or whole numbers that no scale belongs to",
             quote(view.dtype));

    Tensor tensor{entry, *type};
    if (view.strides.empty()) return tensor;
    std::ranges::reverse(view.shape);
    std::ranges::reverse(view.strides);
    tensor.is_turned = may_turn && is_contiguous(view);
    if (!tensor.is_turned && body_.arena) tensor.gathered = entry->source->read(*entry->view);
    return tensor;
  }

  static std::string where(const TensorSource::Entry& entry, const std::string& name) {
    return entry.file() + ": tensor " + quote(name);
  }

  void tell_progress() const {
    if (!options_.progress) return;
    const auto done = static_cast<double>(weights_.parameters.size());
    options_.progress(done / static_cast<double>(checked_tensors_), "loading weights");
  }

  /// Elements of a tensor as they are stored, valid until the same thread reads others.
  const void* read(const Tensor& tensor, std::size_t first, std::size_t count, int thread) {
    const std::size_t element = tensor.type.bytes;
    Piece& piece = read_[thread];
    if (!piece.memory || piece.memory->size() < count * element) {
      piece.memory.emplace(count * element);
      piece.at = piece.memory->take(0);
    }
    const std::byte* bytes = piece.at;
    if (tensor.gathered.empty())
      tensor.entry->source->file->read(tensor.entry->view->offset + first * element,
                                       std::span(piece.at, count * element));
    else
      bytes = tensor.gathered.data() + first * element;
    if (tensor.type.to_floats == nullptr) return bytes;
    piece.floats.resize(count);
    tensor.type.to_floats(bytes, count, piece.floats.data());
    return piece.floats.data();
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
    std::vector<float> floats = {};  ///< of types that the kernels do not know
  };
  std::vector<Piece> read_;  // one per thread
  Memory body_, head_;       // the head's apart, since one that is equal to wte is dropped
  std::size_t checked_tensors_ = 0;
};

}  // namespace

Weights load_weights(const fs::path& folder, const LoadOptions& options) {
  if (!system::is_folder(folder))
    reject(system::text_of(folder), "a GPT-2 model folder", system::is_there(folder) ? "a file" : "nothing");
  if (!has_entry(folder / "config.json")) {
    refuse_adapter(folder);
    reject(system::text_of(folder), "a GPT-2 model folder", "no config.json in it");
  }
  std::vector<std::string> warnings;
  const Config config = read_config(folder, &warnings);
  TensorSource source = TensorSource::open(folder, options.stop);
  source.warnings.insert(source.warnings.end(), warnings.begin(), warnings.end());
  return Loader(config, std::move(source), options).load();
}

}  // namespace headscope::model
