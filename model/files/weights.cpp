#include "model/files/weights.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <map>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/parameters.h"
#include "model/files/tensor_source.h"
#include "model/kernels/thread_pool.h"
#include "model/kernels/workers.h"
#include "system/file.h"
#include "system/path_text.h"

/// Loading in two steps: a Checkpoint knows which tensor is which parameter, a Loader checks and reads them.
namespace headscope::model {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMegatron =
    "a checkpoint of Megatron-LM; convert it first to the layout of Hugging Face, with "
    "convert_megatron_gpt2_checkpoint.py of transformers";

/// A tensor's file in messages.
std::string file_of(const TensorView& tensor) {
  return system::text_of(tensor.file->path());
}

std::string counted(std::int64_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

/// The layer of "h.3.ln_1.bias" and the name in it, "ln_1.bias"; for other names -1 and nothing.
std::pair<int, std::string_view> in_layer(std::string_view name) {
  int layer = -1;
  if (!name.starts_with("h.")) return {-1, ""};
  const char* const end = name.data() + name.size();
  const char* const dot = std::from_chars(name.data() + 2, end, layer).ptr;
  if (layer < 0 || dot == end || *dot != '.') return {-1, ""};
  return {layer, std::string_view(dot + 1, end)};
}

/// Which tensors of a folder are which parameters of a GPT-2 (see visit_parameters), under the names and in
/// the layouts that programs save them.
class Checkpoint {
 public:
  /// Throws LoadError for weights that are missing (all of them in one sentence, with the tensors that are
  /// unknown), and for several models in one folder. Shapes are not checked.
  Checkpoint(const Config& written, const TensorSource& source)
      : config(written), warnings(source.warnings), source_(source) {
    find_prefix();
    match_embeddings();
    match_rest();
    find_layout();
    warn_of_unused();
  }

  /// With n_ctx and vocab_size as the tensors have them; tied without a head of its own in the files.
  Config config;
  std::map<std::string, const TensorView*> tensors;  ///< by the parameters' names; biases may lack
  bool may_be_tied = false;        ///< there is a head, and the configuration ties it: see if they are equal
  bool linear_layout = false;      ///< the blocks' matrices are [out, in], as torch.nn.Linear keeps them
  std::vector<std::string> notes;  ///< sentences about what was taken differently than it is written
  std::vector<std::string> warnings;  ///< sentences about what is in the folder and not used

 private:
  /// What stands before the names of all of the model's tensors.
  void find_prefix() {
    for (const auto& [name, tensor] : source_.tensors) {
      const bool of_adapter = name.starts_with("base_model.model.");
      if (of_adapter || name.ends_with("embedding.word_embeddings.weight"))
        reject(source_.main_file, "the weights of a GPT-2",
               quote(name) + ": " + (of_adapter ? kAdapter : kMegatron));
    }
    std::vector<std::string> prefixes;
    for (const std::string_view own : {"wpe.weight", "ln_f.weight", "h.0.ln_1.weight"}) {
      for (const auto& [name, tensor] : source_.tensors)
        if (name == own || name.ends_with("." + std::string(own)))
          prefixes.push_back(name.substr(0, name.size() - own.size()));
      if (!prefixes.empty()) break;
    }
    if (prefixes.empty()) return;
    prefix_ = prefixes.front();
    if (prefixes.size() > 1)
      reject(source_.main_file, "one model", "several: names that begin with " + quoted_list(prefixes));
    if (!prefix_.empty())
      notes.push_back("the tensors' names begin with " + quote(prefix_) + ", which was taken off");
  }

  /// A tensor's name in a GPT-2.
  std::string_view own_name(std::string_view name) const {
    return name.substr(name.starts_with(prefix_) ? prefix_.size() : 0);
  }

  const TensorView* take(const std::string& parameter, const std::string& name) {
    const auto found = source_.tensors.find(name);
    if (found == source_.tensors.end()) return nullptr;
    used_.insert(name);
    return tensors[parameter] = &found->second;
  }

  /// The head may stand behind a part of the prefix: "module.lm_head.weight" beside
  /// "module.transformer.wte.weight".
  const TensorView* take_head() {
    for (std::string before = prefix_;;) {
      if (const TensorView* head = take("lm_head.weight", before + "lm_head.weight")) return head;
      if (before.empty()) return nullptr;
      before.pop_back();
      before.erase(before.rfind('.') + 1);
    }
  }

  /// With tied embeddings a file may hold only one of the two matrices; some writers keep the head's.
  void match_embeddings() {
    const bool tied = config.tie_word_embeddings;
    const TensorView* wte = take("wte.weight", prefix_ + "wte.weight");
    const TensorView* head = take_head();
    if (head == nullptr && !tied)
      reject(source_.main_file, "lm_head.weight, since tie_word_embeddings is false in config.json",
             "no such tensor; write true there if the model ties it to wte.weight, as GPT-2 does");
    if (head != nullptr && wte == nullptr && tied) tensors["wte.weight"] = wte = std::exchange(head, nullptr);
    const bool have_one_place = head != nullptr && wte != nullptr && *wte == *head;
    config.tie_word_embeddings = tied && (head == nullptr || have_one_place);
    may_be_tied = tied && !config.tie_word_embeddings;
    count_rows(wte, "vocab_size", config.vocab_size, "wte.weight");
    count_rows(take("wpe.weight", prefix_ + "wpe.weight"), "n_positions", config.n_ctx, "wpe.weight");
  }

  /// The rows of an embedding decide, whatever the configuration says.
  void count_rows(const TensorView* embedding, const char* key, int& size, const char* name) {
    constexpr std::int64_t kMost = 1 << 24;
    if (embedding == nullptr || embedding->shape.size() != 2) return;
    const std::int64_t rows = embedding->shape[0];
    if (rows == size || rows < 1 || rows > kMost) return;
    warnings.push_back(file_of(*embedding) + ": " + name + " has " + std::to_string(rows) +
                       " rows, which count, though config.json says " + key + " " + std::to_string(size));
    size = static_cast<int>(rows);
  }

  void match_rest() {
    // Layers up to the first of which there is nothing: a config.json that claims millions takes no memory.
    std::set<int> there;
    for (const auto& [name, tensor] : source_.tensors) there.insert(in_layer(own_name(name)).first);
    int layers = 0;
    while (layers < config.n_layer && there.contains(layers)) ++layers;
    Weights some;
    some.config = config;
    some.h.resize(std::min(layers + 1, config.n_layer));

    std::vector<std::string> missing, zeros;
    visit_parameters(some, [&](const std::string& name, auto&&...) {
      if (tensors.contains(name) || take(name, prefix_ + name)) return;
      (name.ends_with(".bias") ? zeros : missing).push_back(name);
    });
    if (!missing.empty()) fail_without(missing);
    if (!zeros.empty())
      notes.push_back("biases that are not in the file count as zeros: " + quoted_list(zeros));
  }

  [[noreturn]] void fail_without(const std::vector<std::string>& missing) const {
    constexpr std::size_t kMost = 3, kLongest = 128;
    std::string others;
    const std::vector<std::string> unknown = unused();
    for (std::size_t i = 0; i < std::min(unknown.size(), kMost); ++i) {
      const auto from_unknown = [&](const std::string& expected) {
        return spelling_distance(std::string_view(unknown[i]).substr(0, kLongest), expected);
      };
      const std::string& nearest = *std::ranges::min_element(missing, {}, from_unknown);
      others += (i > 0 ? ", " : "; there are tensors of other names: ") + quote(unknown[i]);
      if (3 * from_unknown(nearest) <= nearest.size()) others += " (" + nearest + "?)";
    }
    reject(source_.main_file, "the tensors of a GPT-2 with " + counted(config.n_layer, "layer"),
           "no " + quoted_list(missing) + others + (unknown.size() > kMost ? ", ..." : ""));
  }

  /// A square matrix follows the others: those of attention's queries, keys and values are never square.
  void find_layout() {
    for (const auto& [name, tensor] : tensors) {
      const std::int64_t d = config.n_embd;
      if (!name.ends_with("attn.c_attn.weight") || tensor->shape != std::vector{3 * d, d}) continue;
      linear_layout = true;
      notes.push_back("the matrices of the blocks are stored as [out, in] and were transposed");
      return;
    }
  }

  /// All but the mask buffers of early versions of transformers, of any size and type.
  std::vector<std::string> unused() const {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : source_.tensors) {
      const std::string_view in = in_layer(own_name(name)).second;
      if (!used_.contains(name) && in != "attn.bias" && in != "attn.masked_bias") names.push_back(name);
    }
    return names;
  }

  void warn_of_unused() {
    const std::vector<std::string> names = unused();
    if (names.empty()) return;
    std::string why;
    for (const std::string& name : names)
      if (in_layer(own_name(name)).first >= config.n_layer)
        why = " (config.json says " + counted(config.n_layer, "layer") + ")";
    for (const std::string& name : names)
      if (name.find(".lora_") != name.npos) why = std::string(" (") + kAdapter + ")";
    warnings.push_back(source_.main_file + ": " + counted(std::ssize(names), "tensor") +
                       (names.size() == 1 ? " is" : " are") + " not used: " + quoted_list(names) + why);
  }

  const TensorSource& source_;
  std::string prefix_;
  std::set<std::string> used_;
};

/// Loads in two passes over the same list of tensors: the first checks them and adds up their memory, the
/// second reads them.
class Loader {
 public:
  Loader(const Config& config, TensorSource source, const LoadOptions& options)
      : source_(std::move(source)),
        checkpoint_(config, source_),
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
      for (Memory* memory : {&body_, &head_}) memory->floats = allocate_floats(memory->bytes / sizeof(float));
    } catch (const std::bad_alloc&) {
      throw LoadError(source_.main_file + ": not enough memory for the weights, which need " +
                      std::to_string((body_.bytes + head_.bytes) >> 20) + " MiB");
    }
    body_.bytes = head_.bytes = 0;
    weights_.parameters.clear();
    visit_all();
    if (checkpoint_.may_be_tied) tie_equal_head();
    for (Memory* memory : {&body_, &head_}) {
      weights_.bytes += memory->bytes;
      weights_.memory.push_back(std::move(memory->floats));
    }
    weights_.files = std::move(source_.files);
    weights_.notes = std::move(checkpoint_.notes);
    weights_.warnings = std::move(checkpoint_.warnings);
    return std::move(weights_);
  }

 private:
  void visit_all() {
    weights_.h.assign(static_cast<std::size_t>(weights_.config.n_layer), {});
    const auto visit = [&](const std::string& name, const ParameterShape& shape, auto& part,
                           bool transposed) {
      if (options_.stop.stop_requested()) throw Stopped();
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(part)>, PanelMatrix>) {
        part = matrix(name, shape, transposed, &part == &weights_.lm_head ? head_ : body_);
      } else {
        part = floats(name, shape);
      }
      const auto done = static_cast<double>(weights_.parameters.size());
      if (body_.floats && options_.progress)
        options_.progress(done / static_cast<double>(checked_tensors_), "loading weights");
    };
    visit_parameters(weights_, visit);
    if (weights_.config.tie_word_embeddings) weights_.lm_head = weights_.wte;
  }

  /// Files may hold a copy of wte as the head.
  void tie_equal_head() {
    if (std::memcmp(weights_.wte.data, weights_.lm_head.data, head_.bytes) == 0) {
      weights_.config.tie_word_embeddings = true;
      weights_.lm_head = weights_.wte;
      weights_.parameters.pop_back();
      head_ = {};
      return;
    }
    const std::string file = file_of(*checkpoint_.tensors.at(weights_.parameters.back().name));
    checkpoint_.warnings.push_back(
        file + ": \"lm_head.weight\" differs from wte.weight, so it is used, though config.json ties them");
  }

  /// Counted in the first pass and handed out in the second.
  struct Memory {
    std::size_t bytes = 0;
    FloatMemory floats = nullptr;  ///< null in the first pass

    std::byte* take(std::size_t size) {
      const std::size_t begin = bytes;
      bytes += (size + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
      return floats ? reinterpret_cast<std::byte*>(floats.get()) + begin : nullptr;
    }
  };

  /// `transposed`: a row of the parameter is a column of the panels.
  PanelMatrix matrix(const std::string& name, const ParameterShape& shape, bool transposed, Memory& memory) {
    const auto rows = static_cast<int>(shape[0]), cols = static_cast<int>(shape[1]);
    const PanelMatrix m{nullptr, transposed ? cols : rows, transposed ? rows : cols, weights_.precision};
    const bool linear = checkpoint_.linear_layout && !transposed;
    const Tensor tensor = checked(name, shape, linear, true);
    std::byte* const place = memory.take(m.bytes());
    if (place == nullptr) return {};
    const auto read_floats = [&](std::size_t first, std::size_t count, int thread) {
      const float* data = read(tensor, first, count, thread);
      if (m.precision == Precision::f16 && exceeds_half({data, count}))
        reject(where(*tensor.view, name), "numbers that fit float16 (load it as bf16 or f32 instead)",
               "larger ones");
      return data;
    };
    // Each of these exchanges rows and columns: an embedding, torch.nn.Linear's layout, and a view that is
    // stored as its transpose.
    return pack(read_floats, (transposed != linear) != tensor.is_turned, m, place, pool_);
  }
  std::span<const float> floats(const std::string& name, const ParameterShape& shape) {
    const Tensor tensor = checked(name, shape, false, false);
    const auto count = static_cast<std::size_t>(weights_.parameters.back().count());
    auto* const place = reinterpret_cast<float*>(body_.take(count * sizeof(float)));
    if (place == nullptr) return {};
    if (tensor.view != nullptr)
      std::copy_n(read(tensor, 0, count, 0), count, place);
    else
      std::fill_n(place, count, 0.0F);
    return {place, count};
  }

  struct Tensor {
    const TensorView* view = nullptr;  ///< null: zeros
    const StoredType* type = nullptr;
    bool is_turned = false;                ///< stored without gaps as the transpose of what it is
    std::vector<std::byte> gathered = {};  ///< its elements where they are stored with gaps
  };

  /// Checks a tensor and adds it to the table of parameters. `linear`: the file has its transpose.
  /// `may_turn`: whoever reads it can turn it.
  Tensor checked(const std::string& name, const ParameterShape& shape, bool linear, bool may_turn) {
    const auto found = checkpoint_.tensors.find(name);
    weights_.parameters.push_back(
        {name, shape, found == checkpoint_.tensors.end() ? "zeros" : found->second->dtype});
    if (found == checkpoint_.tensors.end()) return {};
    const TensorView& stored = *found->second;
    TensorView view = stored;
    ParameterShape expected = shape;
    if (linear) std::ranges::reverse(expected);
    if (view.shape != expected)
      reject(where(stored, name), "shape " + shape_text(expected), shape_text(view.shape));
    const StoredType* type = stored_type(view.dtype);
    if (type == nullptr)
      reject(where(stored, name), "floating-point or whole numbers that no scale belongs to",
             quote(view.dtype));

    Tensor tensor{&stored, type};
    if (view.strides.empty()) return tensor;
    std::ranges::reverse(view.shape);
    std::ranges::reverse(view.strides);
    tensor.is_turned = may_turn && is_contiguous(view);
    if (!tensor.is_turned && body_.floats) tensor.gathered = stored.read();
    return tensor;
  }

  static std::string where(const TensorView& tensor, const std::string& name) {
    return file_of(tensor) + ": tensor " + quote(name);
  }

  /// Elements of a tensor, valid until the same thread reads others.
  const float* read(const Tensor& tensor, std::size_t first, std::size_t count, int thread) {
    const std::size_t element = tensor.type->bytes;
    Piece& piece = read_[thread];
    const std::byte* bytes = tensor.gathered.data() + first * element;
    if (tensor.gathered.empty()) {
      if (piece.bytes.size() < count * element) piece.bytes.resize(count * element);
      bytes = piece.bytes.data();
      tensor.view->file->read(tensor.view->offset + first * element,
                              std::span(piece.bytes).first(count * element));
    }
    if (tensor.type->to_floats == nullptr && tensor.type->precision == Precision::f32)
      return reinterpret_cast<const float*>(bytes);
    if (piece.floats.size() < count) piece.floats.resize(count);
    if (tensor.type->to_floats != nullptr)
      tensor.type->to_floats(bytes, count, piece.floats.data());
    else
      kernels_.widen(bytes, tensor.type->precision, static_cast<int>(count), piece.floats.data());
    return piece.floats.data();
  }

  Weights weights_;
  TensorSource source_;
  Checkpoint checkpoint_;
  const LoadOptions& options_;
  ThreadPool pool_;
  const PanelKernels kernels_ = fastest_kernels();
  struct Piece {
    std::vector<std::byte> bytes;  ///< as they are stored
    std::vector<float> floats;     ///< of other types
  };
  std::vector<Piece> read_;  // one per thread
  Memory body_, head_;       // the head's apart, since one that is equal to wte is dropped
  std::size_t checked_tensors_ = 0;
};

}  // namespace

Weights load_weights(const fs::path& folder, const LoadOptions& options) {
  if (!system::is_folder(folder))
    reject(system::text_of(folder), "a GPT-2 model folder", system::is_there(folder) ? "a file" : "nothing");
  const fs::path file = folder / "config.json";
  if (!has_entry(file)) {
    refuse_adapter(folder);
    reject(system::text_of(folder), "a GPT-2 model folder", "no config.json in it");
  }
  std::vector<std::string> warnings;
  const Config config =
      parse_config(read_regular_file(file, kMaxConfigBytes), system::text_of(file), &warnings);
  TensorSource source = TensorSource::open(folder, options.stop);
  source.warnings.insert(source.warnings.end(), warnings.begin(), warnings.end());
  return Loader(config, std::move(source), options).load();
}

}  // namespace headscope::model
